#include "phaze/hardware/group.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "phaze/base/units.h"

namespace phaze::hardware {
namespace {

constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

// How the groups of a kind lie in blocks of so many devices.
struct Lie {
  std::int64_t most = 1;    // devices of a group in one block
  std::int64_t fewest = 1;  // where it has any
  std::int64_t blocks = 1;  // that a group has devices in, at most
};

// One group, whose first device is `first` of its block.
Lie lie_of_one(const Group& group, std::int64_t block, std::int64_t first) {
  Lie lie;
  lie.blocks = (first + (group.size - 1) * group.stride) / block + 1;
  const std::int64_t in_first = std::min(group.size, ceil_divide(block - first, group.stride));
  if (lie.blocks == 1) return {.most = group.size, .fewest = group.size, .blocks = 1};
  const std::int64_t before_last = ceil_divide((lie.blocks - 1) * block - first, group.stride);
  const std::int64_t in_last = group.size - before_last;
  lie.most = std::max(in_first, in_last);
  lie.fewest = std::min(in_first, in_last);
  if (lie.blocks > 2) {
    lie.most = std::max(lie.most, ceil_divide(block, group.stride));
    lie.fewest = std::min(lie.fewest, block / group.stride);
  }
  return lie;
}

Lie lie_in_blocks(const Group& group, std::int64_t block) {
  if (block == kEndless) return {.most = group.size, .fewest = group.size, .blocks = 1};
  if (group.stride >= block) return {.most = 1, .fewest = 1, .blocks = group.size};
  const std::int64_t extent = saturating_multiply(group.size, group.stride);
  const std::int64_t kinds = group.devices == 0 ? 1 : std::max<std::int64_t>(1, group.devices / extent);
  // First devices repeat after so many groups. Where strides divide blocks, those of one stride lie alike.
  const std::int64_t repeats = std::min(kinds, block / std::gcd(extent, block));
  const std::int64_t beside = block % group.stride == 0 ? 1 : group.stride;
  Lie worst{.most = 1, .fewest = group.size, .blocks = 1};
  for (std::int64_t k = 0; k < repeats; ++k)
    for (std::int64_t i = 0; i < beside; ++i) {
      const Lie one = lie_of_one(group, block, (k * (extent % block) + i) % block);
      worst = {.most = std::max(worst.most, one.most),
               .fewest = std::min(worst.fewest, one.fewest),
               .blocks = std::max(worst.blocks, one.blocks)};
    }
  return worst;
}

Lie lie_at_best(const Group& group, std::int64_t block) {
  if (block == kEndless) return {.most = group.size, .fewest = group.size, .blocks = 1};
  const std::int64_t most = std::min(group.size, ceil_divide(block, group.stride));
  return {.most = most, .fewest = most, .blocks = ceil_divide(group.size, most)};
}

// Members along the sides of a torus. A stride fills the inner sides first, as device numbers do.
std::vector<std::int64_t> along_sides(const NetworkLevel& level, std::int64_t members, std::int64_t stride) {
  std::vector<std::int64_t> along;
  along.reserve(level.torus.size());
  for (const std::int64_t side : level.torus) {
    const std::int64_t skipped = std::min(stride, side);
    along.push_back(std::min(members, std::max<std::int64_t>(1, side / skipped)));
    members = ceil_divide(members, along.back());
    stride = ceil_divide(stride, skipped);
  }
  return along;
}

// Devices in an innermost block that are not idle.
std::int64_t used_of(std::int64_t block, std::int64_t whole) { return whole < block ? block - block % whole : block; }

template <typename LieIn>
std::vector<GroupLevel> levels_of(const Network& network, const Group& group, const LieIn& lie_in) {
  std::vector<GroupLevel> parts;
  std::int64_t block = 1;  // devices in a block of the level below
  Lie below{.most = 1, .fewest = 1, .blocks = group.size};
  for (const NetworkLevel& level : network.levels) {
    if (below.blocks == 1) break;
    const bool innermost = &level == &network.levels.front();
    const bool outermost = level.size == 0 || &level == &network.levels.back();
    const std::int64_t size = innermost ? used_of(level.size, group.whole) : level.size;
    const std::int64_t next = outermost ? kEndless : saturating_multiply(block, size);
    const Lie lie = lie_in(group, next);
    std::int64_t members = below.blocks;
    if (!outermost) members = std::min(members, group.stride < block ? size : ceil_divide(next, group.stride));
    if (members > 1) {
      const bool one_port = level.ports > 0 && below.most > 1 && below.most < block;
      parts.push_back(
          {.members = members,
           .fewest = lie.fewest,
           .bandwidth = level.achieved(),
           .ring_bandwidth = level.achieved() / (one_port ? static_cast<double>(level.ports) : 1),
           .latency = level.latency,
           .torus = along_sides(level, members, std::max<std::int64_t>(1, ceil_divide(group.stride, block)))});
    }
    block = next;
    below = lie;
  }
  return parts;
}

// Groups of `width` in an innermost block; 0 where blocks do not matter.
std::int64_t per_block(const Network& network, std::int64_t width) {
  if (network.levels.size() < 2) return 0;
  return network.levels.front().size / width;
}

}  // namespace

std::vector<GroupLevel> spanned(const Network& network, const Group& group) {
  return levels_of(network, group, lie_in_blocks);
}

std::vector<GroupLevel> spanned_at_best(const Network& network, const Group& group) {
  return levels_of(network, group, lie_at_best);
}

GroupLevel pair_over(const GroupLevel& level) {
  return {.members = 2,
          .fewest = 2,
          .bandwidth = level.bandwidth,
          .ring_bandwidth = level.bandwidth,
          .latency = level.latency};
}

std::int64_t groups_within(const Network& network, std::int64_t devices, std::int64_t width) {
  const std::int64_t each = per_block(network, width);
  if (each == 0) return devices / width;
  const std::int64_t block = network.levels.front().size;
  return devices / block * each + devices % block / width;
}

std::int64_t devices_for(const Network& network, std::int64_t groups, std::int64_t width) {
  const std::int64_t each = per_block(network, width);
  if (each == 0) return saturating_multiply(groups, width);
  // Of the last block, only what is used.
  const std::int64_t full = (groups - 1) / each;
  return saturating_add(saturating_multiply(full, network.levels.front().size), (groups - full * each) * width);
}

}  // namespace phaze::hardware
