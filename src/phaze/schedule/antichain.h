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
// explicit inverse, and a search over chains of the order for the set that earns most at the current prices. Whatever
// the prices, dividing them by what the best set earns makes them a worth (Farley 1990), so stopping at any time leaves
// a valid bound.
//
// After that, rates are lifted: mode m of operator i earns u_i / p_im a tick, but if even the best company leaves part
// of the tick unearned, the mode may as well claim it. A mode whose claim alone pushes the bound to the best known
// makespan is in no better schedule and is removed; the others make the search see at once what a wasteful choice
// costs.
#pragma once

#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"

namespace phaze::schedule {

template <std::size_t Words>
class AntichainBound {
 public:
  // Returns the bound in ticks; stops as soon as it reaches `enough`.
  double solve(const Block& block, double enough, Stop& stop);

  // After solve(): lifts the rates. Returns false when lifting was cut short (rates are valid all the same).
  bool lift(const Block& block, Stop& stop);

  // What operator i is worth, in ticks, of the last solve().
  std::span<const double> worth() const { return worth_; }
  // What a mode earns per tick; for every set that may run side by side the sum is at most one.
  std::span<const double> rates() const { return rates_; }

  std::uint64_t pivots() const { return pivots_; }

 private:
  void cover_by_chains(const Block& block);
  void set_shares(const Block& block);
  // The set that earns most at rates_, above `floor`, within `candidates` and `left_` of the capacities, into best_.
  // Returns what it earns, or `floor` if there is none; an upper bound of that when `most_steps` did not suffice. Stops
  // at a set that earns `ceiling`.
  double price(const Block& block, const OpSet<Words>& candidates, double floor, double ceiling,
               std::uint64_t most_steps, std::size_t rent_rounds);
  double charge_rent(const Block& block, const OpSet<Words>& candidates);
  void settle_rents(const Block& block, const OpSet<Words>& candidates, double target, std::size_t rounds);
  double still(const Block& block, std::size_t chain) const;
  void search(const Block& block, std::size_t chain, const OpSet<Words>& candidates, double earned);
  void set_rates(const Block& block);
  void pivot(std::size_t entering_cost, std::size_t n);

  struct Choice {
    std::uint32_t op, mode;
  };

  std::vector<std::uint32_t> chain_members_, chain_offsets_;
  std::vector<OpSet<Words>> beside_;  // incomparable operators
  std::vector<double> suffix_;        // most that chains from this one on can earn, one operator each
  std::vector<double> after_rent_;    // what remains to them after rent
  std::vector<double> shares_;        // demands as shares of the capacities
  std::vector<double> rents_, best_rents_, taken_;
  std::vector<double> best_rate_;  // per operator
  std::vector<double> rates_;      // per mode
  std::vector<double> worth_;
  std::vector<Units> left_;
  std::vector<Choice> chosen_, best_;
  double best_earned_ = 0, ceiling_ = 0;
  std::uint64_t most_steps_ = 0;
  std::uint64_t steps_ = 0;
  bool cut_short_ = false;

  std::vector<double> inverse_, prices_, level_, direction_;
  std::vector<double> cost_;
  std::uint64_t pivots_ = 0;
};

extern template class AntichainBound<1>;
extern template class AntichainBound<2>;
extern template class AntichainBound<4>;

}  // namespace phaze::schedule
