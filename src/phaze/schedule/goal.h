// What is asked of a block, and whether an answer is that.
#pragma once

#include <limits>

#include "phaze/schedule/block_memo.h"
#include "phaze/schedule/bounds.h"

namespace phaze::schedule {

// Schedules that are shorter by no more than the tolerance are not looked for.
inline double limit_of(const BlockResult& result) {
  return static_cast<double>(result.schedule.makespan) * (1 - kTimeTolerance);
}

// Whether the schedule is as short as its bound.
inline bool closed(const BlockResult& result) { return static_cast<double>(result.lower_bound) >= limit_of(result); }

// What is asked for: a bound of so many ticks. Schedules that long or longer are of no interest, and are not looked
// for.
struct Goal {
  Ticks ticks = std::numeric_limits<Ticks>::max();  // no bound is that high: the optimum is asked for
  // Where a schedule is shorter than that, any will do; otherwise the shortest is wanted.
  bool any_shorter_will_do = false;

  // Goals are rounded up to grains. What is shorter by rounding alone does not count.
  static constexpr Ticks kGrain = kSerialTicks >> 30U;
  // A schedule as short as this ends the search.
  Ticks short_enough() const { return any_shorter_will_do ? ticks - 4 * kGrain : 0; }

  // Schedules that are shorter by no more than the tolerance are not looked for, either.
  Ticks bound_if_none_is_shorter() const { return whole_ticks(static_cast<double>(ticks) * (1 - kTimeTolerance)); }

  bool none() const { return ticks == std::numeric_limits<Ticks>::max(); }
  bool is_met_by(const BlockResult& result) const {
    return result.lower_bound >= bound_if_none_is_shorter() || result.schedule.makespan <= short_enough();
  }
};

}  // namespace phaze::schedule
