#include "phaze/schedule/local_search.h"

#include <algorithm>

namespace phaze::schedule {
namespace {

constexpr std::size_t kHistory = 32;

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

void LocalSearch::improve(const Block& block, Ticks enough, std::uint64_t tries, Stop& stop, BlockSchedule& schedule) {
  random_ = 0;
  order_.resize(block.size);
  modes_.resize(block.size);
  for (std::size_t i = 0; i < block.size; ++i) {
    order_[i] = static_cast<std::uint32_t>(i);
    modes_[i] = schedule.ops[i].mode;
  }
  std::ranges::stable_sort(
      order_, [&](std::uint32_t a, std::uint32_t b) { return schedule.ops[a].start < schedule.ops[b].start; });
  Ticks now = schedule.makespan;
  history_.assign(kHistory, now);
  for (std::uint64_t attempt = 0; attempt < tries && schedule.makespan > enough; ++attempt) {
    if (attempt % kTriesPerUnit == 0 && !stop.spend()) return;
    changed_order_ = order_;
    changed_modes_ = modes_;
    if (!change(block)) continue;
    lists_.serial_scheme(block, changed_order_, changed_modes_, candidate_);
    Ticks& past = history_[attempt % kHistory];
    if (candidate_.makespan <= now || candidate_.makespan <= past) {
      now = candidate_.makespan;
      order_.swap(changed_order_);
      modes_.swap(changed_modes_);
      if (now < schedule.makespan) schedule = candidate_;
    }
    past = std::min(past, now);
  }
}

}  // namespace phaze::schedule
