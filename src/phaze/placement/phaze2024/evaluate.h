// The checker: what a plan takes, by the rules, node by node. Shares no code with the solvers.
//
// The rules, from the 2024 study:
// - A stage runs node by node, in a topological order, and never waits while a node could run. A node can run when all
// its
//   inputs are there: one made in the stage when its producer ended, one from another stage bytes/bandwidth after the
//   pass began. The forward pass ends when its last node ends; the backward pass is the same over the outgoing edges.
//   (Where each node needs the one before it, as in a chain, there is only one order. With real branches all such
//   orders take equally long, see stage_list.h.)
// - With recompute, the backward pass of every stage but the last begins with its forward pass once more, whose inputs
//   are already there; gradients may arrive meanwhile.
// - Memory of the stage that is the k-th from the end: 2 (Adam: 3) times its parameters, its activations, and k-1 times
//   what it stashes: its activations, or with recompute the bytes that enter it.
// - time per batch = largest load * (ceil(microbatches / d) + stages - 1) + 4 (d-1)/d * parameters of the first stage /
//   bandwidth, where load is forward plus backward.
#pragma once

#include <string>
#include <vector>

#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

struct StageEvaluation {
  double forward_seconds = 0;
  double backward_seconds = 0;  // with recompute where the stage does so
  double load_seconds = 0;
  double parameter_bytes = 0;
  double state_bytes = 0;       // parameters with gradients and what the optimizer keeps
  double activation_bytes = 0;  // of one microbatch
  double stash_bytes = 0;       // for the microbatches on their way through the stages behind
  double memory_bytes = 0;      // the three together
};

struct Evaluation {
  std::vector<std::string> violations;  // empty: the plan can be run; stages are counted from 1
  std::vector<StageEvaluation> stages;
  double largest_load = 0;
  double gradient_seconds = 0;  // the all-reduce at the end
  double time_per_batch = 0;
};

// An empty stage is allowed: it only makes the pipeline longer. So are more devices in a stage than it can use.
Evaluation evaluate(const Instance& instance, const Plan& plan);

}  // namespace phaze::placement::phaze2024
