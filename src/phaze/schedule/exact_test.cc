#include "phaze/schedule/exact.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/block_solver.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kInstances = kThinTests ? 20 : 100;

// Calls visit(block, its least makespan) for the blocks of an instance.
template <typename Visit>
void for_each_block_of(const Instance& instance, Visit&& visit) {
  Decomposition decomposition;
  decomposition.split(instance);
  for (const Block& block : decomposition.blocks()) {
    BlockResult result;
    Statistics statistics;
    Stop stop;
    BlockSolver().solve(block, {}, stop, result, statistics);
    ASSERT_TRUE(result.optimal);
    visit(block, result.schedule.makespan);
  }
}

// And for those of random layers.
template <typename Visit>
void for_each_block(std::size_t ops, Visit&& visit) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed)
    ASSERT_NO_FATAL_FAILURE(for_each_block_of(testing::layer_like(ops, seed), visit)) << "seed " << seed;
}

std::vector<SearchWorth> worths_of(const Block& block) {
  std::vector<SearchWorth> worths(block.resources);
  for (std::size_t k = 0; k < block.resources; ++k) set_worth(block, k, worths[k]);
  return worths;
}

PassResult pass(const Block& block, const PassLimits& limits, BlockSchedule& best) {
  const SearchWorth none{.rates = std::vector<double>(block.modes.size()),
                         .least = std::vector<double>(block.size),
                         .shareable = std::vector<double>(block.size)};
  best = {.ops = std::vector<BlockPlacement>(block.size),
          .makespan = 2 * std::reduce(block.fastest.begin(), block.fastest.end())};
  Stop stop;
  return LayeredSearch<1>().pass(block, std::span(&none, 1), limits, best, stop);
}

TEST(Pass, one_that_ends_where_it_is_too_narrow_leaves_a_bound) {
  int wide_enough = 0, too_narrow = 0;
  for_each_block(9, [&](const Block& block, Ticks optimum) {
    for (const std::size_t width :
         {std::size_t{1}, std::size_t{8}, std::size_t{64}, kWidestToFind, 2 * kWidestToFind}) {
      BlockSchedule best;
      const PassLimits limits = {.width = width, .together = width > kWidestToFind, .ends_where_too_narrow = true};
      const PassResult result = pass(block, limits, best);
      EXPECT_EQ(result.stopped, !result.complete);
      if (result.complete) {
        EXPECT_NEAR(static_cast<double>(best.makespan), static_cast<double>(optimum),
                    kTimeTolerance * static_cast<double>(optimum));
        ++wide_enough;
      } else {
        EXPECT_LE(result.least_cut, static_cast<double>(optimum));
        ++too_narrow;
      }
    }
  });
  EXPECT_GT(wide_enough, 10);
  EXPECT_GT(too_narrow, 10);
}

constexpr PassLimits kOneAtATime = {.width = kWidestToFind};
constexpr PassLimits kTogether = {.width = 2 * kWidestToFind, .together = true};
constexpr PassLimits kTogetherByPhases = {.width = 2 * kWidestToFind, .together = true, .phases = true};
constexpr PassLimits kByBounds = {.width = 2 * kWidestToFind, .together = true, .by_bounds = true};
constexpr PassLimits kByBoundsAndPhases = {
    .width = 2 * kWidestToFind, .together = true, .by_bounds = true, .phases = true};

// The schedule that a pass finds, block by block.
Schedule schedule_by_passes(const Instance& instance, const PassLimits& limits) {
  Decomposition decomposition;
  decomposition.split(instance);
  std::vector<BlockSchedule> schedules;
  for (const Block& block : decomposition.blocks()) {
    BlockSchedule best{.ops = std::vector<BlockPlacement>(block.size),
                       .makespan = 2 * std::reduce(block.fastest.begin(), block.fastest.end())};
    Stop stop;
    EXPECT_TRUE(LayeredSearch<1>().pass(block, worths_of(block), limits, best, stop).complete);
    schedules.push_back(best);
  }
  Schedule schedule;
  decomposition.assemble(schedules, schedule);
  return schedule;
}

// Passes that look for schedules start one operator at a time, those for the proof all that start together.
TEST(Pass, either_way_to_start_operators_finds_what_brute_force_finds_where_bandwidth_is_scarce) {
  for (std::uint64_t seed = 0; seed < (kThinTests ? 60 : 1500); ++seed) {
    const Instance instance = testing::bandwidth_bound(3 + seed % 4, seed);
    const double optimum = testing::least_makespan(instance);
    for (const PassLimits& limits : {kOneAtATime, kTogether, kByBounds}) {
      const Schedule schedule = schedule_by_passes(instance, limits);
      ASSERT_TRUE(evaluate(instance, schedule).valid()) << "seed " << seed;
      ASSERT_NEAR(schedule.makespan, optimum, 1e-8 * optimum)
          << "seed " << seed << " together " << limits.together << " by bounds " << limits.by_bounds;
    }
  }
}

TEST(Pass, either_way_to_start_operators_finds_what_brute_force_finds_where_some_have_nothing_in_the_way) {
  for (std::uint64_t seed = 0; seed < (kThinTests ? 60 : 1500); ++seed) {
    const Instance instance = testing::some_with_plenty_of_cores(3 + seed % 4, seed);
    const double optimum = testing::least_makespan(instance);
    for (const PassLimits& limits : {kOneAtATime, kTogether, kByBounds})
      ASSERT_NEAR(schedule_by_passes(instance, limits).makespan, optimum, 1e-8 * optimum)
          << "seed " << seed << " together " << limits.together << " by bounds " << limits.by_bounds;
  }
}

// Beyond what brute force can do, one way against the other.
TEST(Pass, either_way_to_start_operators_ends_with_the_same_makespan) {
  for (std::uint64_t seed = 0; seed < (kThinTests ? 10 : 400); ++seed) {
    const Instance instance =
        seed % 2 == 0 ? testing::bandwidth_bound(8 + seed % 4, seed) : testing::layer_like(8, seed);
    const double one = schedule_by_passes(instance, kOneAtATime).makespan;
    ASSERT_NEAR(schedule_by_passes(instance, kTogether).makespan, one, 1e-8 * one) << "seed " << seed;
    ASSERT_NEAR(schedule_by_passes(instance, kByBounds).makespan, one, 1e-8 * one) << "seed " << seed;
  }
}

// What is dropped, and why, differs from one end to the other.
TEST(Pass, from_either_end_the_makespan_is_the_same) {
  for (std::uint64_t seed = 0; seed < (kThinTests ? 40 : 1000); ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::chains_with_ends(6 + seed % 6, seed));
    for (const Block& block : decomposition.blocks()) {
      Block reversed;
      reverse(block, reversed);
      double first = 0;
      for (const Block* from : std::array<const Block*, 2>{&block, &reversed})
        for (const PassLimits& limits : {kOneAtATime, kTogether, kByBounds}) {
          BlockSchedule best{.ops = std::vector<BlockPlacement>(block.size),
                             .makespan = 2 * std::reduce(block.fastest.begin(), block.fastest.end())};
          Stop stop;
          const PassResult result = LayeredSearch<1>().pass(*from, worths_of(*from), limits, best, stop);
          if (!result.complete) continue;
          if (first == 0) first = static_cast<double>(best.makespan);
          ASSERT_NEAR(static_cast<double>(best.makespan), first, 3 * kTimeTolerance * first) << "seed " << seed;
        }
    }
  }
}

// Two operators have the same modes, and one of them is waited for. It pays to start the other one first, slowly, where
// there is little room, and the one that is waited for a little later, fast.
TEST(Pass, an_equal_for_which_nobody_waits_may_start_first_if_it_is_slow) {
  Instance instance;
  instance.resources = {{"tc", 3}, {"vc", 1}};
  const OpId first = instance.add_op("first");
  instance.add_mode(1, std::array{2.0, 0.0});
  const OpId awaited = instance.add_op("awaited");
  for (int equals = 0; equals < 2; ++equals) {
    instance.add_mode(6, std::array{1.0, 0.0});
    instance.add_mode(3.3, std::array{2.0, 0.0});
    if (equals == 0) instance.add_op("equal");
  }
  const OpId after_awaited = instance.add_op("after awaited");
  instance.add_mode(1.7, std::array{2.0, 0.0});
  const OpId after_first = instance.add_op("after first");
  instance.add_mode(5, std::array{0.0, 1.0});
  instance.add_edge(awaited, after_awaited);
  instance.add_edge(first, after_first);
  for (const PassLimits& limits : {kOneAtATime, kTogether, kByBounds})
    EXPECT_NEAR(schedule_by_passes(instance, limits).makespan, 6, 1e-8);
}

// Beside the first, one with a slow mode that nothing keeps from starting does better to wait for the room that its
// fast mode takes.
TEST(Pass, one_with_nothing_in_the_way_of_its_slow_mode_may_wait_for_its_fast_one) {
  Instance instance;
  instance.resources = {{"tc", 1}, {"vc", 3}, {"net", 1}};
  instance.add_op("long");
  instance.add_mode(13, std::array{1.0, 0.0, 0.0});
  const OpId first = instance.add_op("first");
  instance.add_mode(1, std::array{0.0, 2.0, 0.0});
  const OpId after_first = instance.add_op("after first");
  instance.add_mode(12, std::array{0.0, 0.0, 1.0});
  const OpId slow_or_fast = instance.add_op("slow or fast");
  instance.add_mode(6, std::array{0.0, 1.0, 0.0});
  instance.add_mode(3, std::array{0.0, 2.0, 0.0});
  const OpId last = instance.add_op("last");
  instance.add_mode(9, std::array{0.0, 2.0, 0.0});
  instance.add_edge(first, after_first);
  instance.add_edge(slow_or_fast, last);
  for (const PassLimits& limits : {kOneAtATime, kTogether, kByBounds})
    EXPECT_NEAR(schedule_by_passes(instance, limits).makespan, 13, 1e-8);
}

TEST(Pass, one_for_the_proof_drops_only_what_is_too_long) {
  const std::array kinds = {kOneAtATime, kTogether, kTogetherByPhases, kByBounds, kByBoundsAndPhases};
  std::array<std::uint64_t, kinds.size()> states{}, states_after_a_bad_start{};
  const auto expect_proof = [&](const Block& block, Ticks optimum) {
    const std::vector<SearchWorth> worths = worths_of(block);
    for (const double known : {1.0, 1.0001, 1.02, 1.5})
      for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        BlockSchedule best{.ops = std::vector<BlockPlacement>(block.size),
                           .makespan = whole_ticks(known * static_cast<double>(optimum))};
        Stop stop;
        const PassResult proof = LayeredSearch<1>().pass(block, worths, kinds[kind], best, stop);
        states[kind] += proof.states;
        states_after_a_bad_start[kind] += known == 1.5 ? proof.states : 0;
        if (kind == 0) continue;
        EXPECT_TRUE(proof.complete);
        EXPECT_NEAR(static_cast<double>(best.makespan), static_cast<double>(optimum),
                    2 * kTimeTolerance * static_cast<double>(optimum))
            << known << " kind " << kind;
      }
  };
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    ASSERT_NO_FATAL_FAILURE(for_each_block_of(testing::layer_like(5 + seed % 5, seed), expect_proof)) << seed;
    for (const testing::Model model : {testing::Model::kPhaze, testing::Model::kMoldable, testing::Model::kAnything})
      ASSERT_NO_FATAL_FAILURE(for_each_block_of(testing::random_instance(model, 5 + seed % 4, seed), expect_proof))
          << seed;
  }
  EXPECT_LT(states[1], states[0]) << "sets of operators";
  EXPECT_LT(states[2], states[1]) << "phases";
  EXPECT_LT(states[4], states[3]) << "phases, by bounds";
  EXPECT_LT(states_after_a_bad_start[3], states_after_a_bad_start[1]) << "by bounds";
}

TEST(Pass, one_by_bounds_that_ends_early_leaves_a_bound_that_rises_with_its_budget) {
  std::size_t risen = 0;
  for_each_block(10, [&](const Block& block, Ticks optimum) {
    double before = 0;
    for (const std::uint64_t budget : {1U, 4U, 16U, 64U, 256U}) {
      BlockSchedule best{.ops = std::vector<BlockPlacement>(block.size), .makespan = 2 * optimum};
      Stop stop({.work = budget});
      const PassResult result = LayeredSearch<1>().pass(block, worths_of(block), kByBounds, best, stop);
      if (result.complete) break;
      EXPECT_LE(result.least_cut, static_cast<double>(optimum) * (1 + kTimeTolerance)) << "budget " << budget;
      EXPECT_GE(result.least_cut, before) << "budget " << budget;
      risen += before > 0 && result.least_cut > before ? 1 : 0;
      before = result.least_cut;
    }
  });
  EXPECT_GT(risen, kInstances / 4);
}

// Of fourteen operators with ten modes each there are millions of sets that may start at once, all of them good enough.
TEST(Pass, takes_hardly_more_than_its_budget_however_many_sets_may_start) {
  Instance instance;
  instance.resources = {{"tc", 512}};
  for (std::size_t op = 0; op < 14; ++op) {
    instance.add_op("op");
    for (double cores = 1; cores <= 512; cores *= 2)
      instance.add_mode(static_cast<double>(10 + op) * (1 / cores + 0.01), std::array{cores});
  }
  Decomposition decomposition;
  decomposition.split(instance);
  ASSERT_EQ(decomposition.blocks().size(), 1U);
  const Block& block = decomposition.blocks()[0];
  for (const std::uint64_t budget : {10U, 100U, 1000U}) {
    BlockSchedule best{.ops = std::vector<BlockPlacement>(block.size), .makespan = kSerialTicks};
    Stop stop({.work = budget});
    const PassResult result = LayeredSearch<1>().pass(block, worths_of(block), kTogether, best, stop);
    EXPECT_FALSE(result.complete);
    EXPECT_LE(stop.spent(), 2 * budget + 10) << budget;
  }
}

// What was not seen may be the best: the first states have more sets to start than such budgets pay for.
TEST(Pass, one_whose_budget_ends_leaves_a_bound) {
  std::size_t ended = 0;
  for_each_block(9, [&](const Block& block, Ticks optimum) {
    for (std::uint64_t budget = 1; budget <= 12; ++budget) {
      BlockSchedule best{.ops = std::vector<BlockPlacement>(block.size), .makespan = 2 * optimum};
      Stop stop({.work = budget});
      const PassLimits& limits = budget % 2 == 0 ? kTogether : kByBounds;
      const PassResult result = LayeredSearch<1>().pass(block, worths_of(block), limits, best, stop);
      if (result.complete) continue;
      EXPECT_LE(std::min(result.least_cut, static_cast<double>(best.makespan)),
                static_cast<double>(optimum) * (1 + kTimeTolerance))
          << "budget " << budget;
      ++ended;
    }
  });
  EXPECT_GT(ended, kInstances);
}

TEST(Pass, a_schedule_that_is_short_enough_ends_it) {
  std::uint64_t states = 0, states_until_short_enough = 0;
  for_each_block(9, [&](const Block& block, Ticks optimum) {
    BlockSchedule best;
    states += pass(block, {.width = 4096}, best).states;
    const Ticks enough = optimum + optimum / 10;
    const PassResult result = pass(block, {.width = 4096, .enough = enough}, best);
    EXPECT_LE(best.makespan, enough);
    EXPECT_FALSE(result.complete && best.makespan > optimum);
    states_until_short_enough += result.states;
  });
  EXPECT_LT(states_until_short_enough, states);
}

TEST(BlockGoal, is_met_by_a_bound_or_by_any_schedule_below_it) {
  for_each_block(8, [&](const Block& block, Ticks optimum) {
    for (const double share : {0.8, 0.95, 1.0, 1.05, 1.3}) {
      const Goal goal{.ticks = static_cast<Ticks>(share * static_cast<double>(optimum)), .any_shorter_will_do = true};
      BlockResult result;
      Statistics statistics;
      Stop stop;
      BlockSolver().solve(block, goal, stop, result, statistics);
      EXPECT_LE(static_cast<double>(result.lower_bound), static_cast<double>(optimum) * (1 + 1e-8)) << share;
      EXPECT_GE(static_cast<double>(result.schedule.makespan), static_cast<double>(optimum) * (1 - 1e-8)) << share;
      if (share > 1)
        EXPECT_LT(result.schedule.makespan, goal.ticks) << share;
      else
        EXPECT_GE(static_cast<double>(result.lower_bound), static_cast<double>(goal.ticks) * (1 - 1e-8)) << share;
    }
  });
}

}  // namespace
}  // namespace phaze::schedule
