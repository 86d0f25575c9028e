#include "phaze/placement/phaze2024/pipeline_search.h"

namespace phaze::placement::phaze2024 {

std::vector<Degree> data_parallel_degrees(const Instance& instance) {
  std::vector<Degree> degrees;
  const std::int64_t batch = instance.microbatches;
  for (std::int64_t d = 1; d <= std::min(instance.devices, batch);) {
    const std::int64_t rounds = (batch + d - 1) / d;
    degrees.push_back({.data_parallel = d,
                       .devices = instance.devices / d,
                       .rounds = static_cast<double>(rounds),
                       .reduce = 4 * static_cast<double>(d - 1) / instance.bandwidth / static_cast<double>(d)});
    if (rounds == 1) break;
    d = (batch + rounds - 2) / (rounds - 1);  // the least d with fewer rounds
  }
  return degrees;
}

}  // namespace phaze::placement::phaze2024
