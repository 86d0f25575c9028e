#include "phaze/schedule/local_search.h"

#include <algorithm>
#include <array>
#include <limits>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

constexpr std::size_t kHistory = 32;
// Shares of a capacity that an operator may hold in the schedules to start from.
constexpr std::array<double, 6> kShares = {1, 0.75, 0.5, 0.35, 0.2, 0.1};

// The resource of which the operators need the most, each in the mode that needs the least of it.
std::size_t scarcest_resource(const Block& block) {
  std::size_t scarcest = 0;
  double most = 0;
  for (std::size_t k = 0; k < block.resources; ++k) {
    double total = 0;
    for (std::size_t i = 0; i < block.size; ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
        least = std::min(least, static_cast<double>(block.demand(m)[k]) * static_cast<double>(block.modes[m].duration));
      total += least;
    }
    if (total <= most) continue;
    most = total;
    scarcest = k;
  }
  return scarcest;
}

}  // namespace

// SplitMix64 (Steele, Lea and Flood 2014), reduced by multiplication.
std::size_t LocalSearch::below(std::size_t bound) {
  random_ += 0x9E3779B97F4A7C15U;
  std::uint64_t mixed = random_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
  mixed ^= mixed >> 31U;
  return static_cast<std::size_t>(((mixed >> 32U) * static_cast<std::uint64_t>(bound)) >> 32U);
}

// To another place between the last of its predecessors and the first of its successors.
bool LocalSearch::move(const Block& block, std::size_t position) {
  const std::uint32_t op = changed_order_[position];
  std::size_t first = position, last = position;
  while (first > 0 && !block.precedes(changed_order_[first - 1], op)) --first;
  while (last + 1 < block.size && !block.precedes(op, changed_order_[last + 1])) ++last;
  if (first == last) return false;
  std::size_t target = first + below(last - first);
  if (target >= position) ++target;
  const auto at = [&](std::size_t index) { return changed_order_.begin() + static_cast<std::ptrdiff_t>(index); };
  if (target < position)
    std::rotate(at(target), at(position), at(position + 1));
  else
    std::rotate(at(position), at(position + 1), at(target + 1));
  return true;
}

bool LocalSearch::change(const Block& block) {
  const std::size_t position = below(block.size);
  const std::uint32_t op = changed_order_[position];
  const std::size_t modes = block.mode_offsets[op + 1] - block.mode_offsets[op];
  if (modes == 1 || below(2) == 0) return move(block, position);
  // Mostly the next faster or slower mode, sometimes any.
  std::uint32_t& mode = changed_modes_[op];
  const std::uint32_t before = mode;
  if (below(4) == 0)
    mode = block.mode_offsets[op] + static_cast<std::uint32_t>(below(modes));
  else if (below(2) == 0)
    mode = std::min(mode + 1, block.mode_offsets[op + 1] - 1);
  else
    mode = std::max(mode, block.mode_offsets[op] + 1) - 1;
  return mode != before;
}

void LocalSearch::start_from(const Block& block, const BlockSchedule& schedule) {
  order_by_rising([&](std::uint32_t i) { return schedule.ops[i].start; }, block.size, order_);
  modes_.resize(block.size);
  for (std::size_t i = 0; i < block.size; ++i) modes_[i] = schedule.ops[i].mode;
}

void LocalSearch::start_sparingly(const Block& block, std::size_t scarcest, Units most) {
  changed_modes_.resize(block.size);
  rest_.assign(block.size, 0);
  for (std::size_t i = block.size; i-- > 0;) {
    std::uint32_t& mode = changed_modes_[i];
    mode = block.mode_offsets[i];
    const auto sparing = [&] {
      const Units* demand = block.demand(mode);
      return demand[scarcest] > 0 ||
             std::ranges::all_of(demand, demand + block.resources, [&](Units held) { return held <= most; });
    };
    while (!sparing() && mode + 1 < block.mode_offsets[i + 1]) ++mode;
    for (std::size_t j = i + 1; j < block.size; ++j)
      if (block.precedes(i, j)) rest_[i] = std::max(rest_[i], rest_[j]);
    rest_[i] += block.modes[mode].duration;
  }
  order_by_falling([&](std::uint32_t i) { return rest_[i]; }, block.size, changed_order_);
}

void LocalSearch::improve(const Block& block, Ticks enough, std::uint64_t tries, Stop& stop, BlockSchedule& schedule) {
  if (tries == 0 || !stop.spend()) return;
  random_ = 0;
  start_from(block, schedule);
  Ticks now = schedule.makespan;
  const auto accept = [&] {
    now = candidate_.makespan;
    order_.swap(changed_order_);
    modes_.swap(changed_modes_);
    if (now < schedule.makespan) schedule = candidate_;
  };
  const std::size_t scarcest = scarcest_resource(block);
  for (const double share : kShares) {
    start_sparingly(block, scarcest, static_cast<Units>(share * static_cast<double>(kCapacityUnits)));
    if (lists_.serial_scheme(block, changed_order_, changed_modes_, now, candidate_)) accept();
  }
  history_.assign(kHistory, now);
  for (std::uint64_t attempt = 1; attempt < tries && schedule.makespan > enough; ++attempt) {
    if (attempt % kTriesPerUnit == 0 && !stop.spend()) return;
    changed_order_ = order_;
    changed_modes_ = modes_;
    if (!change(block)) continue;
    Ticks& past = history_[attempt % kHistory];
    if (lists_.serial_scheme(block, changed_order_, changed_modes_, std::max(now, past) + 1, candidate_)) accept();
    past = std::min(past, now);
  }
}

}  // namespace phaze::schedule
