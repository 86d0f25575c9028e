#include "phaze/schedule/search_block.h"

#include <algorithm>

#include "phaze/base/hash.h"
#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

// By so much the least work of an operator may fall short of its time for rounding alone; over a hundred operators that
// is still below kTimeTolerance.
constexpr Ticks kRoundingTicks = kSerialTicks >> 38U;

bool same_modes(const Block& block, std::size_t a, std::size_t b) {
  const std::size_t first = block.mode_offsets[a], other = block.mode_offsets[b];
  const std::size_t count = block.mode_offsets[a + 1] - first;
  if (block.mode_offsets[b + 1] - other != count) return false;
  for (std::size_t m = 0; m < count; ++m) {
    const BlockMode &x = block.modes[first + m], &y = block.modes[other + m];
    if (x.duration != y.duration || x.exclusive != y.exclusive) return false;
    if (!std::equal(block.demand(first + m), block.demand(first + m) + block.resources, block.demand(other + m)))
      return false;
  }
  return true;
}

}  // namespace

template <std::size_t Words>
void SearchBlock<Words>::prepare(const Block& given) {
  block = &given;
  set_order();
  set_modes();
  set_contested();
  set_demands();
  find_equals();
  find_equal_ends();
  find_what_runs_as_well_alone();
}

template <std::size_t Words>
void SearchBlock<Words>::set_order() {
  const std::size_t n = block->size;
  before.resize(n);
  after.resize(n);
  just_before.resize(n);
  all = last = {};
  for (std::size_t i = 0; i < n; ++i) {
    before[i] = block->set_of<Words>(block->before_row(i));
    after[i] = block->set_of<Words>(block->after_row(i));
    just_before[i] = before[i];
    before[i].for_each([&](std::size_t j) { just_before[i] = just_before[i] - before[j]; });
    all.insert(i);
    if (after[i].empty()) last.insert(i);
  }
  order_by_falling([&](std::uint32_t i) { return block->fastest[i] + block->tails[i]; }, block->size, longest_first);
  rests.clear();
  longest.assign(1, {});
  for (const std::uint32_t i : longest_first) {
    rests.push_back(block->fastest[i] + block->tails[i]);
    longest.push_back(longest.back());
    longest.back().insert(i);
  }
}

template <std::size_t Words>
void SearchBlock<Words>::set_modes() {
  const std::size_t resources = block->resources;
  heaviest_.assign(block->size * resources, 0);
  fastest_shareable.assign(block->mode_offsets.begin(), block->mode_offsets.end() - 1);
  for (std::size_t i = 0; i < block->size; ++i)
    for (std::size_t m = block->mode_offsets[i]; m < block->mode_offsets[i + 1]; ++m)
      if (!block->modes[m].exclusive)
        for (std::size_t k = 0; k < resources; ++k)
          heaviest_[i * resources + k] = std::max(heaviest_[i * resources + k], block->demand(m)[k]);
  shareable = {};
  for (std::size_t i = 0; i < block->size; ++i) {
    while (fastest_shareable[i] < block->mode_offsets[i + 1] && block->modes[fastest_shareable[i]].exclusive)
      ++fastest_shareable[i];
    if (fastest_shareable[i] < block->mode_offsets[i + 1]) shareable.insert(i);
  }
}

template <std::size_t Words>
void SearchBlock<Words>::set_contested() {
  const std::size_t resources = block->resources;
  contested_.assign(block->modes.size() * resources, 0);
  unhindered.assign(block->modes.size(), 0);
  for (std::size_t i = 0; i < block->size; ++i) {
    if (shareable.contains(i)) unhindered[fastest_shareable[i]] = 1;
    for (std::size_t k = 0; k < resources; ++k) {
      if (heaviest_[i * resources + k] == 0) continue;
      const Units most = most_beside(i, k);
      for (std::size_t m = block->mode_offsets[i]; m < block->mode_offsets[i + 1]; ++m) {
        const Units units = block->demand(m)[k];
        if (units == 0 || units + most <= kCapacityUnits || block->modes[m].exclusive) continue;
        contested_[m * resources + k] = units;
        unhindered[m] = 0;
      }
    }
  }
}

// All that run beside the operator at one moment demand no more than this in shareable modes: of every chain there is
// one at most. Where it is more than there is, it does not matter how much.
template <std::size_t Words>
Units SearchBlock<Words>::most_beside(std::size_t op, std::size_t resource) {
  chains_.clear();
  Units most = 0;
  OpSet<Words> beside = all - before[op] - after[op];
  beside.erase(op);
  beside.any_of([&](std::size_t i) {
    const Units units = heaviest_[i * block->resources + resource];
    if (units == 0) return false;
    auto chain = std::ranges::find_if(chains_, [&](const Chain& one) { return before[i].contains(one.last); });
    if (chain == chains_.end()) chain = chains_.insert(chain, {.last = i, .heaviest = 0});
    most += std::max<Units>(0, units - chain->heaviest);
    *chain = {.last = i, .heaviest = std::max(units, chain->heaviest)};
    return most > kCapacityUnits;
  });
  return most;
}

template <std::size_t Words>
void SearchBlock<Words>::set_demands() {
  std::vector<double> work(block->resources, 0);
  for (std::size_t m = 0; m < block->modes.size(); ++m)
    for (std::size_t k = 0; k < block->resources; ++k)
      work[k] +=
          static_cast<double>(contested_[m * block->resources + k]) * static_cast<double>(block->modes[m].duration);
  order_by_falling([&](std::uint32_t k) { return work[k]; }, block->resources, scarcest_first);
  std::erase_if(scarcest_first, [&](std::uint32_t k) { return work[k] <= 0; });
  contested.clear();
  for (std::size_t m = 0; m < block->modes.size(); ++m)
    for (const std::uint32_t k : scarcest_first) contested.push_back(contested_[m * block->resources + k]);
  demand_hashes.assign(block->modes.size(), 0);
  lightest.assign(block->size * resources(), kCapacityUnits);
  for (std::size_t i = 0; i < block->size; ++i)
    for (std::size_t m = fastest_shareable[i]; m < block->mode_offsets[i + 1]; ++m)
      for (std::size_t k = 0; k < resources(); ++k) {
        const Units units = demand(m)[k];
        demand_hashes[m] = mix(demand_hashes[m] ^ static_cast<std::uint64_t>(units));
        if (!block->modes[m].exclusive) lightest[i * resources() + k] = std::min(lightest[i * resources() + k], units);
      }
}

template <std::size_t Words>
void SearchBlock<Words>::find_equals() {
  equals_before.assign(block->size, {});
  twins_before.assign(block->size, {});
  for (std::size_t b = 0; b < block->size; ++b)
    for (std::size_t a = 0; a < block->size; ++a) {
      const bool goes_first = after[b].subset_of(after[a]) && (a < b || after[a] != after[b]);
      if (!goes_first || !same_modes(*block, a, b)) continue;
      equals_before[b].insert(a);
      if (after[a] == after[b]) twins_before[b].insert(a);
    }
}

template <std::size_t Words>
void SearchBlock<Words>::find_equal_ends() {
  equal_ends.clear();
  ends_and_just_before = {};
  OpSet<Words> grouped;
  for (std::size_t i = 0; i < block->size; ++i) {
    if (!after[i].empty() || grouped.contains(i)) continue;
    OpSet<Words> equals;
    for (std::size_t j = i; j < block->size; ++j)
      if (after[j].empty() && same_modes(*block, i, j)) equals.insert(j);
    grouped = grouped | equals;
    if (equals.size() < 2) continue;
    equal_ends.push_back(equals);
    ends_and_just_before = ends_and_just_before | equals;
    equals.for_each([&](std::size_t j) { ends_and_just_before = ends_and_just_before | just_before[j]; });
  }
}

// Of the resource for which there are most such operators.
template <std::size_t Words>
void SearchBlock<Words>::find_what_runs_as_well_alone() {
  const std::vector<Ticks> work = least_work(*block);
  as_well_alone = {};
  for (std::size_t k = 0; k < block->resources; ++k) {
    OpSet<Words> found;
    for (std::size_t i = 0; i < block->size; ++i)
      if (block->modes[block->mode_offsets[i]].exclusive &&
          block->fastest[i] <= work[i * block->resources + k] + kRoundingTicks)
        found.insert(i);
    if (found.size() > as_well_alone.size()) as_well_alone = found;
  }
}

template <std::size_t Words>
void SearchBlock<Words>::add_up(std::span<const Running> running, std::vector<Units>& held) const {
  held.assign((running.size() + 1) * resources(), 0);
  for (std::size_t q = running.size(); q-- > 0;) {
    const Units* units = demand(running[q].mode);
    for (std::size_t k = 0; k < resources(); ++k)
      held[q * resources() + k] = held[(q + 1) * resources() + k] + units[k];
  }
}

template struct SearchBlock<1>;
template struct SearchBlock<2>;
template struct SearchBlock<4>;

}  // namespace phaze::schedule
