// The set that earns most: of the operators that may run side by side, in their modes, when every mode earns so much a
// tick.
//
// Within a group (side_by_side.h) that is a knapsack with several resources, of which every chain takes one mode or
// none. Modes pay rent for what they hold. Whatever the rents ρ are, a set earns what it pays, at most the rent of all
// there is, and what remains to its members (Lagrange):
//
//     Σ rate_m  ≤  Σ_k ρ_k + Σ over chains of max(0, largest remainder rate_m − ρ·d_m)
//
// A search goes through the chains, one mode or none of each, and passes over all sets of which the same sum, for the
// chains that are left, says that they earn too little. With the best rents, those of the linear relaxation, few sets
// remain. Rents of a group are kept, since rates change little from one question to the next; where they do not
// suffice they are moved along subgradients, and at last the relaxation is solved by the simplex method.
//
// Where a wide order is covered by chains, the sum over chains counts operators that may not run at once. What remains
// to an antichain at most, each of its operators in one mode, is a far better bound (heaviest_antichain.h), and the
// antichains found on the way to the best rents are where to look first.
//
// Modes that are exclusive are left alone: they run alone, and what they earn is plain.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phaze/schedule/block.h"
#include "phaze/schedule/heaviest_antichain.h"
#include "phaze/schedule/side_by_side.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class Packing {
 public:
  struct Choice {
    std::uint32_t op, mode;
    double part;  // of the time
  };
  struct Answer {
    double most = 0;     // no set of the group earns more, but for exclusive modes
    bool found = false;  // best() earns more than was asked for
  };

  // The block must outlive its use here.
  void prepare(const Block& block, std::size_t most_groups = SideBySide<Words>::kMostGroups);
  std::size_t groups() const { return side_by_side_.groups(); }
  bool has_antichains() const { return side_by_side_.are_antichains(); }

  // Looks for a set of the group that earns more than `floor`, at rates per mode. Where it has found none among
  // `most_steps` partial sets of an antichain, best() is the solution of the relaxation, in which modes run for a part
  // of the time.
  Answer price(std::size_t group, std::span<const double> rates, double floor, std::uint64_t most_steps);
  // What no set of the group earns more than, by rents alone.
  double most(std::size_t group, std::span<const double> rates);
  std::span<const Choice> best() const { return best_; }

  // Raises the rates of modes that are in no set which earns one. Where no set earned more than that, none does
  // afterwards: in a group, a mode may claim the largest remainder of its chain and the rent of what it holds, since
  // the sum of that over any set is at most the sum above. It claims the least of that over all its groups.
  void lift(std::span<double> rates);
  // For rates that are all scaled.
  void scale_rents(double factor);

  // Modes looked at since prepare() began.
  std::uint64_t work() const { return work_; }

 private:
  std::span<double> rents(std::size_t group) { return {rents_.data() + group * block_->resources, block_->resources}; }
  std::uint32_t first_shared(std::size_t op) const { return first_shared_[op]; }
  double remains_of(std::size_t mode, double rate, std::span<const double> rent) const {
    for (std::size_t k = 0; k < rent.size(); ++k) rate -= rent[k] * shares_[mode * rent.size() + k];
    return rate;
  }
  double charge_rent(std::size_t group, std::span<const double> rates);
  void set_remains(std::size_t group, std::span<const double> rates);
  double follow_subgradients(std::size_t group, std::span<const double> rates, double bound, double target);
  Answer price_antichain(std::size_t group, std::span<const double> rates, double floor, std::uint64_t most_steps);
  Answer price_wide_order(std::size_t group, std::span<const double> rates, double floor, std::uint64_t most_steps);
  bool move_rents(std::size_t group, double wanted);
  double weigh_antichains(std::size_t group, std::span<const double> rates, double target);
  double solve_relaxation(std::size_t group, std::span<const double> rates, double bound);
  bool search_group(std::size_t group, std::span<const double> rates, double floor, std::uint64_t most_steps,
                    const std::optional<OpSet<Words>>& only = {});
  double best_of(std::size_t at, const OpSet<Words>& candidates);
  // Operators of a chain of the group in question, those first to which most remains.
  std::span<const std::uint32_t> by_best(std::uint32_t chain) const {
    return std::span(by_best_).subspan(chain_begins_[chain], chain_begins_[chain + 1] - chain_begins_[chain]);
  }
  void search(std::size_t at, const OpSet<Words>& candidates, double earned, double potential);

  const Block* block_ = nullptr;
  SideBySide<Words> side_by_side_;
  HeaviestAntichain<Words> heaviest_;        // where chains cover a wide order
  std::vector<std::uint32_t> first_shared_;  // per operator: the mode after the exclusive ones, which are the fastest
  std::vector<double> shares_;               // demands as shares of the capacities
  std::vector<double> rents_;                // per group and resource
  std::uint64_t work_ = 0;

  // Of the group in question.
  std::vector<double> remains_;                        // per mode, after rent
  std::vector<double> op_best_;                        // per operator: what remains at most, and no less than nothing
  std::vector<std::uint32_t> op_taker_;                // and the mode to which it does
  std::vector<std::uint32_t> by_best_, chain_begins_;  // operators, by chains
  std::vector<OpSet<Words>> antichains_;               // the heaviest ones, with all rents tried
  std::vector<double> chain_best_;                     // per chain: what remains at most, and no less than nothing
  std::vector<double> chain_rate_;                     // per chain: the highest rate
  std::vector<double> taken_;                          // per resource, if every chain took what remains most to it
  std::vector<double> tried_rents_;
  std::vector<std::uint32_t> order_;               // chains as they are searched
  std::vector<double> best_suffix_, rate_suffix_;  // of the chains in that order
  std::vector<double> tableau_;
  std::vector<std::uint32_t> basis_;
  std::span<const double> rates_;
  std::vector<Units> left_;
  std::vector<Choice> chosen_, best_, found_, relaxed_;
  double best_earned_ = 0;
  std::uint64_t steps_ = 0, most_steps_ = 0;
  bool cut_short_ = false;
};

extern template class Packing<1>;
extern template class Packing<2>;
extern template class Packing<4>;

}  // namespace phaze::schedule
