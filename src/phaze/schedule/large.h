// A block without its small operators, or without its light ones.
//
// The head of a model has a handful of products that take all of the time, and a dozen operators that take a thousandth
// of it or less (a classifier of two classes, sums of gradients of biases). A search that looks at all of them has no
// end of places for the small ones, none of which matters. Without them a block is a relaxation, with so few operators
// that it is soon solved, and its optimum is all but that of the block. Its schedule, with the small ones put back
// wherever they fit, is all but the best one.
//
// A backward layer has operators that nobody waits for and that are little work, such as sums of gradients of biases: a
// few percent of the bandwidth, for a moment on all cores or for half of the layer on one. Each of them multiplies the
// states by its modes and moments. Where the others leave enough unused, the optimum without the light ones is that of
// the block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/block.h"
#include "phaze/schedule/heuristics.h"

namespace phaze::schedule {

struct Large {
  Block block;
  std::vector<std::uint32_t> ops;  // of the original, per operator of the block
};

// Leaves out operators that may take less than `least` ticks; the order of the others stays. False if there are none,
// or no others.
bool keep_large(const Block& block, Ticks least, Large& large);

// Operators that nobody waits for and that are little work beside a schedule of this length, by rising work.
std::vector<std::uint32_t> light_operators(const Block& block, Ticks makespan);

// The order of those that are kept stays. False if there are none.
bool keep_all_but(const Block& block, std::span<const std::uint32_t> left_out, Large& large);

// Improves `schedule`, if it can, by a schedule of the operators kept: these start in the same order and in the same
// modes, the others as soon as they can beside them.
void put_others_back(const Block& block, const Large& large, const BlockSchedule& large_schedule, ListScheduler& lists,
                     BlockSchedule& schedule);

}  // namespace phaze::schedule
