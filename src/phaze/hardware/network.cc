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

}  // namespace phaze::hardware
