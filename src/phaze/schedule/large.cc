#include "phaze/schedule/large.h"

#include <algorithm>
#include <array>
#include <limits>

namespace phaze::schedule {
namespace {

// What light operators are of a schedule at most.
constexpr double kLight = 0.03;
// What operators that are put back may hold of a resource: the less, the longer they take and the less they are in the
// way.
constexpr std::array kShares = {1.0, 0.25, 0.05, 0.01};

constexpr Ticks kLast = std::numeric_limits<Ticks>::max();

std::uint32_t fastest_that_holds(const Block& block, std::size_t op, Units most) {
  std::uint32_t mode = block.mode_offsets[op];
  const auto holds_more = [&] {
    const Units* demand = block.demand(mode);
    return std::any_of(demand, demand + block.resources, [&](Units held) { return held > most; });
  };
  while (mode + 1 < block.mode_offsets[op + 1] && holds_more()) ++mode;
  return mode;
}

}  // namespace

bool keep_large(const Block& block, Ticks least, Large& large) {
  std::vector<std::uint32_t> small;
  for (std::uint32_t i = 0; i < block.size; ++i)
    if (block.fastest[i] < least) small.push_back(i);
  return !small.empty() && keep_all_but(block, small, large);
}

std::vector<std::uint32_t> light_operators(const Block& block, Ticks makespan) {
  const std::vector<Ticks> work = least_work(block);
  std::vector<Ticks> most_work(block.size, 0);  // of an operator, for any resource
  std::vector<std::uint32_t> light;
  for (std::uint32_t i = 0; i < block.size; ++i) {
    for (std::size_t k = 0; k < block.resources; ++k)
      most_work[i] = std::max(most_work[i], work[i * block.resources + k]);
    const bool awaited = std::ranges::any_of(block.after_row(i), [](std::uint64_t word) { return word != 0; });
    if (!awaited && static_cast<double>(most_work[i]) < kLight * static_cast<double>(makespan)) light.push_back(i);
  }
  std::ranges::stable_sort(light, {}, [&](std::uint32_t i) { return most_work[i]; });
  return light;
}

bool keep_all_but(const Block& block, std::span<const std::uint32_t> left_out, Large& large) {
  Block& kept = large.block;
  kept.clear();
  kept.resources = block.resources;
  large.ops.clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    if (std::ranges::find(left_out, i) != left_out.end()) continue;
    large.ops.push_back(static_cast<std::uint32_t>(i));
    kept.original.push_back(block.original[i]);
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      kept.modes.push_back(block.modes[m]);
      kept.demands.insert(kept.demands.end(), block.demand(m), block.demand(m) + block.resources);
    }
    kept.mode_offsets.push_back(static_cast<std::uint32_t>(kept.modes.size()));
  }
  kept.size = large.ops.size();
  if (kept.size == 0) return false;
  kept.words = (kept.size + 63) / 64;
  kept.before.assign(kept.size * kept.words, 0);
  kept.after.assign(kept.size * kept.words, 0);
  for (std::size_t b = 0; b < kept.size; ++b)
    for (std::size_t a = 0; a < b; ++a) {
      if (!block.precedes(large.ops[a], large.ops[b])) continue;
      kept.before[b * kept.words + a / 64] |= std::uint64_t{1} << (a % 64);
      kept.after[a * kept.words + b / 64] |= std::uint64_t{1} << (b % 64);
    }
  kept.derive();
  return true;
}

void put_others_back(const Block& block, const Large& large, const BlockSchedule& large_schedule, ListScheduler& lists,
                     BlockSchedule& schedule) {
  // An operator put back goes where the last of those before it has finished; both orders agree, since operators are
  // numbered in one. Those that no large one waits for come last, and fill what is left beside the others.
  std::vector<Ticks> starts(block.size, 0), finishes(block.size, 0);
  std::vector<std::uint32_t> order(block.size), modes(block.size);
  std::vector<std::uint8_t> put_back(block.size, 1);
  std::size_t next = 0;  // among the large ones
  for (std::size_t i = 0; i < block.size; ++i) {
    order[i] = static_cast<std::uint32_t>(i);
    if (next < large.ops.size() && large.ops[next] == i) {
      const BlockPlacement& placed = large_schedule.ops[next++];
      const BlockMode& mode = large.block.modes[placed.mode];
      put_back[i] = 0;
      starts[i] = placed.start;
      finishes[i] = placed.start + mode.duration;
      for (std::uint32_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
        if (block.modes[m].original == mode.original) modes[i] = m;
      continue;
    }
    for (std::size_t j = 0; j < i; ++j)
      if (block.precedes(j, i)) starts[i] = std::max(starts[i], finishes[j]);
    const bool awaited = std::any_of(large.ops.begin() + static_cast<std::ptrdiff_t>(next), large.ops.end(),
                                     [&](std::uint32_t other) { return block.precedes(i, other); });
    if (!awaited) starts[i] = kLast;
    finishes[i] = starts[i];
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return starts[i]; });
  BlockSchedule candidate;
  for (const double of_awaited : kShares)
    for (const double of_others : kShares) {
      for (std::size_t i = 0; i < block.size; ++i) {
        if (put_back[i] == 0) continue;
        const double share = starts[i] == kLast ? of_others : of_awaited;
        modes[i] = fastest_that_holds(block, i, static_cast<Units>(share * static_cast<double>(kCapacityUnits)));
      }
      if (lists.serial_scheme(block, order, modes, schedule.makespan, candidate)) schedule = candidate;
    }
}

}  // namespace phaze::schedule
