#include "phaze/schedule/solve.h"

#include <gtest/gtest.h>

#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

using testing::Model;

constexpr std::array kModels = {Model::kPhaze, Model::kMoldable, Model::kAnything};

// Sanitizers make everything about ten times slower.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kThinning = 10;
#else
constexpr std::uint64_t kThinning = 1;
#endif

TEST(Exact, agrees_with_brute_force_on_ten_thousand_small_instances) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 10'000; seed += kThinning) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 1 + seed / 3 % 7, seed);
    Stop stop;
    const Solution& solution = solver.solve(instance, stop);
    const double optimum = testing::least_makespan(instance);
    ASSERT_EQ(solution.proof, Proof::kOptimal) << "seed " << seed;
    ASSERT_NEAR(solution.schedule.makespan, optimum, 1e-9 * optimum) << "seed " << seed;
    ASSERT_TRUE(evaluate(instance, solution.schedule).valid()) << "seed " << seed;
  }
}

TEST(Exact, agrees_with_the_ilp_on_five_hundred_instances) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 500; seed += kThinning) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 8 + seed / 3 % 7, 1'000'000 + seed);
    Stop stop;
    const Solution& solution = solver.solve(instance, stop);
    Stop other({.seconds = 20});
    const Solution ilp = solve(instance, {.engine = Engine::kIlp, .ilp = {.antichain_cut = false}}, other);
    ASSERT_EQ(solution.proof, Proof::kOptimal) << "seed " << seed;
    EXPECT_EQ(ilp.proof, Proof::kOptimal) << "seed " << seed << " time " << other.seconds_left();
    EXPECT_NEAR(solution.schedule.makespan, ilp.schedule.makespan, 1e-6 * ilp.schedule.makespan) << "seed " << seed;
  }
}

}  // namespace
}  // namespace phaze::schedule
