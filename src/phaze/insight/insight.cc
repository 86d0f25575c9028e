#include "phaze/insight/insight.h"

#include <algorithm>
#include <array>
#include <variant>

#include "phaze/base/units.h"
#include "phaze/cost/vector.h"
#include "phaze/layer_schedule/layer_scheduler.h"

namespace phaze::insight {
namespace {

using workload::OpGraph;
using workload::OpId;

// Seconds of a whole chip at its peak rates that a pass is worth.
struct Work {
  double tensor = 0;
  double vector = 0;

  void add(const Work& other, double times) {
    tensor += times * other.tensor;
    vector += times * other.vector;
  }
};

Work work_of(const OpGraph& graph, const hardware::Chip& chip) {
  Work work;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const workload::Op& op = graph.op(OpId(i));
    work.tensor += real(workload::matrix_flops(op.work).value()) / chip.peak_flops();
    const auto lanes = [&](const workload::VectorWork& vector) {
      work.vector += cost::vector_compute_seconds(vector, chip, chip.vector_cores.count);
    };
    if (const auto* vector = std::get_if<workload::VectorWork>(&op.work)) lanes(*vector);
    for (const workload::VectorWork& fused : graph.fused(OpId(i))) lanes(fused);
  }
  return work;
}

// Resources in the order of layer_instance.h: tensor cores, vector cores, network, bandwidth of HBM. In the model of
// 2024 an operator on all cores holds what it does not use, too; that does not count.
Busy busy_in(const OpGraph& graph, const schedule::Instance& instance, const schedule::Schedule& schedule) {
  std::array<double, 4> held = {};
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const workload::Work& work = graph.op(OpId(i)).work;
    const bool attention = std::holds_alternative<workload::Attention>(work);
    const std::array<bool, 4> uses = {
        attention || std::holds_alternative<workload::Gemm>(work),
        attention || std::holds_alternative<workload::VectorWork>(work) || !graph.fused(OpId(i)).empty(),
        std::holds_alternative<workload::Collective>(work), true};
    const auto demand = instance.demand(schedule::OpId(i), schedule.ops[i].mode);
    for (std::size_t k = 0; k < demand.size(); ++k)
      if (uses[k])
        held[k] += demand[k] * (schedule.ops[i].finish - schedule.ops[i].start) / instance.resources[k].capacity;
  }
  for (double& share : held) share = schedule.makespan > 0 ? share / schedule.makespan : 0;
  return {.tensor = held[0], .vector = held[1], .hbm = held[3], .network = held[2]};
}

PassInsight pass_insight(const OpGraph& graph, const cost::OperatorCosts& costs,
                         layer_schedule::LayerScheduler& scheduler) {
  PassInsight pass;
  const hardware::Chip& chip = costs.chip();
  pass.seconds = scheduler.time(graph, costs).seconds;
  constexpr std::size_t kBounds = static_cast<std::size_t>(cost::Bound::kNetwork) + 1;
  std::array<double, kBounds> seconds = {};
  double sum = 0, bytes = 0, timed = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const cost::Estimate estimate = costs.of(graph, OpId(i), costs.all_cores());
    seconds[static_cast<std::size_t>(estimate.bound_by)] += estimate.seconds;
    sum += estimate.seconds;
    bytes += estimate.hbm_bytes;
    if (estimate.seconds > 0) ++timed;
  }
  const auto most = std::ranges::max_element(seconds);
  pass.bound_by = cost::to_string(static_cast<cost::Bound>(most - seconds.begin()));
  pass.bound_share = sum > 0 ? *most / sum : 0;
  if (chip.calibration.serial) {
    const double dispatch = timed * chip.calibration.dispatch_seconds;
    if (dispatch > pass.seconds) {
      pass.seconds = dispatch;
      pass.bound_by = "dispatch";
      pass.bound_share = 1;
    }
    const Work work = work_of(graph, chip);
    if (pass.seconds > 0)
      pass.busy = {.tensor = work.tensor / pass.seconds,
                   .vector = work.vector / pass.seconds,
                   .hbm = bytes / (chip.hbm_bandwidth * pass.seconds),
                   .network = seconds[static_cast<std::size_t>(cost::Bound::kNetwork)] / pass.seconds};
  } else if (!graph.empty()) {
    pass.busy = busy_in(graph, scheduler.instance(), scheduler.solution().schedule);
  }
  return pass;
}

ModelInsight model_insight(const search::Problem& problem, const hardware::Chip& chip, std::size_t model,
                           search::ChipEvaluator& evaluator) {
  const layer_times::Workload& workload = problem.workloads[model];
  ModelInsight insight{.model = workload.model};
  const auto planned = evaluator.plan(chip, model);
  if (!planned) return insight;
  const placement::LayerTable& table = planned->request.tables.front();
  const workload::LayerGraph& graph = workload.graph_of(table);
  const double seconds =
      planned->study ? planned->study->seconds() : planned->solution.plans.front().evaluation.time_per_batch;
  const double batch = real(workload.training.global_batch);
  insight.tensor_parallel = table.tensor_parallel;
  insight.microbatch = table.microbatch;
  insight.throughput = batch / seconds;
  const hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
  const cost::OperatorCosts costs(layer_times::cost_options(workload.options, cluster));
  insight.passes = passes(graph, costs, layer_times::table_options(workload).schedule, planned->states_per_layer);
  Work work;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const double repeat = real(graph.repeat(workload::LayerId(i)));
    work.add(work_of(graph.layers[i].forward, chip), repeat);
    work.add(work_of(graph.layers[i].backward, chip), repeat);
  }
  // Of one rank and microbatch; all ranks do the same, and a batch is so many microbatches over all replicas.
  const double ranks = real(table.tensor_parallel) * batch / real(table.microbatch);
  insight.tensor_utilisation = work.tensor * ranks / (seconds * real(problem.devices));
  insight.vector_utilisation = work.vector * ranks / (seconds * real(problem.devices));
  return insight;
}

}  // namespace

std::vector<PassInsight> passes(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                const layer_schedule::InstanceOptions& schedule, std::uint64_t states_per_layer) {
  std::vector<PassInsight> all;
  layer_schedule::LayerScheduler scheduler(schedule, states_per_layer);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const bool backward : {false, true}) {
      const workload::Layer& layer = graph.layers[i];
      PassInsight& pass = all.emplace_back(pass_insight(backward ? layer.backward : layer.forward, costs, scheduler));
      pass.layer = layer.name;
      pass.repeat = graph.repeat(workload::LayerId(i));
      pass.backward = backward;
    }
  return all;
}

Insight explain(const hardware::DesignSpace& space, const search::Problem& problem, const hardware::Chip& chip,
                const std::vector<std::size_t>& models, search::ChipEvaluator& evaluator, Progress& progress) {
  Insight insight{.chip = chip,
                  .score = evaluator.score(chip, models),
                  .area = hardware::area(chip, problem.area_model),
                  .largest_area = space.limits.max_area_um2.value_or(0)};
  insight.neighbours = neighbours(space, problem, chip, insight.score, models, evaluator, progress);
  for (const std::size_t model : models) insight.models.push_back(model_insight(problem, chip, model, evaluator));
  return insight;
}

}  // namespace phaze::insight
