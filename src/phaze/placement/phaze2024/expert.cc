#include "phaze/placement/phaze2024/expert.h"

#include <fmt/format.h>

#include <algorithm>

#include "phaze/base/units.h"
#include "phaze/placement/phaze2024/evaluate.h"

namespace phaze::placement::phaze2024 {

std::optional<ExpertResult> evaluate_expert(const Instance& instance, const std::vector<std::int64_t>& order) {
  if (!instance.expert) return std::nullopt;
  const ExpertChoice& choice = *instance.expert;
  ExpertResult result;
  const auto layers = static_cast<std::int64_t>(order.size());
  if (choice.transformer_layers > layers) {
    result.reason =
        fmt::format("numTransformerLayers is {} and there are {} layers", choice.transformer_layers, layers);
    return result;
  }
  if (choice.pipeline > layers) {
    result.reason = fmt::format("{} stages are more than the {} layers", choice.pipeline, layers);
    return result;
  }
  if (std::ranges::find(instance.widths, choice.tensor_parallel, &Width::width) == instance.widths.end()) {
    result.reason = fmt::format("there is no tensor-parallel width {}", choice.tensor_parallel);
    return result;
  }
  Plan plan{.tensor_parallel = choice.tensor_parallel, .data_parallel = choice.data_parallel};
  plan.stages.resize(static_cast<std::size_t>(choice.pipeline), {.devices = choice.tensor_parallel});
  const std::int64_t piece = ceil_divide(choice.transformer_layers, choice.pipeline);
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::int64_t stage = i < choice.transformer_layers ? i / piece : choice.pipeline - 1;
    plan.stages[static_cast<std::size_t>(stage)].nodes.push_back(order[static_cast<std::size_t>(i)]);
  }
  const Evaluation evaluation = evaluate(instance, plan);
  if (evaluation.violations.empty())
    result.time_per_batch = evaluation.time_per_batch;
  else
    result.reason = evaluation.violations.front();
  result.plan = std::move(plan);
  return result;
}

}  // namespace phaze::placement::phaze2024
