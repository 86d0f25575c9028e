#include "phaze/layer_times/request.h"

#include <algorithm>
#include <optional>

#include "phaze/cost/op_cost.h"
#include "phaze/layer_times/layer_times.h"
#include "phaze/workload/load.h"

namespace phaze::layer_times {
namespace {

using cost::Optimizer;

placement::StateBytes states(const PlanOptions& options) {
  switch (options.optimizer) {
    case Optimizer::kSgd: return placement::kSgd;
    case Optimizer::kAdam: return placement::kAdam;
    case Optimizer::kAdamMixed: break;
  }
  return options.narrow_gradients ? placement::kAdamMixedNarrow : placement::kAdamMixed;
}

// A product that adds to a 32-bit gradient reads and writes four bytes where it would write two; to a 16-bit one it
// reads two more.
double accumulation_bytes(const placement::StateBytes& states) { return 2 * states.gradients - 2; }

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = 1; value <= most; value *= 2) values.push_back(value);
  return values;
}

std::int64_t widest(const hardware::Cluster& cluster) {
  constexpr std::int64_t kMostWidth = 64;
  const hardware::NetworkLevel& inner = cluster.network.levels.front();
  const std::int64_t block = inner.size == 0 ? kMostWidth : std::min(inner.size, kMostWidth);
  return std::min(block, cluster.devices);
}

}  // namespace

Result<PlanProblem> make_problem(const std::string& model, const hardware::Cluster& cluster, const PlanOptions& options,
                                 cost::Memo& memo, Progress& progress) {
  const cost::OperatorCosts costs({.chip = cluster.chip, .network = cluster.network, .fused_softmax = options.fuse},
                                  &memo);
  PlanProblem problem;
  placement::Request& request = problem.request;
  request.training = {
      .global_batch = options.global_batch, .states = states(options), .overlap_gradients = options.overlap_gradients};
  request.freedom = options.freedom;
  constexpr double kMany = 1e9;  // a step's fixed part vanishes per parameter
  request.devices = {
      .count = cluster.devices,
      .memory = static_cast<double>(cluster.chip.hbm.value()),
      .network = cluster.network,
      .step_seconds_per_parameter = cost::optimizer_step_cost(kMany, options.optimizer, cluster.chip).seconds / kMany};

  const bool given_width = !options.widths.empty();
  const auto widths = given_width ? options.widths : powers_of_two(widest(cluster));
  auto microbatches = options.microbatches;
  if (microbatches.empty()) microbatches = powers_of_two(std::min(kMostMicrobatch, options.global_batch));
  std::optional<Error> refusal;
  for (const std::int64_t width : widths) {
    for (const std::int64_t microbatch : microbatches) {
      for (const bool sequence_parallel : {false, true}) {
        if (sequence_parallel && (width == 1 || options.sequence_parallel == SequenceParallel::kOff)) continue;
        if (sequence_parallel && given_width && options.sequence_parallel == SequenceParallel::kAuto) continue;
        if (!sequence_parallel && width > 1 && options.sequence_parallel == SequenceParallel::kOn) continue;
        const auto graph = workload::load_model(model,
                                                {.sequence = options.sequence,
                                                 .microbatch = microbatch,
                                                 .parallel = {.width = width, .sequence = sequence_parallel},
                                                 .attention = options.attention,
                                                 .fuse = options.fuse},
                                                progress);
        if (!graph) {
          // A width or microbatch of our own choosing may not suit the model; what was asked for must.
          if (!refusal) refusal = graph.error();
          if (given_width && !options.microbatches.empty()) return *refusal;
          continue;
        }
        if (request.tables.empty()) {
          problem.model = graph->model;
          problem.sequence = graph->sequence;
          problem.parameters = static_cast<double>(graph->parameters);
          const workload::ModelFlops flops = workload::model_flops(*graph);
          problem.flops_per_sample =
              static_cast<double>((flops.forward + flops.backward).value()) / static_cast<double>(graph->microbatch);
          problem.warnings = graph->warnings;
        }
        request.tables.push_back(
            layer_table(*graph, costs, {.accumulation_bytes = accumulation_bytes(request.training.states)}));
      }
    }
  }
  if (request.tables.empty()) return *refusal;
  if (const Status valid = placement::validate(request); !valid) return valid.error();
  return problem;
}

}  // namespace phaze::layer_times
