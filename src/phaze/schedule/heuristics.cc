#include "phaze/schedule/heuristics.h"

#include <algorithm>
#include <limits>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

bool fits(const Block& block, std::size_t mode, const Units* free) {
  const Units* demand = block.demand(mode);
  for (std::size_t k = 0; k < block.resources; ++k)
    if (demand[k] > free[k]) return false;
  return true;
}

// Duration times the largest share of a capacity.
double work_of(const Block& block, std::size_t mode) {
  Units most = 0;
  for (std::size_t k = 0; k < block.resources; ++k) most = std::max(most, block.demand(mode)[k]);
  return static_cast<double>(most) / static_cast<double>(kCapacityUnits) *
         static_cast<double>(block.modes[mode].duration);
}

}  // namespace

void ListScheduler::find_thrifty_modes(const Block& block) {
  thrifty_.resize(block.size);
  least_work_.resize(block.size);
  for (std::size_t i = 0; i < block.size; ++i) {
    thrifty_[i] = block.mode_offsets[i];
    least_work_[i] = work_of(block, thrifty_[i]);
    for (std::uint32_t m = block.mode_offsets[i] + 1; m < block.mode_offsets[i + 1]; ++m) {
      const double work = work_of(block, m);
      if (work >= least_work_[i]) continue;
      thrifty_[i] = m;
      least_work_[i] = work;
    }
  }
}

void ListScheduler::set_urgency(const Block& block, Priority priority) {
  urgency_.assign(block.size, 0);
  for (std::size_t i = 0; i < block.size; ++i) {
    if (priority == Priority::kLongestTail) {
      urgency_[i] = static_cast<double>(block.fastest[i] + block.paths[i]);
      continue;
    }
    urgency_[i] = least_work_[i];
    for (std::size_t j = i + 1; j < block.size; ++j)
      if (block.precedes(i, j)) urgency_[i] += least_work_[j];
  }
}

void ListScheduler::run_serially(const Block& block, BlockSchedule& schedule) {
  schedule.ops.resize(block.size);
  Ticks clock = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    schedule.ops[i] = {.mode = block.mode_offsets[i], .start = clock};
    clock += block.fastest[i];
  }
  schedule.makespan = clock;
}

bool ListScheduler::parallel_scheme(const Block& block, const std::vector<double>& urgency, ModeRule rule, Ticks limit,
                                    BlockSchedule& schedule) {
  const std::size_t n = block.size;
  schedule.ops.resize(n);
  schedule.makespan = 0;
  order_by_falling([&](std::uint32_t i) { return urgency[i]; }, n, waiting_);
  finish_.assign(n, kNever);
  running_.clear();
  free_.assign(block.resources, kCapacityUnits);
  Ticks clock = 0;
  finished_.assign(block.words, 0);
  const auto ready = [&](std::uint32_t op) {
    const auto row = block.before_row(op);
    for (std::size_t w = 0; w < row.size(); ++w)
      if ((row[w] & ~finished_[w]) != 0) return false;
    return true;
  };
  while (!waiting_.empty()) {
    std::size_t kept = 0;
    for (const std::uint32_t op : waiting_) {
      std::uint32_t mode = block.mode_offsets[op + 1];
      if (ready(op)) {
        if (rule == ModeRule::kThrifty) {
          if (fits(block, thrifty_[op], free_.data())) mode = thrifty_[op];
        } else {
          for (std::uint32_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
            if (fits(block, m, free_.data())) {
              mode = m;
              break;
            }
            if (rule == ModeRule::kFastest) break;
          }
          // A slow mode now may end later than a fast one once everything running has finished.
          if (mode != block.mode_offsets[op] && mode < block.mode_offsets[op + 1] && !running_.empty()) {
            Ticks all_free = clock;
            for (const std::uint32_t other : running_) all_free = std::max(all_free, finish_[other]);
            if (all_free + block.fastest[op] < clock + block.modes[mode].duration) mode = block.mode_offsets[op + 1];
          }
        }
      }
      if (mode == block.mode_offsets[op + 1]) {
        waiting_[kept++] = op;
        continue;
      }
      schedule.ops[op] = {.mode = mode, .start = clock};
      finish_[op] = clock + block.modes[mode].duration;
      if (finish_[op] + block.paths[op] >= limit) return false;
      schedule.makespan = std::max(schedule.makespan, finish_[op]);
      running_.push_back(op);
      for (std::size_t k = 0; k < block.resources; ++k) free_[k] -= block.demand(mode)[k];
    }
    waiting_.resize(kept);
    if (waiting_.empty()) break;
    Ticks next = kNever;
    for (const std::uint32_t op : running_) next = std::min(next, finish_[op]);
    check(next != kNever, "something runs while operators wait");
    clock = next;
    std::erase_if(running_, [&](std::uint32_t op) {
      if (finish_[op] > clock) return false;
      finished_[op / 64] |= std::uint64_t{1} << (op % 64);
      for (std::size_t k = 0; k < block.resources; ++k) free_[k] += block.demand(schedule.ops[op].mode)[k];
      return true;
    });
  }
  return true;
}

Ticks ListScheduler::earliest_fit(const Block& block, std::size_t mode, Ticks earliest) const {
  const std::size_t resources = block.resources;
  const Units* demand = block.demand(mode);
  const Ticks duration = block.modes[mode].duration;
  std::size_t piece = 0;
  while (piece + 1 < moments_.size() && moments_[piece + 1] <= earliest) ++piece;
  Ticks start = earliest;
  for (; piece < moments_.size(); ++piece) {
    bool fit = true;
    for (std::size_t k = 0; k < resources && fit; ++k) fit = held_[piece * resources + k] + demand[k] <= kCapacityUnits;
    const bool last = piece + 1 == moments_.size();
    if (!fit)
      start = last ? start : moments_[piece + 1];
    else if (last || moments_[piece + 1] >= start + duration)
      return start;
  }
  return start;
}

void ListScheduler::occupy(const Block& block, std::size_t mode, Ticks start) {
  const std::size_t resources = block.resources;
  const auto cut = [&](Ticks moment) {
    const auto at = std::ranges::lower_bound(moments_, moment);
    const auto piece = static_cast<std::size_t>(at - moments_.begin());
    if (at != moments_.end() && *at == moment) return piece;
    moments_.insert(at, moment);
    held_.resize(held_.size() + resources);
    std::copy_backward(held_.begin() + static_cast<std::ptrdiff_t>((piece - 1) * resources),
                       held_.end() - static_cast<std::ptrdiff_t>(resources), held_.end());
    return piece;
  };
  const std::size_t from = cut(start);
  const std::size_t to = cut(start + block.modes[mode].duration);
  for (std::size_t piece = from; piece < to; ++piece)
    for (std::size_t k = 0; k < resources; ++k) held_[piece * resources + k] += block.demand(mode)[k];
}

void ListScheduler::start_serial_scheme(const Block& block, BlockSchedule& schedule) {
  schedule.ops.resize(block.size);
  schedule.makespan = 0;
  moments_.assign(1, 0);
  held_.assign(block.resources, 0);
  finish_.assign(block.size, 0);
}

// When all that must finish before it has.
Ticks ListScheduler::earliest_start(const Block& block, std::size_t op) const {
  Ticks earliest = 0;
  const auto row = block.before_row(op);
  for (std::size_t w = 0; w < row.size(); ++w)
    for (std::uint64_t rest = row[w]; rest != 0; rest &= rest - 1)
      earliest = std::max(earliest, finish_[w * 64 + static_cast<std::size_t>(std::countr_zero(rest))]);
  return earliest;
}

void ListScheduler::place(const Block& block, std::size_t op, const BlockPlacement& placement,
                          BlockSchedule& schedule) {
  schedule.ops[op] = placement;
  finish_[op] = placement.start + block.modes[placement.mode].duration;
  schedule.makespan = std::max(schedule.makespan, finish_[op]);
  occupy(block, placement.mode, placement.start);
}

bool ListScheduler::serial_scheme(const Block& block, const std::vector<std::uint32_t>& order, ModeRule rule,
                                  Ticks limit, BlockSchedule& schedule) {
  start_serial_scheme(block, schedule);
  for (const std::uint32_t op : order) {
    const Ticks earliest = earliest_start(block, op);
    BlockPlacement placed;
    Ticks ends = std::numeric_limits<Ticks>::max();
    const auto consider = [&](std::uint32_t mode) {
      const Ticks start = earliest_fit(block, mode, earliest);
      // Of modes that end together the later one is longer, so it demands less.
      if (start + block.modes[mode].duration > ends) return;
      ends = start + block.modes[mode].duration;
      placed = {.mode = mode, .start = start};
    };
    if (rule == ModeRule::kFastest)
      consider(block.mode_offsets[op]);
    else if (rule == ModeRule::kThrifty)
      consider(thrifty_[op]);
    else
      for (std::uint32_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) consider(m);
    if (ends + block.paths[op] >= limit) return false;
    place(block, op, placed, schedule);
  }
  return true;
}

bool ListScheduler::serial_scheme(const Block& block, const std::vector<std::uint32_t>& order,
                                  const std::vector<std::uint32_t>& modes, Ticks limit, BlockSchedule& schedule) {
  start_serial_scheme(block, schedule);
  for (const std::uint32_t op : order) {
    const Ticks start = earliest_fit(block, modes[op], earliest_start(block, op));
    if (start + block.modes[modes[op]].duration + block.paths[op] >= limit) return false;
    place(block, op, {.mode = modes[op], .start = start}, schedule);
  }
  return true;
}

void ListScheduler::run(const Block& block, Ticks enough, BlockSchedule& best) {
  run_serially(block, best);
  if (best.makespan <= enough) return;
  find_thrifty_modes(block);
  const auto take_shorter = [&](bool found) {
    if (found) std::swap(best, candidate_);
    return best.makespan <= enough;
  };
  set_urgency(block, Priority::kLongestTail);
  for (const ModeRule rule : {ModeRule::kEarliestFinish, ModeRule::kThrifty, ModeRule::kFastest})
    if (take_shorter(parallel_scheme(block, urgency_, rule, best.makespan, candidate_))) return;
  set_urgency(block, Priority::kMostWork);
  // It falls along every edge, so predecessors come first.
  order_by_falling([&](std::uint32_t i) { return urgency_[i]; }, block.size, order_);
  for (const ModeRule rule : {ModeRule::kEarliestFinish, ModeRule::kThrifty})
    if (take_shorter(serial_scheme(block, order_, rule, best.makespan, candidate_))) return;
}

void ListScheduler::improve(const Block& block, const Block& reversed, BlockSchedule& schedule) {
  const auto by_start = [&](const BlockSchedule& of) {
    order_by_rising([&](std::uint32_t i) { return of.ops[i].start; }, block.size, order_);
  };
  while (true) {
    // Seen from the end, an operator starts where it finishes.
    mirror(reversed, other_ = schedule);
    by_start(other_);
    serial_scheme(reversed, order_, ModeRule::kEarliestFinish, kNever, other_);
    mirror(block, other_);
    by_start(other_);
    serial_scheme(block, order_, ModeRule::kEarliestFinish, kNever, candidate_);
    const BlockSchedule& shorter = other_.makespan < candidate_.makespan ? other_ : candidate_;
    if (shorter.makespan >= schedule.makespan) return;
    schedule = shorter;
  }
}

}  // namespace phaze::schedule
