// What may run side by side: groups of operators such that everything that may run at one moment lies within one of
// them.
//
// Operators that run at one moment are pairwise incomparable, so the groups are the maximal antichains of the order. A
// layer has few of these: a backward pass is a chain with gradients of weights that hang from it, and of n operators
// there are about n maximal antichains, some hundreds where two towers meet. A wide order of a hundred operators may
// have millions; it is one group, covered by chains of which one operator each runs at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/block.h"
#include "phaze/schedule/op_set.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class SideBySide {
 public:
  // Groups beyond `most_groups` are too many to look at one by one: chains cover the order then.
  static constexpr std::size_t kMostGroups = Words == 1 ? 512 : 4096;
  void find(const Block& block, std::size_t most_groups = kMostGroups);

  std::size_t groups() const { return group_offsets_.size() - 1; }
  // Chains of a group, as indices for chain().
  std::uint32_t begin(std::size_t group) const { return group_offsets_[group]; }
  std::uint32_t end(std::size_t group) const { return group_offsets_[group + 1]; }
  // Of its operators, at most one runs at a time.
  std::span<const std::uint32_t> chain(std::uint32_t chain) const {
    return {members_.data() + chain_offsets_[chain], chain_offsets_[chain + 1] - chain_offsets_[chain]};
  }
  // Whether any operators of a group may run side by side, as far as the order goes: chains are of one operator.
  bool are_antichains() const { return are_antichains_; }
  // What it took to find them, in operators looked at.
  std::uint64_t work() const { return steps_ * beside_.size(); }
  // Operators that are incomparable with this one.
  const OpSet<Words>& beside(std::size_t op) const { return beside_[op]; }

 private:
  bool add_antichains(const OpSet<Words>& chosen, OpSet<Words> candidates, OpSet<Words> seen);
  void cover_by_chains(const Block& block);

  std::vector<OpSet<Words>> beside_;
  std::vector<std::uint32_t> members_, chain_offsets_, group_offsets_;
  std::size_t most_groups_ = 0;
  std::uint64_t steps_ = 0;
  bool are_antichains_ = false;
};

extern template class SideBySide<1>;
extern template class SideBySide<2>;
extern template class SideBySide<4>;

}  // namespace phaze::schedule
