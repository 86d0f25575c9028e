#include <gtest/gtest.h>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/solve.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kInstances = kThinTests ? 30 : 300;

// Below the optimum a goal is all that is proven; above it, it is in nobody's way.
void expect_goals_to_hold(const Instance& instance, Solver& solver, const std::string& which) {
  const double optimum = testing::least_makespan(instance);
  for (const double share : {0.5, 0.9, 0.99, 1.0, 1.01, 1.5}) {
    Stop stop;
    const Solution& solution = solver.solve(instance, share * optimum, stop);
    EXPECT_TRUE(evaluate(instance, solution.schedule).valid()) << which << " goal " << share;
    EXPECT_LE(solution.lower_bound, optimum * (1 + 1e-8)) << which << " goal " << share;
    EXPECT_GE(solution.schedule.makespan, optimum * (1 - 1e-8)) << which << " goal " << share;
    if (share <= 1) {
      EXPECT_GE(solution.lower_bound, share * optimum * (1 - 1e-8)) << which << " goal " << share;
      continue;
    }
    EXPECT_EQ(solution.proof, Proof::kOptimal) << which << " goal " << share;
    EXPECT_NEAR(solution.schedule.makespan, optimum, 1e-8 * optimum) << which << " goal " << share;
  }
}

TEST(Goal, a_bound_reaches_it_exactly_where_no_schedule_is_shorter) {
  BlockMemo memo;
  Solver solver(&memo);
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const std::string which = "seed " + std::to_string(seed);
    expect_goals_to_hold(testing::layer_like(5 + seed % 3, seed), solver, which);
    for (const testing::Model model : {testing::Model::kPhaze, testing::Model::kMoldable, testing::Model::kAnything})
      expect_goals_to_hold(testing::random_instance(model, 4 + seed % 3, seed), solver, which);
  }
}

TEST(Goal, it_is_cheaper_to_reach_than_the_optimum) {
  std::uint64_t states = 0, states_to_goal = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Instance instance = testing::layer_like(14, seed);
    Solver solver;
    Stop whole({.work = 1'000'000});
    const Solution found = solver.solve(instance, whole);
    ASSERT_EQ(found.proof, Proof::kOptimal);
    Stop part({.work = 1'000'000});
    const Solution& bounded = solver.solve(instance, 0.97 * found.schedule.makespan, part);
    EXPECT_GE(bounded.lower_bound, 0.97 * found.schedule.makespan * (1 - 1e-8));
    states += found.statistics.states;
    states_to_goal += bounded.statistics.states;
  }
  EXPECT_LT(2 * states_to_goal, states);
}

}  // namespace
}  // namespace phaze::schedule
