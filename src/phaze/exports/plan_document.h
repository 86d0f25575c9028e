// A plan as 'phaze place --json' and '--plan' write it, read back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/hardware/chip.h"
#include "phaze/hardware/network.h"
#include "phaze/placement/plan.h"
#include "phaze/workload/transformer/build.h"
#include "phaze/workload/transformer/config.h"

namespace phaze::exports {

struct PlanDocument {
  std::string model;
  std::string chip_name;
  std::optional<workload::TransformerConfig> config;  // none: the model came from an ONNX file
  std::optional<hardware::Chip> chip;
  std::vector<std::string> layers;  // the name of each node, in order

  std::int64_t pipeline = 1;
  std::int64_t tensor_parallel = 1;
  std::int64_t data_parallel = 1;
  std::int64_t interleave = 1;
  std::int64_t microbatch = 1;
  std::int64_t microbatches = 1;
  std::int64_t zero = 0;
  bool sequence_parallel = false;
  bool data_inside = true;  // replicas of a stage are nearer to each other than the stages of a pipeline
  std::vector<placement::Stage> stages;

  std::int64_t global_batch = 1;
  std::int64_t sequence = 1;
  bool flash_attention = false;
  // How the layers were built and timed; where a file does not say, as `phaze place` does it unless asked otherwise.
  bool fuse = true;
  std::int64_t states_per_layer = 20'000;
  bool overlap_gradients = true;
  double gradient_bytes = 4;
  double optimizer_bytes = 12;
  hardware::Network network;

  // How the model's layers were built.
  workload::WorkloadOptions workload() const;
  std::int64_t devices() const { return pipeline * tensor_parallel * data_parallel; }
  // The cuts of the model in the order of its layers: chunk k of stage s is part k·pipeline + s.
  std::vector<placement::Range> parts() const;
};

// Errors name the key. An infeasible plan is an error here: there is nothing to export. So is one whose model cannot be
// built as the plan says.
Result<PlanDocument> read_plan(const std::string& text);

// For tools that recompute alike in all stages: the policy that saves most memory, with which every stage fits as
// planned.
struct CommonRecompute {
  placement::Recompute policy = placement::Recompute::kNone;
  bool mixed = false;  // the plan chooses per stage
};
CommonRecompute common_recompute(const PlanDocument& plan);

}  // namespace phaze::exports
