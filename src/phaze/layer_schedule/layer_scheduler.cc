#include "phaze/layer_schedule/layer_scheduler.h"

namespace phaze::layer_schedule {

LayerTime LayerScheduler::time(const workload::OpGraph& graph, const cost::OperatorCosts& costs) {
  if (graph.empty()) return {};
  if (costs.chip().calibration.serial) {
    const double seconds = cost::serial_cost(graph, costs).seconds;
    return {seconds, seconds, true};
  }
  fill_instance(graph, costs, options_, instance_);
  Stop stop({.work = states_});
  solution_ = &solver_.solve(instance_, stop);
  return {solution_->schedule.makespan, solution_->lower_bound, solution_->proof == schedule::Proof::kOptimal};
}

}  // namespace phaze::layer_schedule
