// What is asked of a block, and whether an answer is that.
#pragma once

#include <limits>

#include "phaze/schedule/block_memo.h"
#include "phaze/schedule/bounds.h"

namespace phaze::schedule {

// What is asked for: a bound of so many ticks. Schedules that long or longer are of no interest, and are not looked
// for.
struct Goal {
  Ticks ticks = std::numeric_limits<Ticks>::max();  // no bound is that high: the optimum is asked for
  // Where a schedule is shorter than that, any will do; otherwise the shortest is wanted.
  bool any_shorter_will_do = false;
  // Schedules that are shorter by no more than this share, and the tolerance, are not looked for, either.
  double gap = 0;

  // Goals are rounded up to grains. What is shorter by rounding alone does not count.
  static constexpr Ticks kGrain = kSerialTicks >> 30U;
  // A schedule as short as this ends the search.
  Ticks short_enough() const { return any_shorter_will_do ? ticks - 4 * kGrain : 0; }
  // So does one as short as this, where none is shorter than `bound`.
  Ticks short_enough_for(Ticks bound) const {
    return gap == 0 ? bound : static_cast<Ticks>(static_cast<double>(bound) / (1 - gap));
  }

  // Of `makespan`, what is worth looking for is shorter than this.
  double limit_of(Ticks makespan) const { return static_cast<double>(makespan) * (1 - kTimeTolerance - gap); }
  Ticks bound_if_none_is_shorter() const { return whole_ticks(limit_of(ticks)); }

  bool none() const { return ticks == std::numeric_limits<Ticks>::max(); }
  bool is_met_by(const BlockResult& result) const {
    return result.lower_bound >= bound_if_none_is_shorter() || result.schedule.makespan <= short_enough();
  }
};

inline double limit_of(const BlockResult& result, const Goal& goal) { return goal.limit_of(result.schedule.makespan); }

// Whether no schedule can be shorter, by more than is worth looking for.
inline bool closed(const BlockResult& result, const Goal& goal) {
  return static_cast<double>(result.lower_bound) >= limit_of(result, goal);
}

}  // namespace phaze::schedule
