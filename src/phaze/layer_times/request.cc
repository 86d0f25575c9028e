#include "phaze/layer_times/request.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "phaze/base/in_parallel.h"
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

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> values;
  for (std::int64_t value = 1; value <= most; value *= 2) values.push_back(value);
  return values;
}

std::int64_t widest(std::int64_t devices, const hardware::Network& network) {
  constexpr std::int64_t kMostWidth = 64;
  const hardware::NetworkLevel& inner = network.levels.front();
  const std::int64_t block = inner.size == 0 ? kMostWidth : std::min(inner.size, kMostWidth);
  return std::min(block, devices);
}

// Graphs are handed out one by one to as many threads as there are cores: schedules of large layers take long, and a
// table depends on nothing but its graph.
Result<std::vector<placement::LayerTable>> priced(const std::vector<workload::LayerGraph>& graphs,
                                                  const cost::OperatorCosts& costs, const TableOptions& options,
                                                  Progress& progress) {
  std::vector<placement::LayerTable> tables(graphs.size());
  std::mutex mutex;  // of what follows, and of the progress, which knows of one thread
  std::int64_t begun = 0;
  bool stopped = false;
  const auto go_on = [&] {
    const std::lock_guard lock(mutex);
    if (!progress.advance("layers", begun++, static_cast<std::int64_t>(graphs.size()))) stopped = true;
    return !stopped;
  };
  in_parallel(0, graphs.size(), [&](std::size_t i) {
    if (go_on()) tables[i] = layer_table(graphs[i], costs, options);
  });
  if (stopped) return Error{"stopped"};
  return tables;
}

}  // namespace

// A product that adds to a 32-bit gradient reads and writes four bytes where it would write two; to a 16-bit one it
// reads two more.
double accumulation_bytes(const placement::StateBytes& states) { return 2 * states.gradients - 2; }

const workload::LayerGraph& Workload::graph_of(const placement::LayerTable& table) const {
  const auto found = std::ranges::find_if(graphs, [&](const workload::LayerGraph& graph) {
    return graph.parallel.width == table.tensor_parallel && graph.microbatch == table.microbatch &&
           graph.parallel.sequence == table.sequence_parallel;
  });
  check(found != graphs.end(), "a table is of a graph of its workload");
  return *found;
}

Result<Workload> load_workload(const std::string& model, std::int64_t devices, const hardware::Network& network,
                               const PlanOptions& options, Progress& progress) {
  Workload loaded{.training = {.global_batch = options.global_batch,
                               .states = states(options),
                               .overlap_gradients = options.overlap_gradients},
                  .options = options};
  const bool given_width = !options.widths.empty();
  const auto widths = given_width ? options.widths : powers_of_two(widest(devices, network));
  auto microbatches = options.microbatches;
  if (microbatches.empty()) microbatches = powers_of_two(std::min(kMostMicrobatch, options.global_batch));
  std::optional<Error> refusal;
  for (const std::int64_t width : widths) {
    const std::size_t before = loaded.graphs.size();
    std::optional<Error> of_width;
    for (const std::int64_t microbatch : microbatches) {
      for (const bool sequence_parallel : {false, true}) {
        if (sequence_parallel && (width == 1 || options.sequence_parallel == SequenceParallel::kOff)) continue;
        if (sequence_parallel && given_width && options.sequence_parallel == SequenceParallel::kAuto) continue;
        if (!sequence_parallel && width > 1 && options.sequence_parallel == SequenceParallel::kOn) continue;
        auto graph = workload::load_model(model,
                                          {.sequence = options.sequence,
                                           .microbatch = microbatch,
                                           .parallel = {.width = width, .sequence = sequence_parallel},
                                           .attention = options.attention,
                                           .fuse = options.fuse},
                                          progress);
        if (!graph) {
          // A width or microbatch of our own choosing may not suit the model; what was asked for must.
          if (given_width && !options.microbatches.empty()) return graph.error();
          if (!of_width) of_width = graph.error();
          continue;
        }
        if (loaded.graphs.empty()) {
          loaded.model = graph->model;
          loaded.sequence = graph->sequence;
          loaded.parameters = static_cast<double>(graph->parameters);
          loaded.flops_per_sample = workload::useful_flops(*graph) / static_cast<double>(graph->microbatch);
          loaded.warnings = graph->warnings;
          loaded.config = workload::published_config(model);
        }
        loaded.graphs.push_back(std::move(*graph));
      }
    }
    if (given_width && of_width && loaded.graphs.size() == before) return *of_width;
    if (!refusal) refusal = of_width;
  }
  if (loaded.graphs.empty()) return *refusal;
  return loaded;
}

cost::CostOptions cost_options(const PlanOptions& options, const hardware::Cluster& cluster,
                               const cost::SunstoneTable* sunstone) {
  const bool study = options.profile == Profile::kPhaze2024;
  return {.chip = cluster.chip,
          .network = cluster.network,
          .gemm_model = study ? cost::GemmModel::kSunstone : cost::GemmModel::kPhysical,
          .sunstone = sunstone,
          .fused_softmax = options.fuse,
          .under_load = true};
}

TableOptions table_options(const Workload& workload) {
  const bool study = workload.options.profile == Profile::kPhaze2024;
  return {
      .accumulation_bytes = accumulation_bytes(workload.training.states),
      .schedule = {.model = study ? layer_schedule::ScheduleModel::kPhaze : layer_schedule::ScheduleModel::kMoldable},
      .communication = workload.options.communication};
}

placement::Request empty_request(const Workload& workload, const hardware::Cluster& cluster) {
  constexpr double kMany = 1e9;  // a step's fixed part vanishes per parameter
  const double step = cost::optimizer_step_cost(kMany, workload.options.optimizer, cluster.chip).seconds / kMany;
  return {.devices = {.count = cluster.devices,
                      .memory = static_cast<double>(cluster.chip.hbm.value()),
                      .network = cluster.network,
                      .step_seconds_per_parameter = step},
          .training = workload.training,
          .freedom = workload.options.freedom};
}

Result<PlanProblem> make_problem(const std::string& model, const hardware::Cluster& cluster, const PlanOptions& options,
                                 cost::Memo& memo, Progress& progress) {
  auto loaded = load_workload(model, cluster.devices, cluster.network, options, progress);
  if (!loaded) return loaded.error();
  const cost::OperatorCosts costs(cost_options(options, cluster), &memo);
  PlanProblem problem{.request = empty_request(*loaded, cluster),
                      .model = loaded->model,
                      .sequence = loaded->sequence,
                      .parameters = loaded->parameters,
                      .flops_per_sample = loaded->flops_per_sample,
                      .config = loaded->config,
                      .warnings = loaded->warnings};
  auto tables = priced(loaded->graphs, costs, table_options(*loaded), progress);
  if (!tables) return tables.error();
  problem.request.tables = std::move(*tables);
  if (const Status valid = placement::validate(problem.request); !valid) return valid.error();
  return problem;
}

}  // namespace phaze::layer_times
