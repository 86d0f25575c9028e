#include "phaze/cli/search_answer.h"

#include <algorithm>
#include <utility>

#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/search/chip_evaluator.h"
#include "phaze/sim/from_plan.h"

namespace phaze::cli {
namespace {

report::PlanAnswer plan_answer(const layer_times::Workload& workload, const hardware::Chip& chip,
                               const search::ChipSearch::Planned& planned) {
  report::PlanAnswer answer{
      .model = workload.model,
      .chip = chip.name,
      .sequence = workload.sequence,
      .flops_per_sample = workload.flops_per_sample,
      .peak_flops = chip.peak_flops(),
      .model_config = workload.config,
      .chip_file = hardware::chip_file_text(chip),
      .flash_attention = workload.options.attention == workload::AttentionKind::kFlash,
      .fuse = workload.options.fuse,
      .request = &planned.request,
      .states_per_layer = planned.states_per_layer,
      .statistics = planned.solution.statistics,
  };
  answer.study = planned.study;
  answer.plans.reserve(planned.solution.plans.size());
  for (const placement::Ranked& ranked : planned.solution.plans) {
    sim::Pipeline pipeline = sim::pipeline_of(planned.request, ranked.plan);
    sim::Run run = sim::simulate(pipeline);
    answer.plans.push_back({ranked.plan, ranked.evaluation, std::move(pipeline), std::move(run)});
  }
  return answer;
}

double peak_memory(const search::ChipSearch::Planned& planned) {
  double peak = planned.study ? planned.study->peak_memory() : 0;
  for (const placement::Ranked& ranked : planned.solution.plans) peak = std::max(peak, ranked.evaluation.peak_memory());
  return peak;
}

report::FoundChip found_chip(search::Search& search, const search::Problem& problem,
                             const std::vector<std::size_t>& models, search::Outcome outcome, PlanStore& store) {
  report::FoundChip found;
  for (const std::size_t model : models) found.models.push_back(problem.workloads[model].model);
  for (const search::Ranked& ranked : outcome.best) {
    double peak = 0;
    std::vector<double> throughputs;
    throughputs.reserve(models.size());
    for (const std::size_t model : models) {
      throughputs.push_back(search.throughput(ranked.chip, model));
      peak = std::max(peak, search.peak_memory(ranked.chip, model));
    }
    found.throughputs.push_back(std::move(throughputs));
    hardware::Chip& chip = found.chips.emplace_back(problem.chips[ranked.chip]);
    chip.hbm = search::least_hbm(problem, ranked.chip, peak);
  }
  if (!found.chips.empty()) {
    const std::size_t best = outcome.best.front().chip;
    hardware::Chip& chip = found.chips.front();
    const std::size_t first = store.size();
    double peak = 0;
    for (const std::size_t model : models)
      peak = std::max(peak, peak_memory(store.emplace_back(search.plans(best, model, 1))));
    // Plans are made for the most memory there is, and hold for the least that they fit into.
    chip.hbm = search::least_hbm(problem, best, peak);
    for (std::size_t i = 0; i < models.size(); ++i) {
      store[first + i].request.devices.memory = static_cast<double>(chip.hbm.value());
      found.plans.push_back(plan_answer(problem.workloads[models[i]], chip, store[first + i]));
    }
  }
  found.outcome = std::move(outcome);
  return found;
}

}  // namespace

Result<report::SearchAnswer> make_answer(search::Search& search, const search::Problem& problem,
                                         const SearchRequest& request, std::vector<search::Outcome> outcomes,
                                         PlanStore& store, Session& session) {
  report::SearchAnswer answer{.objective = problem.objective,
                              .mean = problem.mean,
                              .baseline = request.baseline,
                              .area_model = problem.area_model};
  std::vector<std::size_t> all;
  for (std::size_t model = 0; model < problem.workloads.size(); ++model) all.push_back(model);
  if (!outcomes.empty()) answer.common = found_chip(search, problem, all, std::move(outcomes.front()), store);
  for (std::size_t i = 1; i < outcomes.size(); ++i)
    answer.each.push_back(found_chip(search, problem, {i - 1}, std::move(outcomes[i]), store));
  if (!answer.common.chips.empty() && !interrupted()) {
    const auto space = hardware::load_space(request.space);
    if (!space) return space.error();
    search::ChipEvaluator evaluator(problem);
    answer.insight = insight::explain(*space, problem, answer.common.chips.front(), all, evaluator, session.progress);
  }
  return answer;
}

bool settled(const report::SearchAnswer& answer, std::size_t models) {
  bool all = answer.common.outcome.open == 0 && (models == 1 || answer.each.size() == models);
  for (const report::FoundChip& found : answer.each) all = all && found.outcome.open == 0;
  return all;
}

}  // namespace phaze::cli
