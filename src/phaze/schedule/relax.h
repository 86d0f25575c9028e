// A block without the resource that is least in demand.
//
// A chip has far more vector cores than a layer needs: what operators of one layer fight for is bandwidth and tensor
// cores. A block without its vector cores is a relaxation. If the best schedule of that keeps within the capacity of
// what was left out, it is the best of the block, too, and if not, its makespan is still a bound. There are fewer
// different blocks of this kind than chips: those that differ in their vector cores alone share one, and its solution
// (block_memo.h).
#pragma once

#include <optional>

#include "phaze/base/digest.h"
#include "phaze/schedule/block.h"

namespace phaze::schedule {

// The resource with the least work, if every mode demands something else as well: otherwise operators would run beside
// everything, and the relaxation would say little.
std::optional<std::size_t> least_in_demand(const Block& block);

struct Relaxed {
  Block block;
  std::vector<std::uint32_t> modes;  // of the original, per mode of the block
};

// Modes whose only merit is to demand less of `resource` go as well.
void leave_out(const Block& block, std::size_t resource, Relaxed& relaxed);

// Whether a schedule never demands more of `resource` than there is.
bool keeps_within(const Block& block, std::size_t resource, const BlockSchedule& schedule);

// Of all that the schedules of a block depend on.
Digest digest(const Block& block);

}  // namespace phaze::schedule
