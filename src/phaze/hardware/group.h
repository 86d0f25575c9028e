// Groups of devices that communicate, and the levels of a network that they span.
//
// Devices are numbered from the inside out, so that neighbours share the innermost level. A group has `size` of them
// whose numbers are `stride` apart, and is one of many that share all devices out: those at i + j·stride +
// k·size·stride, for every i below the stride and every k. Where sizes and strides fit the blocks of the network, all
// groups of a kind are alike. Where they do not, nine replicas in nodes of eight, say, some are worse off: a group may
// have a single device in some node, through whose link goes all that the node needs. All wait for the slowest, so that
// is the group meant here.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/hardware/network.h"

namespace phaze::hardware {

struct Group {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t devices = 0;  // in all groups of the kind; 0: there is only the first, and those beside it
  // So many neighbours, a tensor-parallel group, stay in one innermost block where they can: what is left of it is
  // idle.
  std::int64_t whole = 1;
  bool operator==(const Group&) const = default;
};

// The part of a group that one level joins.
//
// Ports: a collective that has a whole block below uses all its ports, and one that has a single device there uses the
// port next to it. One that has some of a block's devices, as the replicas of a stage do where tensor parallelism fills
// half a node, runs as a ring that enters and leaves the block by one port; its sister groups on the block, of which it
// knows nothing, take the same one. Then `ring_bandwidth` is that port's rate, divided over all devices of the block:
// the block's share over the ports. Measured on nodes with four ports (docs/validation.md); messages between two
// devices are not concerned.
struct GroupLevel {
  std::int64_t members = 1;   // blocks of the level below that have devices of the group, at most
  std::int64_t fewest = 1;    // devices of the group in a block of this level, where it has any; at the end all
  double bandwidth = 0;       // achieved, per device
  double ring_bandwidth = 0;  // of it, what a collective gets
  double latency = 0;
  std::vector<std::int64_t> torus = {};  // members along each side
  bool operator==(const GroupLevel&) const = default;
};

// The levels that a group spans, the innermost first.
std::vector<GroupLevel> spanned(const Network& network, const Group& group);

// Those of a group that fills blocks as well as any of its size could: a collective among these takes no longer than
// among as many devices or more of the same stride, however they lie (in a network without a torus).
std::vector<GroupLevel> spanned_at_best(const Network& network, const Group& group);

// Two devices that only this level joins, such as the ends of a pipeline over the last level that it spans.
GroupLevel pair_over(const GroupLevel& level);

// How many groups of `width` neighbours find room, none of them torn apart that fits into an innermost block, and how
// many devices hold so many groups.
std::int64_t groups_within(const Network& network, std::int64_t devices, std::int64_t width);
std::int64_t devices_for(const Network& network, std::int64_t groups, std::int64_t width);

}  // namespace phaze::hardware
