#include "phaze/layer_times/study.h"

#include <algorithm>
#include <set>

#include "phaze/base/units.h"

namespace phaze::layer_times {
namespace {

namespace p2024 = placement::phaze2024;

p2024::Width width_of(const placement::LayerTable& table, double bytes_per_parameter) {
  p2024::Width width{.width = table.tensor_parallel};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const placement::LayerCost& layer = table.layer(i);
    width.nodes.push_back({.id = static_cast<std::int64_t>(i),
                           .parameter_bytes = (layer.parameters + layer.tied_parameters) * bytes_per_parameter,
                           .activation_bytes = layer.saved[0],
                           .forward_seconds = layer.forward.seconds,
                           .backward_seconds = layer.backward.seconds,
                           .tensor_parallel = table.tensor_parallel > 1});
    if (i + 1 < table.size())
      width.edges.push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(i + 1), table.cut_bytes[i]});
  }
  return width;
}

}  // namespace

std::vector<StudyCase> study_cases(const placement::Request& request) {
  std::set<std::int64_t> microbatches;
  for (const placement::LayerTable& table : request.tables) microbatches.insert(table.microbatch);
  const auto& policies = request.freedom.recompute;
  const auto allows = [&](placement::Recompute policy) {
    return policies.empty() || std::ranges::find(policies, policy) != policies.end();
  };
  std::vector<StudyCase> cases;
  for (const std::int64_t microbatch : microbatches) {
    p2024::Instance instance{
        .memory_per_device = request.devices.memory,
        .devices = request.devices.count,
        .bandwidth = request.devices.network.levels.back().achieved(),
        .microbatches = ceil_divide(request.training.global_batch, microbatch),
        .optimizer = request.training.states == placement::kSgd ? p2024::Optimizer::kSgd : p2024::Optimizer::kAdam};
    for (const placement::LayerTable& table : request.tables)
      if (table.microbatch == microbatch && !table.sequence_parallel)
        instance.widths.push_back(width_of(table, request.training.states.parameters));
    if (instance.widths.empty()) continue;
    std::ranges::sort(instance.widths, {}, &p2024::Width::width);
    for (const bool recompute : {false, true}) {
      if (!allows(recompute ? placement::Recompute::kFull : placement::Recompute::kNone)) continue;
      instance.recompute = recompute;
      cases.push_back({microbatch, instance});
    }
  }
  return cases;
}

}  // namespace phaze::layer_times
