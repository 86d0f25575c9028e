// The placement that an engineer would write down without searching, to measure searches against.
//
// For eight models the 2024 study names its experts' choice on 1,024 devices, as pipeline/data/tensor:
//
//   opt-350m 12/85/1       bert-large 8/128/1          gpt2-xl 32/32/1             llama2-7b 8/128/1
//   megatron-bert 8/128/1  megatron-gpt2-2.5b 8/32/4   megatron-gpt2-8.3b 8/16/8   gpt3-175b 32/8/4
//
// On other numbers of devices they keep their width and stages, and replicas take up what there is; on too few devices
// for one replica the stages shrink first and then the width.
//
// For any other model the rule is Megatron-LM's (Narayanan et al. 2021): tensor parallelism before pipelines, and of
// both no more than memory asks for. The width is the least power of two, up to the devices of a node (8 where the
// network is flat), with which the model fits without a pipeline; beyond that the widest, with the fewest stages that
// fit. Replicas take up the rest. To fit is to fit with the optimizer's states shared out at most (ZeRO-1).
//
// Repeated layers are split evenly over the stages (where they do not divide, stages differ by one), what stands before
// them joins the first stage, what stands behind them the last. Nothing is interleaved, and there is no sequence
// parallelism. What an expert's choice leaves open is chosen as well as it can be by the same code as for every other
// plan: microbatch, recompute per stage, ZeRO level and the order of devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/request.h"

namespace phaze::baselines {

struct ExpertPlacement {
  std::int64_t pipeline = 1;
  std::int64_t data_parallel = 1;
  std::int64_t tensor_parallel = 1;
  std::string source;  // where the choice comes from, in words
  bool operator==(const ExpertPlacement&) const = default;
};

// Where stages begin when the layers from `begin` to `end` of a chain are split evenly over them.
std::vector<std::size_t> even_cuts(std::size_t begin, std::size_t end, std::int64_t stages);

// The choice of 2024 for a model of that name; by the rule for any other. An error where nothing fits the rule.
Result<ExpertPlacement> expert_placement(const std::string& model, const hardware::Cluster& cluster,
                                         const layer_times::PlanOptions& options, Progress& progress);

// The model with nothing left free but what an expert leaves open.
Result<layer_times::Workload> expert_workload(const std::string& model, const ExpertPlacement& placement,
                                              const hardware::Cluster& cluster, layer_times::PlanOptions options,
                                              Progress& progress);

}  // namespace phaze::baselines
