// A layer on a chip, scheduled: the problem and its answer, for those who show it. LayerScheduler gives the same times
// to those who ask for millions.
#pragma once

#include "phaze/base/stop.h"
#include "phaze/layer_schedule/layer_instance.h"
#include "phaze/schedule/solve.h"

namespace phaze::layer_schedule {

struct ScheduledLayer {
  schedule::Instance instance;
  schedule::Solution solution;
};

// On a chip whose operators are kernels that run one after another, they do so in the order of the graph.
ScheduledLayer schedule_layer(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                              const InstanceOptions& problem, const schedule::SolveOptions& solve, Stop& stop);

}  // namespace phaze::layer_schedule
