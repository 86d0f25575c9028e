// Block: a part of an instance that must be scheduled as a whole, in whole numbers.
//
// Time is counted in ticks, of which the serial schedule of the instance (every operator alone in its fastest mode)
// takes about 2^50, and durations are rounded up to ticks. Sums, comparisons and hashes are then exact and do not
// depend on the order of additions. The price: a makespan in ticks may exceed the true one by one tick per operator,
// some 1e-14 of it, far below kTimeTolerance.
//
// Demand is counted in units, of which a capacity has 2^40, and rounded down. Demands that fit in real numbers always
// fit in units; demands that fit in units exceed the capacity by less than a unit each, which is below
// kCapacityTolerance for up to a thousand operators side by side. Resources of which a thousand operators run at once
// do not occur, and the validator would refuse the schedule.
//
// What preparing removes, none of which changes the optimum:
//  - operators that may take no time run in that mode: a moment of no length holds nothing. Their order is kept through
//    the transitive closure, and they start when their last predecessor finishes;
//  - modes that are no faster and demand no less than another mode of the same operator: replacing one by the other in
//    any schedule keeps it valid and finishes no later;
//  - modes longer than the serial schedule, which cannot appear in a schedule that is better than it;
//  - resources of which no mode demands a larger share than of another one: they never run out first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "phaze/base/check.h"
#include "phaze/schedule/instance.h"
#include "phaze/schedule/op_set.h"

namespace phaze::schedule {

using Ticks = std::int64_t;
using Units = std::int64_t;

inline constexpr Units kCapacityUnits = Units{1} << 40;
inline constexpr Ticks kSerialTicks = Ticks{1} << 50;
inline constexpr Ticks kNever = std::numeric_limits<Ticks>::max();

struct BlockMode {
  Ticks duration = 0;
  std::uint32_t original = 0;  // index among the modes of the operator in the instance
  bool exclusive = false;      // no operator that could run beside it fits beside it, in any mode
};

struct Block {
  std::size_t size = 0;
  std::size_t resources = 0;
  std::size_t words = 0;                    // of a row of `before` and `after`
  std::vector<std::uint32_t> original;      // operator in the instance; ascending number of predecessors
  std::vector<std::uint32_t> mode_offsets;  // size + 1
  std::vector<BlockMode> modes;             // ascending duration within an operator
  std::vector<Units> demands;               // resources per mode
  std::vector<std::uint64_t> before;        // all that must finish before, transitively; bits, `words` per operator
  std::vector<std::uint64_t> after;
  std::vector<Ticks> fastest;  // least duration of each operator
  // No start is earlier than the head, and after the finish the tail remains at least: the longest path of fastest
  // modes before or after the operator, or the work that some resource has with all that comes before or after it.
  std::vector<Ticks> heads, tails;
  std::vector<Ticks> paths;  // the longest path of fastest modes after the operator: how urgent it is

  void clear();
  const Units* demand(std::size_t mode) const { return demands.data() + mode * resources; }
  std::span<const std::uint64_t> before_row(std::size_t op) const { return {before.data() + op * words, words}; }
  std::span<const std::uint64_t> after_row(std::size_t op) const { return {after.data() + op * words, words}; }
  bool precedes(std::size_t a, std::size_t b) const { return ((before[b * words + a / 64] >> (a % 64)) & 1U) != 0; }
  bool comparable(std::size_t a, std::size_t b) const { return precedes(a, b) || precedes(b, a); }

  template <std::size_t Words>
  OpSet<Words> set_of(std::span<const std::uint64_t> row) const {
    check(row.size() <= Words, "a block is given to a search that is wide enough for it");
    OpSet<Words> set;
    std::ranges::copy(row, set.words.begin());
    return set;
  }

  // Computes fastest, heads, tails and exclusive from the rest, and drops exclusive modes that are not the fastest.
  void derive();
  void set_paths();
};

// Per operator and resource: the least time for which it takes the whole of the resource, or longer a part of it.
// Rounded down to whole ticks, so that sums do not depend on their order.
std::vector<Ticks> least_work(const Block& block);

// The block without the modes for which keep[m] is zero. False if an operator would have none left.
bool restrict_modes(const Block& block, std::span<const std::uint8_t> keep, Block& restricted);

// Calls visit(m, m of the block) for every mode m of the block restricted.
template <typename Visit>
void for_each_mode_in(const Block& block, const Block& restricted, Visit&& visit) {
  for (std::size_t i = 0; i < block.size; ++i) {
    std::size_t in_block = block.mode_offsets[i];
    for (std::size_t m = restricted.mode_offsets[i]; m < restricted.mode_offsets[i + 1]; ++m) {
      while (block.modes[in_block].original != restricted.modes[m].original) ++in_block;
      visit(m, in_block);
    }
  }
}

// The same block with time running backwards: a schedule of it, mirrored, is a schedule of the block.
void reverse(const Block& block, Block& reversed);

// One operator of a block as scheduled. Starts are in ticks from the start of the block.
struct BlockPlacement {
  std::uint32_t mode = 0;  // index into Block::modes
  Ticks start = 0;
};

struct BlockSchedule {
  std::vector<BlockPlacement> ops;
  Ticks makespan = 0;
};

// Schedules of a restricted block name its modes; this turns them into modes of the block itself.
void name_modes_of(const Block& block, const Block& restricted, BlockSchedule& schedule);

// Turns a schedule of the reversed block into one of the block.
void mirror(const Block& block, BlockSchedule& schedule);

}  // namespace phaze::schedule
