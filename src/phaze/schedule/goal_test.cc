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

// A gap is left where that is asked for, and no more than that; what is said of it is true.
void expect_gap_to_hold(const Instance& instance, double optimum, double gap, const Solution& solution,
                        const std::string& which) {
  EXPECT_TRUE(evaluate(instance, solution.schedule).valid()) << which << " gap " << gap;
  EXPECT_LE(solution.gap(), gap) << which;
  EXPECT_LE(solution.lower_bound, optimum * (1 + 1e-9)) << which << " gap " << gap;
  EXPECT_GE(solution.schedule.makespan, optimum * (1 - 1e-9)) << which << " gap " << gap;
  EXPECT_EQ(solution.proof == Proof::kOptimal, solution.gap() == 0) << which << " gap " << gap;
}

TEST(Gap, is_never_wider_than_asked_for_and_bounds_remain_bounds) {
  BlockMemo memo;
  std::uint64_t longer = 0;
  const auto look_at = [&](const Instance& instance, const std::string& which) {
    const double optimum = testing::least_makespan(instance);
    for (const double gap : {1e-10, 1e-6, 0.01, 0.1, 0.5, 0.99}) {
      Solver solver(&memo, gap);
      Stop stop;
      const Solution& solution = solver.solve(instance, stop);
      expect_gap_to_hold(instance, optimum, gap, solution, which);
      longer += solution.schedule.makespan > optimum * (1 + 1e-6) ? 1 : 0;
    }
  };
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const std::string which = "seed " + std::to_string(seed);
    look_at(testing::layer_like(5 + seed % 3, seed), which);
    look_at(testing::chains_with_ends(4 + seed % 3, seed), which);
    for (const testing::Model model : {testing::Model::kPhaze, testing::Model::kMoldable, testing::Model::kAnything})
      look_at(testing::random_instance(model, 4 + seed % 3, seed), which);
  }
  EXPECT_GT(longer, kInstances / 10) << "some gaps are used";
}

// The same memo for all, so that one who asks for less has been there before.
TEST(Gap, one_who_asks_for_the_optimum_after_that_gets_it) {
  BlockMemo memo;
  Solver rough(&memo, 0.3), exact(&memo);
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = testing::layer_like(5 + seed % 3, seed);
    Stop first, second;
    rough.solve(instance, first);
    const Solution& solution = exact.solve(instance, second);
    EXPECT_EQ(solution.proof, Proof::kOptimal) << "seed " << seed;
    EXPECT_NEAR(solution.schedule.makespan, testing::least_makespan(instance), 1e-8 * solution.schedule.makespan);
  }
}

TEST(Gap, takes_less_than_the_optimum) {
  std::uint64_t states = 0, states_with_gap = 0;
  Solver exact, rough(nullptr, 0.05);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Instance instance = testing::random_branches(testing::Model::kMoldable, 24, 4, seed);
    Stop whole({.work = 1'000'000}), part({.work = 1'000'000});
    const Solution& best = exact.solve(instance, whole);
    const Solution& close = rough.solve(instance, part);
    EXPECT_EQ(best.proof, Proof::kOptimal) << seed;
    EXPECT_LE(close.gap(), 0.05) << seed;
    EXPECT_LE(close.lower_bound, best.schedule.makespan * (1 + 1e-9)) << seed;
    EXPECT_GE(close.schedule.makespan, best.schedule.makespan * (1 - 1e-9)) << seed;
    states += best.statistics.states;
    states_with_gap += close.statistics.states;
  }
  EXPECT_LT(2 * states_with_gap, states);
}

// By its own bounds alone.
TEST(Gap, of_the_ilp_is_never_wider_than_asked_for_and_bounds_remain_bounds) {
  int left = 0;
  for (const double gap : {0.01, 0.2}) {
    const SolveOptions options = {
        .engine = Engine::kIlp, .gap = gap, .ilp = {.antichain_cut = false, .own_bounds = false}};
    for (std::uint64_t seed = 0; seed < kInstances / 5; ++seed) {
      const testing::Model model = seed % 2 == 0 ? testing::Model::kPhaze : testing::Model::kMoldable;
      const Instance instance = testing::random_instance(model, 2 + seed % 4, seed);
      Stop stop;
      const Solution solution = solve(instance, options, stop);
      expect_gap_to_hold(instance, testing::least_makespan(instance), gap, solution, "seed " + std::to_string(seed));
      left += solution.gap() > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(left, 0);
}

}  // namespace
}  // namespace phaze::schedule
