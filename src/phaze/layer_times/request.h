// From a model, a cluster and training options to the placement problem: tables for all widths and microbatches that
// are to be tried.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/cost/memo.h"
#include "phaze/cost/op_cost.h"
#include "phaze/cost/optimizer.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/layer_times.h"
#include "phaze/placement/training.h"
#include "phaze/schedule/solve.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::layer_times {

// Which models of cost, schedule and placement go together.
enum class Profile : std::uint8_t {
  kPhysical,   // products by their best mapping on the chip, schedules over any number of cores, placement/plan.h
  kPhaze2024,  // products as Sunstone prices them, one core or all, placement/phaze2024
};

enum class SequenceParallel : std::uint8_t {
  kAuto,  // both are tried where the width is searched; off where it is given
  kOn,
  kOff,
};

struct PlanOptions {
  Profile profile = Profile::kPhysical;
  std::int64_t sequence = 0;  // 0: the model's own
  workload::AttentionKind attention = workload::AttentionKind::kEager;
  bool fuse = true;
  std::vector<std::int64_t> widths = {};        // empty: powers of two inside the innermost level of the network
  std::vector<std::int64_t> microbatches = {};  // empty: powers of two up to kMostMicrobatch
  SequenceParallel sequence_parallel = SequenceParallel::kAuto;
  cost::Optimizer optimizer = cost::Optimizer::kAdamMixed;
  bool narrow_gradients = false;  // 16-bit gradients beside mixed-precision Adam
  std::int64_t global_batch = 1;
  bool overlap_gradients = true;
  bool communication = true;  // find out which part of a layer's time is communication, for people to see
  placement::Freedom freedom;
  schedule::Engine solver = schedule::Engine::kExact;  // of layer schedules, in a search
};
inline constexpr std::int64_t kMostMicrobatch = 16;

struct PlanProblem {
  placement::Request request;
  std::string model;
  std::int64_t sequence = 0;
  double parameters = 0;
  double flops_per_sample = 0;  // matrix products of forward and backward pass, without recompute
  std::string config;           // the model's config.json; empty: there is none
  std::vector<std::string> warnings;
};

// What of a problem does not depend on the chip, so that many chips share it: one graph for every width, microbatch and
// choice of sequence parallelism to be tried.
struct Workload {
  std::vector<workload::LayerGraph> graphs;
  placement::Training training;
  PlanOptions options;
  std::string model;
  std::int64_t sequence = 0;
  double parameters = 0;
  double flops_per_sample = 0;
  std::string config;
  std::vector<std::string> warnings;

  // The one that a table was made from.
  const workload::LayerGraph& graph_of(const placement::LayerTable& table) const;
};
Result<Workload> load_workload(const std::string& model, std::int64_t devices, const hardware::Network& network,
                               const PlanOptions& options, Progress& progress);

// How operators are priced and layers scheduled under the workload's profile.
cost::CostOptions cost_options(const PlanOptions& options, const hardware::Cluster& cluster,
                               const cost::SunstoneTable* sunstone = nullptr);
TableOptions table_options(const Workload& workload);

// The placement problem without its tables.
placement::Request empty_request(const Workload& workload, const hardware::Cluster& cluster);
// Bytes per parameter that adding up gradients moves for every microbatch, for TableOptions.
double accumulation_bytes(const placement::StateBytes& states);

Result<PlanProblem> make_problem(const std::string& model, const hardware::Cluster& cluster, const PlanOptions& options,
                                 cost::Memo& memo, Progress& progress);

}  // namespace phaze::layer_times
