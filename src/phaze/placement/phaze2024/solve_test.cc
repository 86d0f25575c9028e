#include "phaze/placement/phaze2024/solve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/placement/phaze2024/graph.h"
#include "phaze/placement/phaze2024/stage_list.h"
#include "phaze/placement/phaze2024/testing/brute_force.h"
#include "phaze/placement/phaze2024/testing/device_table.h"
#include "phaze/placement/phaze2024/testing/random_instance.h"

namespace phaze::placement::phaze2024 {
namespace {

constexpr int kFewer = kThinTests ? 10 : 1;

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

Solution solve_generally(const Instance& instance) {
  NoProgress progress;
  return solve(instance, {.use_chain_solver = false}, progress);
}

// Time, or a number larger than any if there is no plan.
double time_of(const Instance& instance) {
  NoProgress progress;
  const Solution solution = solve(instance, {.explain = false}, progress);
  return solution.plan ? solution.evaluation.time_per_batch : std::numeric_limits<double>::infinity();
}

void expect_brute_force(Shape shape, int rounds, std::size_t largest) {
  int feasible = 0;
  std::int64_t planes = 0;
  for (int round = 0; round < rounds / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) * 977 + static_cast<std::uint64_t>(shape));
    const Instance instance = random_instance(random, shape, 1 + random() % largest);
    ASSERT_TRUE(validate(instance)) << to_string(validate(instance).error());
    const auto expected = brute_force(instance);
    const Solution solution = solve(instance);
    ASSERT_EQ(solution.plan.has_value(), expected.has_value()) << "round " << round;
    ASSERT_EQ(solution.termination, expected ? Termination::kOptimal : Termination::kInfeasible) << "round " << round;
    feasible += expected ? 1 : 0;
    planes = std::max(planes, solution.statistics.planes - static_cast<std::int64_t>(instance.widths.size()));
    if (!expected) continue;
    ASSERT_TRUE(same(solution.evaluation.time_per_batch, *expected))
        << "round " << round << ": " << solution.evaluation.time_per_batch << " instead of " << *expected;
  }
  // The test tests something only if both answers occur often, and single stages are counted now and then.
  EXPECT_GT(planes, 0);
  EXPECT_GT(feasible, rounds / kFewer / 4);
  EXPECT_LT(feasible, rounds / kFewer * 19 / 20);
}

TEST(Solve, equals_brute_force_on_chains) { expect_brute_force(Shape::kChain, 4000, 8); }
TEST(Solve, equals_brute_force_on_chains_with_skip_edges) { expect_brute_force(Shape::kSkips, 4000, 7); }
TEST(Solve, equals_brute_force_on_two_towers) { expect_brute_force(Shape::kTowers, 800, 6); }
TEST(Solve, equals_brute_force_on_any_graph) { expect_brute_force(Shape::kAnyDag, 1500, 5); }

TEST(Solve, under_a_limit_it_finds_the_best_plan_below_it_or_none) {
  NoProgress progress;
  for (const Shape shape : {Shape::kChain, Shape::kAnyDag})
    for (std::uint64_t round = 0; round < 100; ++round) {
      std::mt19937_64 random(round);
      const Instance instance = random_instance(random, shape, 1 + random() % 6);
      const double best = time_of(instance);
      if (!std::isfinite(best)) continue;
      const Solution below = solve(instance, {.expert = false, .below = best * 1.0001}, progress);
      ASSERT_TRUE(below.plan) << "round " << round;
      EXPECT_TRUE(same(below.evaluation.time_per_batch, best)) << "round " << round;
      EXPECT_FALSE(below.expert);
      EXPECT_FALSE(solve(instance, {.explain = false, .below = best * (1 - 1e-9)}, progress).plan) << "round " << round;
    }
}

// The table over devices is the method of the released tool, and reaches chains that brute force does not.
TEST(Solve, equals_the_table_over_devices_on_longer_chains) {
  int feasible = 0;
  std::int64_t planes = 0;
  for (int round = 0; round < 600 / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) + 9000);
    Instance instance = random_instance(random, round % 2 == 0 ? Shape::kChain : Shape::kSkips, 8 + random() % 17);
    instance.devices = 1 + static_cast<std::int64_t>(random() % 60);
    instance.microbatches *= 1 + static_cast<std::int64_t>(random() % 20);
    const auto expected = device_table(instance);
    const Solution solution = solve(instance);
    ASSERT_EQ(solution.plan.has_value(), expected.has_value()) << "round " << round;
    if (!expected) continue;
    ++feasible;
    planes = std::max(planes, solution.statistics.planes);
    ASSERT_TRUE(same(solution.evaluation.time_per_batch, *expected))
        << "round " << round << ": " << solution.evaluation.time_per_batch << " instead of " << *expected;
  }
  EXPECT_GT(feasible, 200 / kFewer);
  EXPECT_GT(planes, 6);
}

TEST(Solve, the_chain_solver_and_the_general_one_agree_on_longer_chains) {
  for (int round = 0; round < 400 / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) + 5000);
    Instance instance = random_instance(random, round % 2 == 0 ? Shape::kChain : Shape::kSkips, 10 + random() % 25);
    instance.devices *= 1 + static_cast<std::int64_t>(random() % 20);
    instance.microbatches *= 1 + static_cast<std::int64_t>(random() % 50);
    const Solution chain = solve(instance);
    const Solution general = solve_generally(instance);
    ASSERT_TRUE(chain.statistics.chain);
    ASSERT_FALSE(general.statistics.chain);
    ASSERT_EQ(chain.plan.has_value(), general.plan.has_value()) << "round " << round;
    if (!chain.plan) continue;
    ASSERT_TRUE(same(chain.evaluation.time_per_batch, general.evaluation.time_per_batch)) << "round " << round;
  }
}

constexpr Shape kShapes[] = {Shape::kChain, Shape::kSkips, Shape::kTowers, Shape::kAnyDag};

TEST(Solve, neither_ids_nor_the_order_in_the_file_matter) {
  for (int round = 0; round < 400 / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) + 100);
    Instance instance = random_instance(random, kShapes[round % 4], 2 + random() % 7);
    const double before = time_of(instance);
    std::map<std::int64_t, std::int64_t> renamed;
    std::vector<std::int64_t> ids;
    for (const Node& node : instance.widths.front().nodes) ids.push_back(node.id * 1000 + 7);
    std::ranges::shuffle(ids, random);
    for (const Node& node : instance.widths.front().nodes) renamed[node.id] = ids[renamed.size()];
    for (Width& width : instance.widths) {
      for (Node& node : width.nodes) node.id = renamed.at(node.id);
      for (Edge& edge : width.edges) edge = {renamed.at(edge.source), renamed.at(edge.target), edge.bytes};
      std::ranges::shuffle(width.nodes, random);
      std::ranges::shuffle(width.edges, random);
    }
    const double after = time_of(instance);
    ASSERT_TRUE(before == after || same(before, after)) << "round " << round << ": " << before << " and " << after;
  }
}

TEST(Solve, more_devices_memory_or_bandwidth_never_hurts) {
  for (int round = 0; round < 400 / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) + 200);
    const Instance instance = random_instance(random, kShapes[round % 4], 2 + random() % 7);
    const double before = time_of(instance) * (1 + 1e-12);
    Instance more = instance;
    more.devices += 1 + static_cast<std::int64_t>(random() % 5);
    EXPECT_LE(time_of(more), before) << "devices, round " << round;
    more = instance;
    more.memory_per_device *= 1.3;
    EXPECT_LE(time_of(more), before) << "memory, round " << round;
    more = instance;
    more.bandwidth *= 1.3;
    EXPECT_LE(time_of(more), before) << "bandwidth, round " << round;
  }
}

TEST(Solve, a_further_width_never_hurts) {
  for (int round = 0; round < 200 / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) + 300);
    Instance instance = random_instance(random, kShapes[round % 4], 2 + random() % 7);
    const double all = time_of(instance);
    double best = std::numeric_limits<double>::infinity();
    for (const Width& width : std::vector<Width>(instance.widths)) {
      instance.widths = {width};
      best = std::min(best, time_of(instance));
    }
    ASSERT_EQ(all, best) << "round " << round;
  }
}

TEST(Solve, what_it_says_would_do_does_and_less_does_not) {
  int explained = 0;
  for (int round = 0; round < 1500 / kFewer; ++round) {
    std::mt19937_64 random(static_cast<std::uint64_t>(round) + 400);
    const Instance instance = random_instance(random, kShapes[round % 4], 2 + random() % 6);
    const Solution solution = solve(instance);
    if (solution.plan) continue;
    ++explained;
    ASSERT_TRUE(solution.shortage && solution.shortage->exact);
    ASSERT_FALSE(to_string(instance, *solution.shortage).empty());
    Instance changed = instance;
    if (solution.shortage->memory_per_device) {
      changed.memory_per_device = *solution.shortage->memory_per_device;
      EXPECT_TRUE(solve(changed).plan) << "round " << round;
      // Brute force adds in another order, so it is asked beside the last digit.
      changed.memory_per_device *= 1 + 1e-9;
      EXPECT_TRUE(brute_force(changed)) << "round " << round;
      changed.memory_per_device *= 1 - 2e-9;
      EXPECT_FALSE(brute_force(changed)) << "round " << round;
    } else {
      changed.memory_per_device = 1e300;
      EXPECT_FALSE(brute_force(changed)) << "round " << round;
      changed.devices = solution.shortage->devices_at_least;
      EXPECT_TRUE(brute_force(changed)) << "round " << round;
    }
    changed = instance;
    if (solution.shortage->devices) {
      changed.devices = *solution.shortage->devices;
      EXPECT_TRUE(brute_force(changed)) << "round " << round;
      --changed.devices;
      EXPECT_TRUE(changed.devices == 0 || !brute_force(changed)) << "round " << round;
    } else {
      changed.devices = 1000;
      EXPECT_FALSE(brute_force(changed)) << "round " << round;
    }
  }
  EXPECT_GT(explained, 200 / kFewer);
}

// A feasible instance with real branches.
Instance two_towers() {
  std::mt19937_64 random(7);
  for (;;) {
    const Instance instance = random_instance(random, Shape::kTowers, 12);
    const Solution solution = solve(instance);
    if (solution.plan && !solution.statistics.chain) return instance;
  }
}

TEST(Solve, a_limit_is_reported_and_the_plan_is_still_good) {
  Instance instance = two_towers();
  instance.widths.resize(1);
  instance.memory_per_device = 1e9;
  NoProgress progress;
  const Graph graph = make_graph(instance, instance.widths.front(), topological_order(instance));
  const StageList list(instance, graph, instance.memory_per_device, kDefaultStageLimit, progress);
  ASSERT_TRUE(list.complete());
  const double best = time_of(instance);
  // Too low for the downsets, just too low for the stages, just enough.
  for (const std::size_t limit : {std::size_t{32}, list.stages() - 1, list.stages()}) {
    const Solution solution = solve(instance, {.stage_limit = limit}, progress);
    EXPECT_EQ(solution.termination, limit < list.stages() ? Termination::kLimit : Termination::kOptimal) << limit;
    ASSERT_TRUE(solution.plan);
    EXPECT_GE(solution.evaluation.time_per_batch, best * (1 - 1e-12));
  }
}

TEST(Solve, long_chains_are_explained_from_some_of_their_cuts) {
  std::mt19937_64 random(12);
  Instance instance = random_instance(random, Shape::kChain, 700);
  instance.widths.resize(1);
  instance.memory_per_device = 50;
  const Solution solution = solve(instance);
  ASSERT_TRUE(!solution.plan && solution.shortage && !solution.shortage->exact);
  ASSERT_TRUE(solution.shortage->memory_per_device);
  instance.memory_per_device = *solution.shortage->memory_per_device;
  EXPECT_TRUE(solve(instance).plan);
}

TEST(Solve, stops_when_asked_to) {
  struct Stop final : Progress {
    bool advance(std::string_view, std::int64_t, std::int64_t) override { return false; }
  } stop;
  const Solution solution = solve(two_towers(), {}, stop);
  EXPECT_EQ(solution.termination, Termination::kStopped);
  EXPECT_FALSE(solution.plan);
}

// One layer, one device, by hand: 3 seconds each for 4 microbatches.
TEST(Solve, one_layer_on_one_device_takes_its_seconds_times_the_microbatches) {
  const Instance instance{
      .memory_per_device = 30,
      .devices = 1,
      .bandwidth = 1,
      .microbatches = 4,
      .recompute = true,
      .widths = {
          {1,
           {{.id = -5, .parameter_bytes = 10, .activation_bytes = 10, .forward_seconds = 1, .backward_seconds = 2}},
           {}}}};
  const Solution solution = solve(instance);
  ASSERT_TRUE(solution.plan);
  EXPECT_DOUBLE_EQ(solution.evaluation.time_per_batch, 12);
  EXPECT_EQ(*solution.plan, (Plan{1, 1, {{{-5}, 1}}}));
}

TEST(Solve, the_largest_counts_are_no_problem) {
  std::mt19937_64 random(3);
  Instance instance = random_instance(random, Shape::kSkips, 12);
  instance.memory_per_device = 1e9;
  instance.devices = kLargestCount;
  instance.microbatches = kLargestCount;
  const Solution solution = solve(instance);
  ASSERT_TRUE(solution.plan);
  EXPECT_EQ(solution.termination, Termination::kOptimal);
}

}  // namespace
}  // namespace phaze::placement::phaze2024
