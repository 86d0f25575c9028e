#include "phaze/baselines/expert.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "phaze/hardware/group.h"
#include "phaze/layer_times/layer_times.h"
#include "phaze/placement/partition.h"
#include "phaze/placement/solve.h"

namespace phaze::baselines {
namespace {

struct Choice {
  std::string_view model;
  std::int64_t pipeline, data_parallel, tensor_parallel;
};
constexpr std::int64_t kStudyDevices = 1024;
constexpr std::array<Choice, 8> kStudy = {{{"opt-350m", 12, 85, 1},
                                           {"bert-large", 8, 128, 1},
                                           {"gpt2-xl", 32, 32, 1},
                                           {"llama2-7b", 8, 128, 1},
                                           {"megatron-bert", 8, 128, 1},
                                           {"megatron-gpt2-2.5b", 8, 32, 4},
                                           {"megatron-gpt2-8.3b", 8, 16, 8},
                                           {"gpt3-175b", 32, 8, 4}}};

std::int64_t groups_of(const hardware::Cluster& cluster, std::int64_t width) {
  return hardware::groups_within(cluster.network, cluster.devices, width);
}

// As many replicas as there are devices and samples for.
std::int64_t replicas(std::int64_t stages, std::int64_t width, const hardware::Cluster& cluster, std::int64_t batch) {
  return std::max<std::int64_t>(1, std::min(groups_of(cluster, width) / stages, batch));
}

ExpertPlacement scaled(const Choice& choice, const hardware::Cluster& cluster, std::int64_t batch) {
  ExpertPlacement placement{.pipeline = choice.pipeline, .tensor_parallel = choice.tensor_parallel};
  while (placement.tensor_parallel > cluster.devices) placement.tensor_parallel /= 2;
  placement.pipeline = std::min(placement.pipeline, groups_of(cluster, placement.tensor_parallel));
  placement.data_parallel = replicas(placement.pipeline, placement.tensor_parallel, cluster, batch);
  const bool as_published = placement.pipeline == choice.pipeline && placement.data_parallel == choice.data_parallel &&
                            placement.tensor_parallel == choice.tensor_parallel;
  placement.source = as_published ? "2024 study"
                                  : "2024 study, scaled from " + std::to_string(kStudyDevices) + " to " +
                                        std::to_string(cluster.devices) + " devices";
  return placement;
}

// By the rule, trying sizes from the smallest up.
class Rule {
 public:
  Rule(const std::string& model, const hardware::Cluster& cluster, const layer_times::PlanOptions& options,
       Progress& progress)
      : model_(model), cluster_(cluster), options_(options), progress_(progress) {}

  Result<ExpertPlacement> run() {
    std::optional<std::int64_t> widest;
    for (std::int64_t width = 1; width <= node(); width *= 2) {
      const Result<bool> fits = try_size(1, width);
      if (!fits) {
        if (width == 1) return fits.error();
        break;  // heads do not divide further
      }
      if (*fits) return placement(1, width);
      widest = width;
    }
    for (std::int64_t stages = 2; stages <= layers_ && stages <= groups_of(cluster_, *widest); ++stages) {
      const Result<bool> fits = try_size(stages, *widest);
      if (!fits) return fits.error();
      if (*fits) return placement(stages, *widest);
    }
    return Error{"no width and pipeline of the expert's rule fit the memory of " + std::to_string(cluster_.devices) +
                 " devices"};
  }

 private:
  std::int64_t node() const {
    constexpr std::int64_t kUsualNode = 8;
    const std::int64_t inner = cluster_.network.levels.front().size;
    const std::int64_t joined = inner > 0 ? inner : kUsualNode;
    return std::min(joined, cluster_.devices);
  }

  ExpertPlacement placement(std::int64_t stages, std::int64_t width) const {
    return {.pipeline = stages,
            .data_parallel = replicas(stages, width, cluster_, options_.global_batch),
            .tensor_parallel = width,
            .source = "rule: tensor parallelism in a node before pipelines, as little as fits"};
  }

  // Whether anything fits does not depend on how long layers take.
  Result<bool> try_size(std::int64_t stages, std::int64_t width) {
    auto workload = expert_workload(model_, placement(stages, width), cluster_, options_, progress_);
    if (!workload) return workload.error();
    placement::Request request = layer_times::empty_request(*workload, cluster_);
    // Megatron-LM shares out the states of its optimizer, not parameters or gradients.
    if (request.freedom.zero.empty()) request.freedom.zero = {0, 1};
    for (const workload::LayerGraph& graph : workload->graphs)
      request.tables.push_back(layer_times::LayerPricer(graph).untimed());
    const auto [begin, end] = placement::repeated_layers(request.tables.front());
    layers_ = static_cast<std::int64_t>(end - begin);
    return placement::has_plan(request);
  }

  const std::string& model_;
  const hardware::Cluster& cluster_;
  const layer_times::PlanOptions& options_;
  Progress& progress_;
  std::int64_t layers_ = 0;
};

}  // namespace

std::vector<std::size_t> even_cuts(std::size_t begin, std::size_t end, std::int64_t stages) {
  std::vector<std::size_t> cuts;
  const auto count = static_cast<std::size_t>(stages);
  for (std::size_t stage = 1; stage < count; ++stage) cuts.push_back(begin + (end - begin) * stage / count);
  return cuts;
}

Result<ExpertPlacement> expert_placement(const std::string& model, const hardware::Cluster& cluster,
                                         const layer_times::PlanOptions& options, Progress& progress) {
  const auto* known = std::ranges::find(kStudy, std::string_view(model), &Choice::model);
  if (known != kStudy.end()) return scaled(*known, cluster, options.global_batch);
  return Rule(model, cluster, options, progress).run();
}

Result<layer_times::Workload> expert_workload(const std::string& model, const ExpertPlacement& placement,
                                              const hardware::Cluster& cluster, layer_times::PlanOptions options,
                                              Progress& progress) {
  options.widths = {placement.tensor_parallel};
  options.sequence_parallel = layer_times::SequenceParallel::kOff;
  options.freedom.pipeline = placement.pipeline;
  options.freedom.data_parallel = placement.data_parallel;
  options.freedom.interleave = {1};
  auto workload = layer_times::load_workload(model, cluster.devices, cluster.network, options, progress);
  if (!workload) return workload.error();
  const layer_times::LayerPricer pricer(workload->graphs.front());
  const auto [begin, end] = placement::repeated_layers(pricer.untimed());
  if (placement.pipeline > static_cast<std::int64_t>(end - begin) && placement.pipeline > 1)
    return Error{std::to_string(placement.pipeline) + " stages are more than the " + std::to_string(end - begin) +
                 " repeated layers of " + workload->model};
  workload->options.freedom.cuts = even_cuts(begin, end, placement.pipeline);
  return workload;
}

}  // namespace phaze::baselines
