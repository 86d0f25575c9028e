// The parts of the exact engine: sets, decomposition, bounds, lists.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

#include "phaze/schedule/antichain.h"
#include "phaze/schedule/bounds.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/heuristics.h"
#include "phaze/schedule/op_set.h"
#include "phaze/schedule/op_set_map.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

using testing::Model;

constexpr std::array kModels = {Model::kPhaze, Model::kMoldable, Model::kAnything};

Instance with_edges(std::size_t ops, std::initializer_list<std::pair<int, int>> edges) {
  Instance instance;
  instance.resources = {{"tc", 2}};
  for (std::size_t i = 0; i < ops; ++i) {
    instance.add_op(std::to_string(i));
    instance.add_mode(1, std::array{1.0});
  }
  for (const auto& [from, to] : edges)
    instance.add_edge(OpId(static_cast<std::size_t>(from)), OpId(static_cast<std::size_t>(to)));
  return instance;
}

TEST(OpSet, knows_its_last_member) {
  OpSet<2> set;
  for (const std::size_t member : {0U, 5U, 63U, 64U, 90U, 127U}) {
    set.insert(member);
    EXPECT_EQ(set.last(), member);
  }
  OpSet<2> other = set;
  EXPECT_EQ(set, other);
  other.erase(64);
  EXPECT_NE(set, other);
}

TEST(OpSet, knows_its_members_below_another_one) {
  OpSet<2> set;
  for (const std::size_t member : {0U, 5U, 63U, 64U, 90U, 127U}) set.insert(member);
  for (std::size_t i = 0; i < 128; ++i) {
    OpSet<2> expected;
    set.for_each([&](std::size_t member) {
      if (member < i) expected.insert(member);
    });
    EXPECT_EQ(set.below(i), expected) << i;
  }
}

// Found and added at random, as by a map of the library.
TEST(OpSetMap, gives_every_set_the_value_it_was_added_with) {
  std::mt19937_64 random(11);
  OpSetMap<2, int> values;
  for (const std::size_t additions : {0U, 10U, 2000U, 30U}) {
    values.clear();
    std::map<std::array<std::uint64_t, 2>, int> expected;
    for (std::size_t i = 0; i < additions; ++i) {
      const OpSet<2> set{.words = {random() % 40, random() % 40}};
      const int value = static_cast<int>(i);
      const int* known = values.find(set);
      const auto at = expected.find(set.words);
      ASSERT_EQ(known == nullptr, at == expected.end());
      if (known != nullptr) {
        EXPECT_EQ(*known, at->second);
      }
      EXPECT_EQ(values.emplace(set, value), expected.try_emplace(set.words, value).first->second);
      if (i % 3 == 0) values.emplace(set, value) = expected[set.words] = -value;
    }
    for (const auto& [words, value] : expected) EXPECT_EQ(*values.find({.words = words}), value);
    EXPECT_EQ(values.find({.words = {100, 100}}), nullptr);
  }
}

TEST(Decomposition, operators_comparable_with_all_others_stand_alone) {
  // 0 -> {1, 2} -> 3 -> {4 -> 5, 6} -> 7
  const Instance instance =
      with_edges(8, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {3, 6}, {5, 7}, {6, 7}, {0, 3}});
  Decomposition decomposition;
  decomposition.split(instance);
  ASSERT_EQ(decomposition.blocks().size(), 2U);
  EXPECT_EQ(decomposition.blocks()[0].original, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(decomposition.blocks()[1].size, 3U);
  EXPECT_EQ(decomposition.seconds_alone(), 3);
}

TEST(Decomposition, a_join_of_several_with_several_is_a_cut) {
  const Instance instance = with_edges(4, {{0, 2}, {0, 3}, {1, 2}, {1, 3}});
  Decomposition decomposition;
  decomposition.split(instance);
  EXPECT_EQ(decomposition.blocks().size(), 2U);
}

TEST(Decomposition, a_chain_has_no_blocks) {
  const Instance instance = with_edges(4, {{0, 1}, {1, 2}, {2, 3}});
  Decomposition decomposition;
  decomposition.split(instance);
  EXPECT_TRUE(decomposition.blocks().empty());
}

TEST(Decomposition, modes_that_another_one_beats_are_dropped) {
  Instance instance = with_edges(2, {});
  instance.add_op("2");
  instance.add_mode(3, std::array{1.0});
  instance.add_mode(2, std::array{2.0});
  instance.add_mode(3, std::array{2.0});  // slower than the second for as much
  instance.add_mode(2, std::array{2.0});  // the second again
  Decomposition decomposition;
  decomposition.split(instance);
  const Block& block = decomposition.blocks()[0];
  const std::size_t op = static_cast<std::size_t>(std::ranges::find(block.original, 2U) - block.original.begin());
  ASSERT_EQ(block.mode_offsets[op + 1] - block.mode_offsets[op], 2U);
  EXPECT_EQ(block.modes[block.mode_offsets[op]].original, 1U);
  EXPECT_EQ(block.modes[block.mode_offsets[op] + 1].original, 0U);
  EXPECT_TRUE(block.modes[block.mode_offsets[op]].exclusive);
}

TEST(Decomposition, resources_that_never_run_out_first_are_dropped) {
  Instance instance;
  instance.resources = {{"network", 1}, {"tc", 4}, {"tc again", 8}, {"vc", 2}};
  for (int i = 0; i < 2; ++i) {
    instance.add_op("product");
    instance.add_mode(2, std::array{0.0, 1.0, 2.0, 0.0});
    instance.add_mode(1, std::array{1.0, 4.0, 8.0, 2.0});
    instance.add_op("vector operator");
    instance.add_mode(1, std::array{0.0, 0.0, 0.0, 1.0});
  }
  Decomposition decomposition;
  decomposition.split(instance);
  ASSERT_EQ(decomposition.blocks().size(), 1U);
  const Block& block = decomposition.blocks()[0];
  EXPECT_EQ(block.resources, 2U);
  constexpr Units kAll = kCapacityUnits;
  EXPECT_EQ(std::vector(block.demands.begin(), block.demands.begin() + 6),
            (std::vector<Units>{kAll, kAll, kAll / 4, 0, 0, kAll / 2}));
}

TEST(Block, reversing_twice_and_mirroring_twice_change_nothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 12, seed);
    Decomposition decomposition;
    decomposition.split(instance);
    for (const Block& block : decomposition.blocks()) {
      Block once, twice;
      reverse(block, once);
      reverse(once, twice);
      EXPECT_EQ(twice.before, block.before);
      EXPECT_EQ(twice.demands, block.demands);
      Block derived = once;
      derived.derive();
      EXPECT_EQ(once.fastest, derived.fastest);
      EXPECT_EQ(once.heads, derived.heads);
      EXPECT_EQ(once.tails, derived.tails);
      EXPECT_EQ(once.paths, derived.paths);
      ASSERT_EQ(once.modes.size(), derived.modes.size());
      for (std::size_t m = 0; m < once.modes.size(); ++m)
        EXPECT_EQ(once.modes[m].exclusive, derived.modes[m].exclusive);
      BlockSchedule schedule;
      ListScheduler lists;
      lists.run(block, 0, schedule);
      BlockSchedule there = schedule;
      mirror(once, there);
      mirror(block, there);
      for (std::size_t i = 0; i < block.size; ++i) {
        EXPECT_EQ(there.ops[i].mode, schedule.ops[i].mode);
        EXPECT_EQ(there.ops[i].start, schedule.ops[i].start);
      }
    }
  }
}

// Of every block: simple bounds and antichain bound ≤ optimum ≤ every list schedule, each of which is valid.
TEST(Parts, bounds_are_below_the_optimum_and_lists_above) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 2 + seed % 6, 9'000'000 + seed);
    Decomposition decomposition;
    decomposition.split(instance);
    const double optimum = testing::least_makespan(instance);
    double simple = decomposition.seconds_alone(), antichain = simple;
    std::vector<BlockSchedule> lists, improved;
    Stop stop;
    for (const Block& block : decomposition.blocks()) {
      const double tick = decomposition.seconds_per_tick();
      simple += static_cast<double>(SimpleBounds().compute(block)) * tick;
      AntichainBound<1> bound;
      const double value = bound.solve(block, {}, 1e300, stop);
      double worth = 0, path = 0;
      for (std::size_t i = 0; i < block.size; ++i) {
        worth += bound.worth()[i];
        path = std::max(path, static_cast<double>(block.heads[i] + block.fastest[i] + block.tails[i]));
      }
      EXPECT_NEAR(worth, value, 1e-6 * value);
      EXPECT_GE(value, path * (1 - 1e-6)) << "the antichain bound is at least the critical path";
      antichain += value * tick;
      ListScheduler scheduler;
      scheduler.run(block, 0, lists.emplace_back());
      Block reversed;
      reverse(block, reversed);
      scheduler.improve(block, reversed, improved.emplace_back(lists.back()));
      EXPECT_LE(improved.back().makespan, lists.back().makespan);
    }
    EXPECT_LE(simple, optimum * (1 + 1e-9)) << "seed " << seed;
    EXPECT_LE(antichain, optimum * (1 + 1e-9)) << "seed " << seed;
    for (const auto& schedules : {lists, improved}) {
      Schedule schedule;
      decomposition.assemble(schedules, schedule);
      EXPECT_TRUE(evaluate(instance, schedule).valid()) << "seed " << seed;
      EXPECT_GE(schedule.makespan, optimum * (1 - 1e-9)) << "seed " << seed;
    }
  }
}

// Two operators share a core and one runs beside them: every moment earns at most one.
TEST(AntichainBound, sees_what_neither_path_nor_work_sees) {
  Instance instance;
  instance.resources = {{"a", 1}, {"b", 1}};
  const auto add = [&](double a, double b) {
    instance.add_op("op");
    instance.add_mode(1, std::array{a, b});
  };
  add(0.6, 0.0);
  add(0.6, 0.6);
  add(0.0, 0.6);
  add(0.6, 0.6);
  Decomposition decomposition;
  decomposition.split(instance);
  const Block& block = decomposition.blocks()[0];
  Stop stop;
  AntichainBound<1> bound;
  const double ticks = bound.solve(block, {}, 1e300, stop);
  EXPECT_NEAR(ticks * decomposition.seconds_per_tick(), 3, 1e-6);
  EXPECT_LT(static_cast<double>(SimpleBounds().compute(block)) * decomposition.seconds_per_tick(), 2);
}

}  // namespace
}  // namespace phaze::schedule
