// The front of time against memory: plans of the whole strategy space than which none is both faster and smaller.
//
//   const Front front = time_memory_front(request, 0, progress);   // every point of it
//
// Found by the ε-constraint method: the fastest plan that fits a limit, then the fastest that fits less than that plan
// needs, and so on until nothing fits. Each is exact because solve() is, for any limit: had a plan on the front been
// passed over, it would fit the limit of some round and be faster than the plan found there. Where the next round finds
// a plan that is as fast, it takes the place of the one before.
//
// With `step` > 0 a limit lies so many bytes below the last plan's need, so that rounds are no more than memory / step.
// What is passed over then saves less than `step` against the point before it.
#pragma once

#include <vector>

#include "phaze/placement/solve.h"

namespace phaze::placement {

struct Front {
  std::vector<Ranked> plans;  // ascending time, descending memory
  bool complete = true;       // false: stopped before the smallest
};

// `request` must pass validate().
Front time_memory_front(const Request& request, double step, Progress& progress);

}  // namespace phaze::placement
