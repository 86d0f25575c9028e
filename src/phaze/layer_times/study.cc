#include "phaze/layer_times/study.h"

#include <algorithm>
#include <set>
#include <utility>

#include "phaze/base/check.h"
#include "phaze/base/units.h"
#include "phaze/placement/phaze2024/solve.h"

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

// The plan that a request fixes, at one width.
p2024::Plan fixed_plan(const p2024::Width& width, const placement::Freedom& freedom) {
  p2024::Plan plan{.tensor_parallel = width.width, .data_parallel = freedom.data_parallel};
  std::size_t begin = 0;
  const auto stage = [&](std::size_t end) {
    p2024::Stage& made = plan.stages.emplace_back(p2024::Stage{.devices = width.width});
    for (; begin < end; ++begin) made.nodes.push_back(width.nodes[begin].id);
  };
  for (const std::size_t cut : freedom.cuts) stage(cut);
  stage(width.nodes.size());
  return plan;
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

double StudyPlan::peak_memory() const {
  double peak = 0;
  for (const p2024::StageEvaluation& stage : evaluation.stages) peak = std::max(peak, stage.memory_bytes);
  return peak;
}

std::optional<StudyPlan> best_study_plan(const placement::Request& request, double below) {
  const placement::Freedom& freedom = request.freedom;
  const bool fixed = freedom.pipeline > 0;
  check(!fixed || (freedom.data_parallel > 0 && std::cmp_equal(freedom.cuts.size() + 1, freedom.pipeline)),
        "a plan of 2024 is fixed as a whole or not at all");
  std::optional<StudyPlan> best;
  const auto offer = [&](const StudyCase& one, p2024::Plan plan, p2024::Evaluation evaluation) {
    if (!evaluation.violations.empty() || evaluation.time_per_batch >= below) return;
    below = evaluation.time_per_batch;
    best = StudyPlan{one, std::move(plan), std::move(evaluation)};
  };
  for (const StudyCase& one : study_cases(request)) {
    if (fixed) {
      for (const p2024::Width& width : one.instance.widths) {
        p2024::Plan plan = fixed_plan(width, freedom);
        p2024::Evaluation evaluation = p2024::evaluate(one.instance, plan);
        offer(one, std::move(plan), std::move(evaluation));
      }
      continue;
    }
    NoProgress silent;
    p2024::Solution solution = p2024::solve(one.instance, {.explain = false, .expert = false, .below = below}, silent);
    if (solution.plan) offer(one, std::move(*solution.plan), std::move(solution.evaluation));
  }
  return best;
}

}  // namespace phaze::layer_times
