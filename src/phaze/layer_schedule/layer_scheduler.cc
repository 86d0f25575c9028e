#include "phaze/layer_schedule/layer_scheduler.h"

#include <variant>

namespace phaze::layer_schedule {
namespace {

LayerTime time_of(const schedule::Solution& solution) {
  return {solution.schedule.makespan, solution.lower_bound, solution.proof == schedule::Proof::kOptimal};
}

}  // namespace

LayerTime LayerScheduler::time(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                               Collectives collectives) {
  if (graph.empty()) return {};
  const auto left_out = [&](std::size_t i) {
    return collectives == Collectives::kFree &&
           std::holds_alternative<workload::Collective>(graph.op(workload::OpId(i)).work);
  };
  if (costs.chip().calibration.serial) {
    double seconds = 0;
    for (std::size_t i = 0; i < graph.size(); ++i)
      if (!left_out(i)) seconds += costs.of(graph, workload::OpId(i), costs.all_cores()).seconds;
    return {seconds, seconds, true};
  }
  fill_instance(graph, costs, options_, instance_);
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (left_out(i)) instance_.durations[instance_.mode_offsets[i]] = 0;
  Stop stop({.work = states_});
  if (engine_ == schedule::Engine::kIlp) {
    ilp_solution_ = schedule::solve(instance_, {.engine = engine_, .gap = gap_}, stop);
    solution_ = &ilp_solution_;
  } else {
    solution_ = &solver_.solve(instance_, stop);
  }
  return time_of(*solution_);
}

LayerTime LayerScheduler::bound(const workload::OpGraph& graph, const cost::OperatorCosts& costs, double goal) {
  fill_instance(graph, costs, options_, instance_);
  Stop stop({.work = states_});
  solution_ = &solver_.solve(instance_, goal, stop);
  return time_of(*solution_);
}

}  // namespace phaze::layer_schedule
