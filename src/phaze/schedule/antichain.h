// The antichain bound: how fast the work could be done if operators could be interrupted, changed from mode to mode and
// run in any order, as long as comparable ones never run at once.
//
// Let C range over the sets of (operator, mode) that may run side by side: pairwise incomparable, within the
// capacities. With λ_C the time for which exactly C runs,
//
//     minimise Σ λ_C   subject to   Σ_{C contains (i, m)} λ_C / p_im ≥ 1 for every operator i,   λ ≥ 0
//
// is a relaxation of the schedule. Its dual is a worth in the sense of bounds.h: maximise Σ u_i such that no C earns
// more than one a tick. It is at least the critical path and the work of every resource, since those are worths too. On
// backward layers of 20–40 operators it ends 2–13 % below the optimum, where the LP of the ordering formulation ends 55
// % below.
//
// The LP has too many columns to write down, so they are generated (Gilmore and Gomory 1961): a revised simplex with an
// explicit inverse, and for every group of operators that may run side by side a search for the set that earns most at
// the current prices (packing.h). Groups are asked one after another, and a set that earns more than one a tick enters
// the basis at once; when no group has such a set, the prices are a worth. Whatever the prices, dividing them by what
// sets earn at most makes them a worth (Farley 1990), so stopping at any time leaves a valid bound.
//
// Three things make that fast. A schedule is at hand, and what runs side by side there makes a basis that is already as
// good as the schedule. Columns that have left the basis are tried again before any group is asked. And where a search
// among the sets of an antichain finds no end, the solution of its relaxation enters instead, in which parts of modes
// run: the bound is a little lower then, but there is an end. In a wide order the LP may end before that, and every
// answer on the way is a bound; the best one stays.
//
// After that, rates are lifted: mode m of operator i earns u_i / p_im a tick, but if even the best company leaves part
// of the tick unearned, the mode may as well claim it. A mode whose claim alone pushes the bound to the best known
// makespan is in no better schedule and is removed; the others make the search see at once what a wasteful choice
// costs.
#pragma once

#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/packing.h"

namespace phaze::schedule {

template <std::size_t Words>
class AntichainBound {
 public:
  // Returns the bound in ticks. Stops as soon as it reaches `enough`. What runs side by side in `schedule`, if it has
  // operators, are the first columns.
  double solve(const Block& block, const BlockSchedule& schedule, double enough, Stop& stop);

  // After solve(): lifts the rates.
  void lift() { packing_.lift(rates_); }

  // What operator i is worth, in ticks, of the last solve().
  std::span<const double> worth() const { return worth_; }
  // What a mode earns per tick; for every set that may run side by side the sum is at most one.
  std::span<const double> rates() const { return rates_; }

  std::uint64_t pivots() const { return pivots_; }

 private:
  void begin(const Block& block);
  void set_rates(const Block& block);
  void set_prices();
  void clamp_prices();
  double most_alone(const Block& block) const;
  bool pivot_if_negative(const Block& block);
  std::size_t columns() const { return in_basis_.size(); }
  void add_columns_of(const Block& block, const BlockSchedule& schedule);
  void add_best_column(const Block& block);
  // The column that earns most, more than `floor`; columns() if there is none.
  std::size_t best_column(double floor) const;
  bool enter(std::size_t column);
  // What is in a row of the basis: a set, or, scaled, the part of an operator that is done too much.
  struct Basic {
    std::uint32_t column = 0;  // or operator
    bool slack = false;
    double scale = 1;
  };
  bool pivot(const Basic& entering, double shortfall);
  void end_column();
  double earned(std::size_t column, std::span<const double> prices) const;
  // The prices as a worth, when no set earns more than so much.
  void take_worth(double earned);

  Packing<Words> packing_;
  std::size_t size_ = 0;
  double bound_ = 0;
  std::vector<double> rates_;  // per mode
  std::vector<double> worth_;
  // Columns known: what is done of which operators in a tick.
  struct Entry {
    std::uint32_t op;
    double part;
  };
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> column_offsets_;
  std::vector<std::uint8_t> in_basis_;  // per column
  std::vector<Basic> basis_;            // per row
  std::vector<double> most_of_group_;
  std::vector<double> inverse_, level_, direction_, missing_;
  std::vector<double> of_basis_;  // prices by the basis
  std::vector<double> prices_;    // the same without what is negative by rounding
  std::uint64_t pivots_ = 0;
};

extern template class AntichainBound<1>;
extern template class AntichainBound<2>;
extern template class AntichainBound<4>;

}  // namespace phaze::schedule
