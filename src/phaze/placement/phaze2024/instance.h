// The placement problem of the 2024 study as data: layers with times and bytes for each tensor-parallel width, and the
// devices to put them on.
//
//   Instance instance = {.memory_per_device = 80e9, .devices = 64, .bandwidth = 25e9, .microbatches = 512, ...};
//   if (const Status valid = validate(instance); !valid) return valid.error();
//   const Solution solution = solve(instance);                       // solve.h
//   const Evaluation checked = evaluate(instance, *solution.plan);    // evaluate.h
//
// Sizes are bytes, times seconds, bandwidth bytes per second. They are real numbers because the files of the released
// tool hold such.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "phaze/base/result.h"

namespace phaze::placement::phaze2024 {

struct Node {
  std::int64_t id = 0;  // any number; the same layers have the same ids at all widths
  double parameter_bytes = 0;
  double activation_bytes = 0;
  double forward_seconds = 0;
  double backward_seconds = 0;
  bool tensor_parallel = false;  // runs on as many devices as the width says, otherwise on one

  bool operator==(const Node&) const = default;
};

struct Edge {
  std::int64_t source = 0;
  std::int64_t target = 0;
  double bytes = 0;

  bool operator==(const Edge&) const = default;
};

// The layers as they are when each tensor-parallel layer is split over `width` devices.
struct Width {
  std::int64_t width = 1;
  std::vector<Node> nodes;
  std::vector<Edge> edges;

  bool operator==(const Width&) const = default;
};

enum class Optimizer : std::uint8_t { kSgd, kAdam };

// A plan that a person proposes, to be evaluated beside the optimum; see expert.h.
struct ExpertChoice {
  std::int64_t pipeline = 1;
  std::int64_t tensor_parallel = 1;
  std::int64_t data_parallel = 1;
  std::int64_t transformer_layers = 1;

  bool operator==(const ExpertChoice&) const = default;
};

struct Instance {
  double memory_per_device = 0;
  std::int64_t devices = 1;
  double bandwidth = 1;
  std::int64_t microbatches = 1;  // in a global batch
  bool recompute = false;         // all stages but the last recompute their activations
  Optimizer optimizer = Optimizer::kSgd;
  std::vector<Width> widths;  // by ascending width
  std::optional<ExpertChoice> expert;

  bool operator==(const Instance&) const = default;
};

struct Stage {
  std::vector<std::int64_t> nodes;  // ids, in topological order
  std::int64_t devices = 1;

  bool operator==(const Stage&) const = default;
};

struct Plan {
  std::int64_t tensor_parallel = 1;
  std::int64_t data_parallel = 1;
  std::vector<Stage> stages;  // in the order of the pipeline

  bool operator==(const Plan&) const = default;
};

// Bounds on counts, so that products of them stay exact.
inline constexpr std::int64_t kLargestCount = std::int64_t{1} << 31;

// Whether the instance is one: sizes are finite and not negative, ids are unique and the same at all widths, edges join
// known ids without a cycle. Places are those of the file format (instance_file.h).
Status validate(const Instance& instance);

}  // namespace phaze::placement::phaze2024
