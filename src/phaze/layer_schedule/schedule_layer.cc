#include "phaze/layer_schedule/schedule_layer.h"

namespace phaze::layer_schedule {
namespace {

schedule::Solution one_after_another(const schedule::Instance& instance) {
  schedule::Solution solution{.proof = schedule::Proof::kOptimal};
  double now = 0;
  solution.schedule.ops.reserve(instance.size());
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const double finish = now + instance.duration(schedule::OpId(i), 0);
    solution.schedule.ops.push_back({.start = now, .finish = finish});
    now = finish;
  }
  solution.schedule.makespan = solution.lower_bound = now;
  return solution;
}

}  // namespace

ScheduledLayer schedule_layer(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                              const InstanceOptions& problem, const schedule::SolveOptions& solve, Stop& stop) {
  ScheduledLayer layer;
  fill_instance(graph, costs, problem, layer.instance);
  layer.solution = costs.chip().calibration.serial ? one_after_another(layer.instance)
                                                   : schedule::solve(layer.instance, solve, stop);
  return layer;
}

}  // namespace phaze::layer_schedule
