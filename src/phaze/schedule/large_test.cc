#include "phaze/schedule/large.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/solve.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kInstances = kThinTests ? 30 : 200;
constexpr std::uint64_t kHardInstances = kThinTests ? 4 : 16;

TEST(Large, the_order_of_those_kept_is_the_one_through_those_that_go) {
  Instance instance;
  instance.resources = {{"tc", 2}};
  for (const double seconds : {2.0, 1e-6, 3.0, 1.0}) {
    instance.add_op("op");
    instance.add_mode(seconds, std::array{1.0});
  }
  instance.add_edge(OpId(0), OpId(1));
  instance.add_edge(OpId(1), OpId(2));
  Decomposition decomposition;
  decomposition.split(instance);
  ASSERT_EQ(decomposition.blocks().size(), 1U);
  const Block& block = decomposition.blocks()[0];
  Large large;
  EXPECT_FALSE(keep_large(block, 0, large)) << "none is small";
  EXPECT_FALSE(keep_large(block, kSerialTicks * 2, large)) << "none is large";
  ASSERT_TRUE(keep_large(block, kSerialTicks / 1000, large));
  ASSERT_EQ(large.block.size, 3U);
  std::size_t ordered = 0;
  for (std::size_t b = 0; b < large.block.size; ++b)
    for (std::size_t a = 0; a < b; ++a) {
      EXPECT_EQ(large.block.precedes(a, b), block.precedes(large.ops[a], large.ops[b]));
      ordered += large.block.precedes(a, b) ? 1 : 0;
    }
  EXPECT_EQ(ordered, 1U);
}

TEST(Large, schedules_of_the_large_ones_bound_the_others_and_become_schedules_of_all) {
  std::size_t shortened = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = testing::layer_like(7, seed, 3);
    const double optimum = testing::least_makespan(instance);
    Decomposition decomposition;
    decomposition.split(instance);
    const auto blocks = decomposition.blocks();
    std::vector<BlockSchedule> schedules(blocks.size());
    double bound = decomposition.seconds_alone();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      ListScheduler lists;
      ListScheduler::run_serially(blocks[b], schedules[b]);
      Large large;
      if (!keep_large(blocks[b], kSerialTicks / 1000, large)) continue;
      BlockResult result;
      Statistics statistics;
      Stop stop;
      BlockSolver().solve(large.block, {}, stop, result, statistics);
      ASSERT_TRUE(result.optimal);
      bound += static_cast<double>(result.schedule.makespan) * decomposition.seconds_per_tick();
      const Ticks before = schedules[b].makespan;
      put_others_back(blocks[b], large, result.schedule, lists, schedules[b]);
      // What is small is in the way of no gain that is not.
      if (result.schedule.makespan >= before - before / 100) continue;
      EXPECT_LT(schedules[b].makespan, before) << "seed " << seed;
      ++shortened;
    }
    Schedule schedule;
    decomposition.assemble(schedules, schedule);
    EXPECT_TRUE(evaluate(instance, schedule).valid()) << "seed " << seed;
    EXPECT_LE(bound, optimum * (1 + 1e-8)) << "seed " << seed;
  }
  EXPECT_GT(shortened, 0U);
}

TEST(Large, light_operators_are_awaited_by_nobody_and_come_by_rising_work) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::layer_like_with_light(8, 5, seed));
    for (const Block& block : decomposition.blocks()) {
      const std::vector<Ticks> work = least_work(block);
      const auto most_work = [&](std::uint32_t op) {
        const auto first = work.begin() + static_cast<std::ptrdiff_t>(op * block.resources);
        return *std::max_element(first, first + static_cast<std::ptrdiff_t>(block.resources));
      };
      const Ticks makespan = kSerialTicks / 2;
      const std::vector<std::uint32_t> light = light_operators(block, makespan);
      EXPECT_TRUE(std::ranges::is_sorted(light, {}, most_work));
      for (std::uint32_t op = 0; op < block.size; ++op) {
        bool awaited = false;
        for (std::uint32_t other = 0; other < block.size; ++other) awaited = awaited || block.precedes(op, other);
        const bool is_light = !awaited && most_work(op) < whole_ticks(0.03 * static_cast<double>(makespan));
        EXPECT_EQ(std::ranges::find(light, op) != light.end(), is_light) << "seed " << seed;
        found += is_light ? 1 : 0;
      }
    }
  }
  EXPECT_GT(found, kInstances);
}

// For some of these the first search comes to nothing, so that light operators are left out.
TEST(Large, blocks_solved_without_their_light_operators_have_the_makespan_of_a_whole_search) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < kHardInstances; ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::layer_like_with_light(9, 5, seed));
    for (const Block& block : decomposition.blocks()) {
      BlockResult whole, by_parts;
      Statistics statistics;
      Stop enough({.work = 2'000'000}), stop({.work = 300'000});
      BlockSolver(nullptr, BlockSolver::Barriers::kNo, BlockSolver::Light::kStays)
          .solve(block, {}, enough, whole, statistics);
      BlockSolver().solve(block, {}, stop, by_parts, statistics);
      ASSERT_TRUE(whole.optimal) << "seed " << seed;
      const auto optimum = static_cast<double>(whole.schedule.makespan);
      const auto found = static_cast<double>(by_parts.schedule.makespan);
      EXPECT_GE(found, optimum * (1 - 1e-9)) << "seed " << seed;
      EXPECT_LE(static_cast<double>(by_parts.lower_bound), optimum * (1 + 1e-9)) << "seed " << seed;
      if (!by_parts.optimal) continue;
      EXPECT_LE(found, optimum * (1 + 1e-9)) << "seed " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, kHardInstances / 2);
}

TEST(Large, goals_that_the_large_ones_reach_take_no_search_for_all) {
  std::size_t reached = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::layer_like(12, seed, 5));
    for (const Block& block : decomposition.blocks()) {
      BlockResult best, of_large, result;
      Statistics unlimited, for_large, for_all;
      Stop enough, stop_of_large({.work = 1'000'000}), stop({.work = 1'000'000});
      BlockSolver().solve(block, {}, enough, best, unlimited);
      const Goal goal{.ticks = best.schedule.makespan - best.schedule.makespan / 1000};
      Large large;
      if (!keep_large(block, best.schedule.makespan / 1000, large) || large.block.size * 4 > block.size * 3) continue;
      BlockSolver().solve(large.block, goal, stop_of_large, of_large, for_large);
      BlockSolver().solve(block, goal, stop, result, for_all);
      EXPECT_TRUE(goal.is_met_by(result)) << "seed " << seed;
      if (for_large.states == 0 || !goal.is_met_by(of_large)) continue;
      EXPECT_LE(for_all.states, for_large.states + for_large.states / 10) << "seed " << seed;
      ++reached;
    }
  }
  EXPECT_GT(reached, kInstances / 10);
}

// With a budget and goals on both sides of the optimum, so that the solver begins with the large ones.
TEST(Large, goals_of_layers_with_small_operators_are_reached_or_not_as_by_brute_force) {
  BlockMemo memo;
  Solver solver(&memo);
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = testing::layer_like(7, seed, 2 + seed % 3);
    const double optimum = testing::least_makespan(instance);
    for (int time = 0; time < 2; ++time)
      for (const double factor : {0.999, 0.999999, 1.000001, 1.001}) {
        Stop stop({.work = 10'000'000});
        const Solution& solution = solver.solve(instance, factor * optimum, stop);
        EXPECT_TRUE(evaluate(instance, solution.schedule).valid());
        EXPECT_LE(solution.lower_bound, optimum * (1 + 1e-8)) << "seed " << seed;
        EXPECT_GE(solution.lower_bound, std::min(factor, 1.0) * optimum * (1 - 1e-8)) << "seed " << seed;
        const double shortest = factor > 1 ? optimum * (1 + 1e-8) : solution.schedule.makespan;
        EXPECT_LE(solution.schedule.makespan, shortest) << "seed " << seed;
      }
  }
}

}  // namespace
}  // namespace phaze::schedule
