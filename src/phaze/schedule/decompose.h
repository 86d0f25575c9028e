// From an instance to blocks that are scheduled one after the other, and back.
//
// Where every operator on one side precedes every operator on the other, nothing of the two sides can overlap: the
// optimum is the sum of the optima. An operator that is comparable with all others is the common case (the articulation
// operators of a transformer layer), a join of several with several another. Such cuts are found by counting: sort the
// operators by their number of predecessors; a cut stands before position k exactly when the operator there has k of
// them.
//
//   Proof. Let x stand at position k with k predecessors. Predecessors have fewer predecessors than x, so they stand
//   before k and are exactly the first k operators. Let y stand behind x, and let z be y or, if y has predecessors at k
//   or behind, the one of these that comes first in a topological order. All predecessors of z stand before k, and
//   there are at least k of them, so they are the first k, and they precede y as well. Conversely, if the first k
//   precede all others, then the operator at position k has exactly those predecessors: any further one would stand
//   before it.
#pragma once

#include <vector>

#include "phaze/schedule/block.h"

namespace phaze::schedule {

class Decomposition {
 public:
  // `instance` must be valid and outlive the decomposition. Memory of an earlier split is used again.
  void split(const Instance& instance);

  // Blocks with at least two operators, in order.
  std::span<const Block> blocks() const { return {blocks_.data(), used_}; }

  // Puts the schedules of the blocks (one each, in order) together with the operators that stand alone, and turns ticks
  // into seconds.
  void assemble(std::span<const BlockSchedule> schedules, Schedule& schedule);

  double seconds_per_tick() const { return seconds_per_tick_; }
  // Seconds of the operators that stand alone between blocks, each in its fastest mode.
  double seconds_alone() const { return seconds_alone_; }

 private:
  struct Part {  // one operator alone, or a block
    std::uint32_t op = 0;
    std::uint32_t mode = 0;   // in the instance
    std::int64_t block = -1;  // index into blocks_
  };

  void close_order();
  void sort_and_cut();
  void add_block(std::span<const std::uint32_t> ops);
  void add_modes(Block& block, std::uint32_t op);

  const Instance* instance_ = nullptr;
  double seconds_per_tick_ = 0;
  double seconds_alone_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint32_t> fastest_mode_, topological_, sorted_, predecessors_;
  std::vector<std::uint32_t> next_, offsets_, edges_;
  std::vector<std::uint64_t> before_;
  std::vector<std::uint8_t> timeless_;
  std::vector<Part> parts_;
  std::vector<Block> blocks_;
  std::size_t used_ = 0;
  std::vector<std::uint32_t> order_;
};

}  // namespace phaze::schedule
