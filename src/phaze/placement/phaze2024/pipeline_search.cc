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

double Work::least_load(std::size_t s, std::size_t single) const {
  const auto least = [&](const Sum& sum, std::size_t shares) {
    const double all = (sum.total + cuts[s - 1]) / static_cast<double>(shares);
    if (single == 0 || single >= shares) return all;
    return std::max(all, (sum.total - static_cast<double>(single) * sum.single) / static_cast<double>(shares - single));
  };
  double bound = std::max(plain.heaviest, least(plain, s));
  if (recompute && s > 1) bound = std::max(bound, least(recomputing, s + 1));
  return bound * (1 - kRounding);
}

std::int64_t Work::fewest_devices(std::size_t s) const {
  return width * static_cast<std::int64_t>(s) - (width - 1) * static_cast<std::int64_t>(most_single[s]);
}

std::size_t Work::needed_single(std::size_t s, const Degree& degree) const {
  const std::int64_t lacking = width * static_cast<std::int64_t>(s) - degree.devices;
  return lacking <= 0 ? 0 : static_cast<std::size_t>((lacking + width - 2) / (width - 1));
}

Bounds::Bounds(const Work& work, std::span<const Degree> degrees) {
  while (most_stages < work.nodes && work.fewest_devices(most_stages + 1) <= degrees.front().devices) ++most_stages;
  usable.assign(most_stages + 2, 0);
  for (std::vector<double>* values : {&slots, &slots_from, &time_from}) values->assign(most_stages + 2, kInfinite);
  std::size_t count = degrees.size();
  for (std::size_t s = 1; s <= most_stages; ++s) {
    while (degrees[count - 1].devices < work.fewest_devices(s)) --count;
    usable[s] = count;
    slots[s] = degrees[count - 1].rounds + static_cast<double>(s) - 1;
  }
  for (std::size_t s = most_stages; s >= 1; --s) {
    slots_from[s] = std::min(slots_from[s + 1], slots[s]);
    time_from[s] = std::min(time_from[s + 1], work.least_load(s, 0) * slots[s]);
  }
}

}  // namespace phaze::placement::phaze2024
