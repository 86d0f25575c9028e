#include "phaze/hardware/network.h"

#include <algorithm>

#include "phaze/base/units.h"

namespace phaze::hardware {

std::int64_t Network::capacity() const {
  std::int64_t devices = 1;
  for (const NetworkLevel& level : levels) {
    if (level.size == 0) return 0;
    devices = saturating_multiply(devices, level.size);
  }
  return devices;
}

double Network::link_bandwidth() const {
  double sum = 0;
  for (const NetworkLevel& level : levels)
    sum += level.bandwidth * 2 * static_cast<double>(std::max<std::size_t>(1, 2 * level.torus.size()));
  return sum;
}

std::vector<GroupLevel> spanned(const Network& network, const Group& group) {
  std::vector<GroupLevel> parts;
  std::int64_t left = group.size;      // blocks still to be joined
  std::int64_t stride = group.stride;  // between them, in blocks of the level at hand
  std::int64_t block = 1;              // devices in a block of the level below
  std::int64_t inside = 1;             // of them in the group
  for (const NetworkLevel& level : network.levels) {
    if (left == 1) break;
    const bool outermost = &level == &network.levels.back();
    // Members of the group in one block of this level.
    const std::int64_t here =
        level.size == 0 || outermost ? left : std::min(left, std::max<std::int64_t>(1, level.size / stride));
    if (here > 1) {
      const bool one_port = level.ports > 0 && inside > 1 && inside < block;
      GroupLevel part{.members = here,
                      .bandwidth = level.achieved(),
                      .ring_bandwidth = level.achieved() / (one_port ? static_cast<double>(level.ports) : 1),
                      .latency = level.latency};
      std::int64_t to_place = here;
      std::int64_t inner = stride;
      for (const std::int64_t side : level.torus) {
        // A stride fills the inner sides first, as device numbers do.
        const std::int64_t skipped = std::min(inner, side);
        const std::int64_t along = std::min(to_place, std::max<std::int64_t>(1, side / skipped));
        part.torus.push_back(along);
        to_place = ceil_divide(to_place, along);
        inner = ceil_divide(inner, skipped);
      }
      parts.push_back(std::move(part));
    }
    left = ceil_divide(left, here);
    inside *= here;
    block = saturating_multiply(block, level.size);
    if (level.size > 0) stride = ceil_divide(stride, level.size);
  }
  return parts;
}

}  // namespace phaze::hardware
