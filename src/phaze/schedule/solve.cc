#include "phaze/schedule/solve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "phaze/schedule/evaluate.h"

namespace phaze::schedule {

// Ticks are rounded, and two makespans within kTimeTolerance count as equal: what is left in the end is to be no more
// than what was asked for, all the same.
Solver::Solver(BlockMemo* memo, double gap) : gap_(std::max(0.0, gap - 2 * kTimeTolerance)), block_solver_(memo) {}

// Of the blocks together. Rounded up to a billionth of the serial schedule, so that goals which differ in their last
// digits ask the same question of the memo.
Ticks Solver::goal_in_ticks(double goal) const {
  constexpr auto kGrain = static_cast<double>(Goal::kGrain);
  const double grains = (goal - decomposition_.seconds_alone()) / decomposition_.seconds_per_tick() / kGrain;
  if (grains > static_cast<double>(kSerialTicks) / kGrain) return Goal{}.ticks;
  return static_cast<Ticks>(std::ceil(std::max(0.0, grains)) * kGrain);
}

const Solution& Solver::solve(const Instance& instance, Stop& stop) {
  return solve(instance, std::numeric_limits<double>::infinity(), stop);
}

const Solution& Solver::solve(const Instance& instance, double goal, Stop& stop) {
  decomposition_.split(instance);
  const auto blocks = decomposition_.blocks();
  schedules_.resize(std::max(schedules_.size(), blocks.size()));
  solution_.statistics = {};
  const Goal wanted{.ticks = goal_in_ticks(goal), .gap = gap_};
  order_.resize(blocks.size());
  std::iota(order_.begin(), order_.end(), 0);
  least_.assign(blocks.size(), 0);
  if (!wanted.none()) {
    // The small blocks are solved first, and what they take is known when it comes to the large one.
    std::ranges::stable_sort(order_, {}, [&](std::uint32_t b) { return blocks[b].size; });
    for (std::size_t b = 0; b < blocks.size(); ++b) least_[b] = bounds_.compute(blocks[b]);
  }
  bool optimal = true;
  for (const std::uint32_t b : order_) {
    Goal of_block{.gap = gap_};
    if (!wanted.none()) of_block.ticks = wanted.ticks - (std::reduce(least_.begin(), least_.end()) - least_[b]);
    block_solver_.solve(blocks[b], of_block, stop, result_, solution_.statistics);
    std::swap(schedules_[b], result_.schedule);
    least_[b] = result_.lower_bound;
    optimal = optimal && result_.optimal && result_.lower_bound == schedules_[b].makespan;
  }
  const Ticks bound = std::reduce(least_.begin(), least_.end());
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
  if (options.engine == Engine::kIlp) return solve_ilp(instance, options.ilp, options.gap, stop);
  Solver solver(nullptr, options.gap);
  return solver.solve(instance, stop);
}

}  // namespace phaze::schedule
