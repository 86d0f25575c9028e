// The schedule of the least makespan, with a proof or an honest gap.
//
//   Stop stop({.seconds = 1.0});
//   const Solution solution = solve(instance, {}, stop);
//   solution.schedule.ops[0].start;           // valid: it has passed evaluate()
//   solution.proof == Proof::kOptimal;        // or kFeasible, with solution.lower_bound below the makespan
#pragma once

#include <cstdint>

#include "phaze/base/stop.h"
#include "phaze/schedule/block_solver.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/ilp.h"
#include "phaze/schedule/instance.h"

namespace phaze::schedule {

enum class Engine : std::uint8_t {
  kExact,  // blocks, bounds, beams: exact.h
  kIlp,    // a mixed-integer program: ilp.h
};

enum class Proof : std::uint8_t {
  kOptimal,   // no schedule is shorter by more than kTimeTolerance
  kFeasible,  // stopped early, or close enough: the optimum lies between lower_bound and the makespan
};

struct SolveOptions {
  Engine engine = Engine::kExact;
  // Close enough: schedules that are shorter by no more than this share are not looked for. 0 asks for the optimum.
  double gap = 0;
  IlpOptions ilp;
};

struct Solution {
  Schedule schedule;
  double lower_bound = 0;  // seconds
  Proof proof = Proof::kFeasible;
  Statistics statistics;

  double gap() const { return schedule.makespan > 0 ? 1 - lower_bound / schedule.makespan : 0; }
};

// `instance` must pass validate(). One unit of `stop` is a state of the search.
Solution solve(const Instance& instance, const SolveOptions& options, Stop& stop);

// The exact engine with memory that lasts: a caller with millions of instances keeps one per thread.
class Solver {
 public:
  // A memo, if any, must outlive the solver. The gap is that of SolveOptions.
  explicit Solver(BlockMemo* memo = nullptr, double gap = 0);

  // The solution stays valid until the next call.
  const Solution& solve(const Instance& instance, Stop& stop);
  // Only far enough to tell whether a schedule is shorter than `goal` seconds: a bound of that is all that is asked
  // for.
  const Solution& solve(const Instance& instance, double goal, Stop& stop);

 private:
  Ticks goal_in_ticks(double goal) const;

  double gap_;
  Decomposition decomposition_;
  SimpleBounds bounds_;
  BlockSolver block_solver_;
  std::vector<BlockSchedule> schedules_;
  std::vector<Ticks> least_;  // of the blocks
  std::vector<std::uint32_t> order_;
  BlockResult result_;
  Solution solution_;
};

}  // namespace phaze::schedule
