// Lower bounds on the makespan of a block that cost microseconds.
#pragma once

#include <vector>

#include "phaze/schedule/block.h"

namespace phaze::schedule {

// A worth is a number of ticks per operator such that, whatever runs side by side at some moment, operator i in mode m
// earning worth_i / p_im a tick, they earn at most one a tick together. A schedule must earn all the worth there is, so
// its makespan is at least the sum. Every bound here and in antichain.h is a worth:
//  - of a chain: the fastest durations of its operators, zero for all others, because no two of a chain run at once;
//  - of a resource: the least share of the capacity times duration over all modes, because shares add up to one at
//  most.
//
// Between a head and a tail: operators that cannot start before h and after whose finish t remains must earn their
// worth in between, so the makespan is at least h + their worth + t. Returns the largest over all pairs (h, t) that
// occur.
double between_heads_and_tails(const Block& block, std::span<const double> worth);

// Reusable memory for the bounds of one block after another.
class SimpleBounds {
 public:
  // max of the critical path with fastest modes and the work of each resource between all heads and tails.
  Ticks compute(const Block& block);

  // The worth of resource k as of the last compute().
  std::span<const double> work(std::size_t k) const { return {work_.data() + k * size_, size_}; }

 private:
  std::size_t size_ = 0;
  std::vector<double> work_;
};

// A bound in real numbers of ticks as a whole number that is still a bound after rounding errors.
Ticks whole_ticks(double bound);

}  // namespace phaze::schedule
