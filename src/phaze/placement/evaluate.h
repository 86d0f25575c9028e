// The checker: what a plan takes and needs, from the definitions in plan.h alone. It shares no code with the solver.
#pragma once

#include <string>
#include <vector>

#include "phaze/placement/plan.h"
#include "phaze/placement/training.h"

namespace phaze::placement {

struct StageEvaluation {
  double forward_seconds = 0;   // of one microbatch, tensor-parallel communication included
  double backward_seconds = 0;  // likewise, without recompute
  double recompute_seconds = 0;
  double arrival_seconds = 0;          // messages from both neighbours
  double sharding_seconds = 0;         // what ZeRO-2 and ZeRO-3 add beyond what compute hides
  double tensor_parallel_seconds = 0;  // of forward, backward and recompute
  double parameters = 0;
  Memory memory;
  double load() const {
    return forward_seconds + backward_seconds + recompute_seconds + arrival_seconds + sharding_seconds;
  }
};

// Where the time of a batch goes, along the slowest stage; the parts add up to the whole.
struct Breakdown {
  double compute = 0;
  double recompute = 0;
  double tensor_parallel = 0;
  double bubble = 0;
  double transfers = 0;
  double gradient_sync = 0;
  double optimizer = 0;
};

struct Evaluation {
  std::vector<std::string> violations;  // empty: the plan can be run
  std::int64_t microbatches = 0;
  double time_per_batch = 0;
  std::vector<StageEvaluation> stages;
  Breakdown breakdown;
  double peak_memory() const;
};

Evaluation evaluate(const Request& request, const Plan& plan);

}  // namespace phaze::placement
