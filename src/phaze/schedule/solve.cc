#include "phaze/schedule/solve.h"

#include <algorithm>

#include "phaze/schedule/evaluate.h"

namespace phaze::schedule {

const Solution& Solver::solve(const Instance& instance, Stop& stop) {
  decomposition_.split(instance);
  const auto blocks = decomposition_.blocks();
  schedules_.resize(std::max(schedules_.size(), blocks.size()));
  solution_.statistics = {};
  Ticks bound = 0;
  bool optimal = true;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    block_solver_.solve(blocks[b], stop, result_, solution_.statistics);
    std::swap(schedules_[b], result_.schedule);
    bound += result_.lower_bound;
    optimal = optimal && result_.optimal;
  }
  decomposition_.assemble({schedules_.data(), blocks.size()}, solution_.schedule);
  solution_.proof = optimal ? Proof::kOptimal : Proof::kFeasible;
  const double makespan = solution_.schedule.makespan;
  const double lower = decomposition_.seconds_alone() + static_cast<double>(bound) * decomposition_.seconds_per_tick();
  // Ticks round durations up, so their bound may exceed the true one by a hair.
  solution_.lower_bound = optimal ? makespan : std::min(makespan, lower * (1 - 1e-12));
  check(evaluate(instance, solution_.schedule).valid(), "the exact engine returns valid schedules");
  return solution_;
}

Solution solve(const Instance& instance, const SolveOptions& options, Stop& stop) {
  if (options.engine == Engine::kIlp) return solve_ilp(instance, options.ilp, stop);
  Solver solver;
  return solver.solve(instance, stop);
}

}  // namespace phaze::schedule
