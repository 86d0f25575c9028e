#include "phaze/schedule/evaluate.h"

#include <algorithm>
#include <cmath>

namespace phaze::schedule {
namespace {

// Times are sums of durations, and the same sum may be rounded in two ways: a finish counts as reached when what is
// missing is below this fraction of the makespan.
constexpr double kRounding = 1e-12;

}  // namespace

Evaluation evaluate(const Instance& instance, const Schedule& schedule) {
  Evaluation result;
  const auto violation = [&](OpId op, const std::string& text) {
    result.violations.push_back("operator '" + std::string(instance.name(op)) + "' " + text);
  };
  if (schedule.ops.size() != instance.size()) {
    result.violations.emplace_back("the schedule does not place every operator exactly once");
    return result;
  }
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const Placement& placement = schedule.ops[i];
    const OpId op(i);
    if (placement.mode >= instance.mode_count(op)) {
      violation(op, "runs in a mode that it does not have");
      return result;
    }
    if (!std::isfinite(placement.start) || placement.start < 0) violation(op, "does not start at or after time zero");
    if (!std::isfinite(placement.finish)) violation(op, "never finishes");
    result.makespan = std::max(result.makespan, placement.finish);
  }
  if (!result.valid()) return result;

  const double slack = kRounding * result.makespan;
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const Placement& placement = schedule.ops[i];
    const double expected = placement.start + instance.duration(OpId(i), placement.mode);
    if (std::abs(placement.finish - expected) > slack) violation(OpId(i), "does not run for the duration of its mode");
  }
  if (std::abs(schedule.makespan - result.makespan) > slack)
    result.violations.emplace_back("the makespan is not the latest finish");
  for (const Edge& edge : instance.edges)
    if (schedule.ops[edge.to.index()].start < schedule.ops[edge.from.index()].finish - slack)
      violation(edge.to, "starts before '" + std::string(instance.name(edge.from)) + "' finishes");

  // Demand rises only where an operator starts, so these are the moments at which a resource can be overdrawn.
  std::vector<double> held(instance.resources.size());
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const double moment = schedule.ops[i].start;
    if (schedule.ops[i].finish - moment <= slack) continue;
    std::ranges::fill(held, 0);
    for (std::size_t j = 0; j < instance.size(); ++j) {
      const Placement& other = schedule.ops[j];
      if (other.start > moment + slack || other.finish <= moment + slack) continue;
      const auto demand = instance.demand(OpId(j), other.mode);
      for (std::size_t k = 0; k < held.size(); ++k) held[k] += demand[k];
    }
    for (std::size_t k = 0; k < held.size(); ++k)
      if (held[k] > instance.resources[k].capacity * (1 + kCapacityTolerance))
        violation(OpId(i), "overdraws '" + instance.resources[k].name + "' when it starts");
  }
  return result;
}

}  // namespace phaze::schedule
