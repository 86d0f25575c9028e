#include "phaze/schedule/relax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/block_memo.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/solve.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kInstances = kThinTests ? 40 : 200;

TEST(Relax, leaves_out_what_is_least_in_demand_unless_something_needs_nothing_else) {
  Instance instance;
  instance.resources = {{"tc", 4}, {"vc", 4}, {"unused", 1}};
  for (const double vectors : {1.0, 4.0, 1.0}) {
    instance.add_op("op");
    instance.add_mode(2, std::array{3.0, vectors, 0.0});
  }
  Decomposition decomposition;
  decomposition.split(instance);
  ASSERT_EQ(decomposition.blocks().size(), 1U);
  EXPECT_EQ(least_in_demand(decomposition.blocks()[0]), 1U);
  instance.add_op("only on vectors");
  instance.add_mode(1, std::array{0.0, 1.0, 0.0});
  decomposition.split(instance);
  EXPECT_EQ(least_in_demand(decomposition.blocks()[0]), std::nullopt);
}

TEST(Relax, modes_that_only_spare_what_is_left_out_go_with_it) {
  Instance instance;
  instance.resources = {{"tc", 4}, {"vc", 8}};
  for (int i = 0; i < 2; ++i) {
    instance.add_op("op");
    instance.add_mode(1.5, std::array{3.0, 1.0});
    instance.add_mode(1, std::array{3.0, 7.0});
    instance.add_mode(1.75, std::array{1.0, 1.0});
  }
  Decomposition decomposition;
  decomposition.split(instance);
  const Block& block = decomposition.blocks()[0];
  Relaxed relaxed;
  leave_out(block, 1, relaxed);
  EXPECT_EQ(relaxed.block.resources, 1U);
  EXPECT_EQ(relaxed.block.mode_offsets, (std::vector<std::uint32_t>{0, 2, 4}));
  for (std::size_t m = 0; m < relaxed.modes.size(); ++m) {
    EXPECT_EQ(relaxed.block.modes[m].duration, block.modes[relaxed.modes[m]].duration);
    EXPECT_EQ(relaxed.block.modes[m].original, block.modes[relaxed.modes[m]].original);
    EXPECT_EQ(relaxed.block.demand(m)[0], block.demand(relaxed.modes[m])[0]);
    EXPECT_NE(relaxed.block.modes[m].original, 0U);
  }
}

// Whether the relaxation settles it or not; with a memo, whoever asked before.
TEST(Relax, layers_are_solved_to_the_optimum_of_brute_force) {
  BlockMemo memo;
  Solver solver(&memo);
  int settled = 0, not_settled = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = testing::layer_like(5 + seed % 3, seed);
    const double optimum = testing::least_makespan(instance);
    for (int time = 0; time < 2; ++time) {
      Stop stop;
      const Solution& solution = solver.solve(instance, stop);
      EXPECT_TRUE(evaluate(instance, solution.schedule).valid());
      EXPECT_EQ(solution.proof, Proof::kOptimal);
      EXPECT_NEAR(solution.schedule.makespan, optimum, 1e-8 * optimum) << "seed " << seed << " time " << time;
    }
    Decomposition decomposition;
    decomposition.split(instance);
    for (const Block& block : decomposition.blocks()) {
      const auto resource = least_in_demand(block);
      if (!resource) continue;
      Relaxed relaxed;
      leave_out(block, *resource, relaxed);
      BlockResult result;
      Statistics statistics;
      Stop stop;
      BlockSolver().solve(relaxed.block, {}, stop, result, statistics);
      for (BlockPlacement& placement : result.schedule.ops) placement.mode = relaxed.modes[placement.mode];
      ++(keeps_within(block, *resource, result.schedule) ? settled : not_settled);
    }
  }
  EXPECT_GT(settled, 5);
  EXPECT_GT(not_settled, 5);
}

TEST(BlockMemo, who_asks_for_what_another_solves_waits_for_the_answer) {
  BlockMemo memo;
  const Digest key{.low = 1, .high = 2};
  std::atomic<int> solved = 0;
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> crew;
    crew.reserve(8);
    for (int i = 0; i < 8; ++i)
      crew.emplace_back([&] {
        BlockMemo::Question question(memo, key);
        if (!question.answer()) {
          ++solved;
          std::this_thread::sleep_for(std::chrono::milliseconds(5));
          question.settle({.schedule = {}, .lower_bound = 42, .optimal = true});
        }
        right += question.answer()->lower_bound == 42 ? 1 : 0;
      });
  }
  EXPECT_EQ(solved, 1);
  EXPECT_EQ(right, 8);
}

TEST(BlockMemo, who_goes_without_an_answer_leaves_the_question_to_the_next) {
  BlockMemo memo;
  const Digest key{.low = 3, .high = 4};
  { const BlockMemo::Question question(memo, key); }
  const BlockMemo::Question next(memo, key);
  EXPECT_FALSE(next.answer());
}

TEST(BlockMemo, a_part_that_is_full_begins_anew_and_still_answers) {
  BlockMemo memo(16);
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Digest key{.low = i, .high = i};
    BlockMemo::Question question(memo, key);
    ASSERT_FALSE(question.answer());
    question.settle({.schedule = {}, .lower_bound = static_cast<Ticks>(i)});
    const BlockMemo::Question again(memo, key);
    ASSERT_TRUE(again.answer());
    EXPECT_EQ(again.answer()->lower_bound, static_cast<Ticks>(i));
  }
}

}  // namespace
}  // namespace phaze::schedule
