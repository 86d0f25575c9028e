#include "phaze/search/problem.h"

#include <algorithm>

#include "phaze/cost/sunstone_table.h"

namespace phaze::search {

std::shared_ptr<const cost::SunstoneTable> sunstone_table(const Problem& problem) {
  if (problem.sunstone != nullptr) return problem.sunstone;
  const bool needed = std::ranges::any_of(problem.workloads, [](const layer_times::Workload& workload) {
    return workload.options.profile == layer_times::Profile::kPhaze2024;
  });
  return needed ? std::make_shared<const cost::SunstoneTable>(problem.chips) : nullptr;
}

Bytes least_hbm(const Problem& problem, std::size_t chip, double peak_memory) {
  if (problem.hbm.empty()) return problem.chips[chip].hbm;
  Bytes least = std::ranges::max(problem.hbm);
  for (const Bytes capacity : problem.hbm)
    if (static_cast<double>(capacity.value()) >= peak_memory && capacity < least) least = capacity;
  return least;
}

hardware::Cluster cluster_of(const Problem& problem, const hardware::Chip& chip) {
  hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
  if (!problem.hbm.empty()) cluster.chip.hbm = std::ranges::max(problem.hbm);
  return cluster;
}

std::vector<ModelProfile> profiles_of(const Problem& problem, std::uint64_t states_per_layer,
                                      const cost::SunstoneTable* sunstone) {
  const bool kernels = !problem.chips.empty() && problem.chips.front().calibration.serial;
  std::vector<ModelProfile> made;
  made.reserve(problem.workloads.size());
  for (const layer_times::Workload& workload : problem.workloads)
    made.emplace_back(workload, problem.devices, problem.network, kernels, states_per_layer, sunstone,
                      problem.schedules.get());
  return made;
}

}  // namespace phaze::search
