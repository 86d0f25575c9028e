#include "phaze/schedule/side_by_side.h"

#include <numeric>

namespace phaze::schedule {
namespace {

// Per group: most steps lead to one.
constexpr std::uint64_t kMostSteps = 8;

}  // namespace

template <std::size_t Words>
void SideBySide<Words>::find(const Block& block, std::size_t most_groups) {
  most_groups_ = most_groups;
  const std::size_t n = block.size;
  beside_.assign(n, {});
  OpSet<Words> all;
  for (std::size_t i = 0; i < n; ++i) {
    all.insert(i);
    for (std::size_t j = 0; j < i; ++j)
      if (!block.precedes(j, i)) {
        beside_[i].insert(j);
        beside_[j].insert(i);
      }
  }
  members_.clear();
  chain_offsets_.assign(1, 0);
  group_offsets_.assign(1, 0);
  steps_ = 0;
  are_antichains_ = add_antichains({}, all, {});
  if (!are_antichains_) cover_by_chains(block);
}

// Maximal antichains are the maximal cliques of incomparability (Bron and Kerbosch 1973; the pivot is due to Tomita,
// Tanaka and Takahashi 2006): those that contain `chosen`, others only out of `candidates`, and for which nothing of
// `seen` could be added. False if there are too many.
template <std::size_t Words>
bool SideBySide<Words>::add_antichains(const OpSet<Words>& chosen, OpSet<Words> candidates, OpSet<Words> seen) {
  if (++steps_ > kMostSteps * most_groups_) return false;
  if (candidates.empty()) {
    if (!seen.empty()) return true;
    if (groups() == most_groups_) return false;
    chosen.for_each([&](std::size_t op) {
      members_.push_back(static_cast<std::uint32_t>(op));
      chain_offsets_.push_back(static_cast<std::uint32_t>(members_.size()));
    });
    group_offsets_.push_back(static_cast<std::uint32_t>(chain_offsets_.size() - 1));
    return true;
  }
  // What is beside the pivot need not be tried: an antichain without the pivot has something that is not beside it.
  OpSet<Words> not_beside_pivot = candidates;
  std::size_t most = 0;
  (candidates | seen).for_each([&](std::size_t op) {
    const std::size_t beside = (candidates & beside_[op]).size();
    if (beside < most) return;
    most = beside;
    not_beside_pivot = candidates - beside_[op];
  });
  bool all_found = true;
  not_beside_pivot.for_each([&](std::size_t op) {
    if (!all_found) return;
    OpSet<Words> with = chosen;
    with.insert(op);
    all_found = add_antichains(with, candidates & beside_[op], seen & beside_[op]);
    candidates.erase(op);
    seen.insert(op);
  });
  return all_found;
}

// Greedily: an operator goes to the chain whose end stands latest among those that precede it.
template <std::size_t Words>
void SideBySide<Words>::cover_by_chains(const Block& block) {
  const std::size_t n = block.size;
  std::vector<std::uint32_t> chain_of(n, 0);
  std::size_t chains = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t best = chains;
    bool open_taken = false;
    for (std::size_t j = i; j-- > 0 && !open_taken;) {
      if (!block.precedes(j, i)) continue;
      bool last = true;
      for (std::size_t later = j + 1; later < i && last; ++later) last = chain_of[later] != chain_of[j];
      if (last) {
        best = chain_of[j];
        open_taken = true;
      }
    }
    if (!open_taken) ++chains;
    chain_of[i] = static_cast<std::uint32_t>(best);
  }
  chain_offsets_.assign(chains + 1, 0);
  for (std::size_t i = 0; i < n; ++i) ++chain_offsets_[chain_of[i] + 1];
  std::partial_sum(chain_offsets_.begin(), chain_offsets_.end(), chain_offsets_.begin());
  members_.assign(n, 0);
  std::vector<std::uint32_t> next(chain_offsets_.begin(), chain_offsets_.end() - 1);
  for (std::size_t i = 0; i < n; ++i) members_[next[chain_of[i]]++] = static_cast<std::uint32_t>(i);
  group_offsets_.assign({0, static_cast<std::uint32_t>(chains)});
}

template class SideBySide<1>;
template class SideBySide<2>;
template class SideBySide<4>;

}  // namespace phaze::schedule
