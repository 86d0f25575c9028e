#include "phaze/schedule/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/antichain.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/heuristics.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kInstances = kThinTests ? 40 : 300;

using testing::Model;
using Set = std::vector<std::uint32_t>;  // modes

std::uint32_t op_of(const Block& block, std::uint32_t mode) {
  std::uint32_t op = 0;
  while (block.mode_offsets[op + 1] <= mode) ++op;
  return op;
}

// Calls visit(set) for all sets of modes that may run side by side, by trying every mode of every operator.
template <typename Visit>
void for_each_set(const Block& block, std::uint32_t op, Set& set, Visit& visit) {
  if (op == block.size) return visit(set);
  for_each_set(block, op + 1, set, visit);
  for (std::uint32_t mode = block.mode_offsets[op]; mode < block.mode_offsets[op + 1]; ++mode) {
    bool fits = true;
    for (std::size_t k = 0; k < block.resources; ++k) {
      Units held = block.demand(mode)[k];
      for (const std::uint32_t other : set) held += block.demand(other)[k];
      fits = fits && held <= kCapacityUnits;
    }
    for (const std::uint32_t other : set) fits = fits && !block.comparable(op, op_of(block, other));
    if (!fits) continue;
    set.push_back(mode);
    for_each_set(block, op + 1, set, visit);
    set.pop_back();
  }
}

double earned(const Set& set, std::span<const double> rates) {
  double sum = 0;
  for (const std::uint32_t mode : set) sum += rates[mode];
  return sum;
}

double most_earned(const Block& block, std::span<const double> rates) {
  double most = 0;
  Set set;
  const auto look = [&](const Set& found) { most = std::max(most, earned(found, rates)); };
  for_each_set(block, 0, set, look);
  return most;
}

template <typename Visit>
void for_each_block(Visit&& visit) {
  constexpr std::array kModels = {Model::kPhaze, Model::kMoldable, Model::kAnything};
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    SCOPED_TRACE(seed);
    Decomposition decomposition;
    decomposition.split(testing::random_instance(kModels[seed % 3], 3 + seed % 5, 77'000 + seed));
    for (const Block& block : decomposition.blocks()) visit(block, seed);
  }
}

TEST(SideBySide, groups_are_the_maximal_antichains) {
  for_each_block([](const Block& block, std::uint64_t) {
    std::set<std::vector<std::uint32_t>> expected, found;
    for (std::uint32_t bits = 1; bits < (1U << block.size); ++bits) {
      std::vector<std::uint32_t> members;
      bool maximal = true, antichain = true;
      for (std::uint32_t op = 0; op < block.size; ++op) {
        const bool member = ((bits >> op) & 1U) != 0;
        bool beside_all = true;
        for (std::uint32_t other = 0; other < block.size; ++other)
          if (other != op && ((bits >> other) & 1U) != 0 && block.comparable(op, other)) beside_all = false;
        if (member) members.push_back(op);
        antichain = antichain && (!member || beside_all);
        maximal = maximal && (member || !beside_all);
      }
      if (antichain && maximal) expected.insert(members);
    }
    SideBySide<1> side_by_side;
    side_by_side.find(block);
    EXPECT_TRUE(side_by_side.are_antichains());
    for (std::size_t group = 0; group < side_by_side.groups(); ++group) {
      std::vector<std::uint32_t> members;
      for (std::uint32_t chain = side_by_side.begin(group); chain < side_by_side.end(group); ++chain) {
        ASSERT_EQ(side_by_side.chain(chain).size(), 1U);
        members.push_back(side_by_side.chain(chain).front());
      }
      EXPECT_TRUE(found.insert(members).second) << "no group twice";
    }
    EXPECT_EQ(found, expected);
  });
}

// Six chains of eight operators have 8^6 maximal antichains.
TEST(SideBySide, a_wide_order_is_covered_by_chains) {
  Instance instance;
  instance.resources = {{"tc", 2}};
  for (std::size_t op = 0; op < 48; ++op) {
    instance.add_op("op");
    instance.add_mode(1, std::array{1.0});
    if (op % 8 != 0) instance.add_edge(OpId(op - 1), OpId(op));
  }
  Decomposition decomposition;
  decomposition.split(instance);
  ASSERT_EQ(decomposition.blocks().size(), 1U);
  const Block& block = decomposition.blocks()[0];
  SideBySide<1> side_by_side;
  side_by_side.find(block);
  EXPECT_FALSE(side_by_side.are_antichains());
  ASSERT_EQ(side_by_side.groups(), 1U);
  EXPECT_EQ(side_by_side.end(0), 6U) << "chains";
  std::set<std::uint32_t> covered;
  for (std::uint32_t chain = 0; chain < side_by_side.end(0); ++chain)
    for (const std::uint32_t op : side_by_side.chain(chain)) {
      EXPECT_TRUE(covered.insert(op).second);
      for (const std::uint32_t other : side_by_side.chain(chain))
        EXPECT_TRUE(op == other || block.comparable(op, other));
    }
  EXPECT_EQ(covered.size(), block.size);
}

std::vector<double> random_rates(const Block& block, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> rate(0, 1);
  std::vector<double> rates(block.modes.size());
  for (std::size_t op = 0; op < block.size; ++op) {
    const double worth = rate(random) * static_cast<double>(block.fastest[op]);
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m)
      rates[m] = worth / static_cast<double>(block.modes[m].duration);
  }
  return rates;
}

// By antichains, and with chains that cover the order.
TEST(Packing, finds_the_set_that_earns_most) {
  for_each_block([](const Block& block, std::uint64_t seed) {
    const std::vector<double> rates = random_rates(block, seed);
    for (const std::size_t most_groups : {SideBySide<1>::kMostGroups, std::size_t{0}}) {
      Packing<1> packing;
      packing.prepare(block, most_groups);
      EXPECT_EQ(packing.has_antichains(), most_groups > 0);
      double most = 0;
      for (std::size_t group = 0; group < packing.groups(); ++group) {
        const auto answer = packing.price(group, rates, most, 1'000'000);
        if (!answer.found) {
          EXPECT_LE(answer.most, most * (1 + 1e-9) + 1e-9);
          continue;
        }
        Set set;
        for (const auto& choice : packing.best()) {
          EXPECT_EQ(choice.part, 1);
          EXPECT_EQ(choice.op, op_of(block, choice.mode));
          set.push_back(choice.mode);
        }
        EXPECT_GT(earned(set, rates), most);
        most = earned(set, rates);
        EXPECT_FALSE(packing.price(group, rates, most, 1'000'000).found) << "it is the best of its group";
      }
      // Exclusive modes are left to those who ask.
      for (std::size_t mode = 0; mode < rates.size(); ++mode)
        if (block.modes[mode].exclusive) most = std::max(most, rates[mode]);
      EXPECT_NEAR(most, most_earned(block, rates), 1e-9);
    }
  });
}

// Branches of dozens of operators, few enough abreast to ask every maximal antichain, too.
TEST(Packing, knows_a_wide_order_as_well_as_its_antichains) {
  double bounds = 0, blocks = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 10; ++seed) {
    SCOPED_TRACE(seed);
    Decomposition decomposition;
    decomposition.split(testing::random_branches(seed % 2 == 0 ? Model::kPhaze : Model::kMoldable, 30, 3, seed));
    for (const Block& block : decomposition.blocks()) {
      const std::vector<double> rates = random_rates(block, seed);
      Packing<1> packing, wide;
      packing.prepare(block, 100'000);
      wide.prepare(block, 0);
      ASSERT_TRUE(packing.has_antichains());
      const auto climb = [&](Packing<1>& one, std::size_t group, double most) {
        while (one.price(group, rates, most, 100'000'000).found) {
          most = 0;
          for (const auto& choice : one.best()) most += choice.part * rates[choice.mode];
        }
        return most;
      };
      double most = 0;
      for (std::size_t group = 0; group < packing.groups(); ++group) most = climb(packing, group, most);
      EXPECT_NEAR(climb(wide, 0, 0), most, 1e-9);
      const double bound = wide.most(0, rates);
      EXPECT_GE(bound, most * (1 - 1e-12));
      bounds += bound / most;
      ++blocks;
    }
  }
  EXPECT_LT(bounds, 1.2 * blocks) << "by rents alone";
}

TEST(Packing, lifted_rates_of_sets_that_earn_one_add_up_to_no_more) {
  std::size_t lifted = 0;
  for_each_block([&](const Block& block, std::uint64_t seed) {
    for (const std::size_t most_groups : {SideBySide<1>::kMostGroups, std::size_t{0}}) {
      std::vector<double> rates = random_rates(block, seed);
      const double most = most_earned(block, rates);
      for (double& rate : rates) rate /= most;
      Packing<1> packing;
      packing.prepare(block, most_groups);
      // Sets the rents.
      for (std::size_t group = 0; group < packing.groups(); ++group) packing.price(group, rates, 1 + 1e-9, 1000);
      const std::vector<double> before = rates;
      packing.lift(rates);
      EXPECT_LE(most_earned(block, rates), 1 + 1e-9);
      for (std::size_t mode = 0; mode < rates.size(); ++mode) lifted += rates[mode] > before[mode] * 1.001 ? 1 : 0;
    }
  });
  EXPECT_GT(lifted, kInstances);
}

// With no steps but the first few, only the relaxation is left to answer: it earns more than the best set.
TEST(Packing, where_the_search_gives_up_the_relaxation_is_a_bound) {
  std::size_t given_up = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Decomposition decomposition;
    decomposition.split(testing::random_instance(seed % 2 == 0 ? Model::kMoldable : Model::kAnything, 24, seed));
    for (const Block& block : decomposition.blocks()) {
      const std::vector<double> rates = random_rates(block, seed);
      Packing<1> whole, part;
      whole.prepare(block);
      part.prepare(block);
      for (std::size_t group = 0; group < whole.groups(); ++group) {
        double most = 0;
        while (whole.price(group, rates, most, 10'000'000).found) {
          most = 0;
          for (const auto& choice : whole.best()) most += choice.part * rates[choice.mode];
        }
        const auto answer = part.price(group, rates, most * (1 + 1e-6), 0);
        EXPECT_GE(part.most(group, rates), most * (1 - 1e-9));
        if (!answer.found) continue;
        double relaxed = 0;
        for (const auto& choice : part.best()) relaxed += choice.part * rates[choice.mode];
        EXPECT_NEAR(relaxed, answer.most, 1e-6 * relaxed) << "the rents are those of the relaxation";
        ++given_up;
      }
    }
  }
  EXPECT_GT(given_up, 0U);
}

TEST(AntichainBound, no_set_earns_more_than_one_lifted_or_not) {
  std::size_t lifted = 0;
  for_each_block([&](const Block& block, std::uint64_t) {
    AntichainBound<1> bound;
    Stop stop;
    const double value = bound.solve(block, {}, 1e300, stop);
    EXPECT_GT(value, 0);
    EXPECT_NEAR(most_earned(block, bound.rates()), 1, 1e-9) << "the LP is solved to its end";
    const std::vector<double> before(bound.rates().begin(), bound.rates().end());
    bound.lift();
    EXPECT_LE(most_earned(block, bound.rates()), 1 + 1e-9);
    for (std::size_t mode = 0; mode < before.size(); ++mode) {
      EXPECT_GE(bound.rates()[mode], before[mode] * (1 - 1e-12));
      lifted += bound.rates()[mode] > before[mode] * 1.001 ? 1 : 0;
    }
  });
  EXPECT_GT(lifted, kInstances);
}

// Too many maximal antichains to ask all of them on the way, but not for a test.
TEST(AntichainBound, is_a_worth_in_wide_orders_however_its_budget_ends) {
  std::size_t wide = 0;
  for (std::uint64_t seed = 0; seed < kInstances / 15; ++seed) {
    SCOPED_TRACE(seed);
    Decomposition decomposition;
    decomposition.split(testing::random_branches(seed % 2 == 0 ? Model::kPhaze : Model::kMoldable, 32, 4, seed));
    for (const Block& block : decomposition.blocks()) {
      Packing<1> as_usual, exhaustive;
      as_usual.prepare(block);
      exhaustive.prepare(block, 100'000);
      ASSERT_TRUE(exhaustive.has_antichains());
      if (as_usual.has_antichains()) continue;
      ++wide;
      for (const std::uint64_t work : {std::uint64_t{100}, std::uint64_t{2000}, Stop::kUnlimited}) {
        AntichainBound<1> bound;
        Stop stop({.work = work});
        EXPECT_GT(bound.solve(block, {}, 1e300, stop), 0);
        for (const bool lifted : {false, true}) {
          if (lifted) bound.lift();
          for (std::size_t mode = 0; mode < block.modes.size(); ++mode) EXPECT_LE(bound.rates()[mode], 1 + 1e-9);
          for (std::size_t group = 0; group < exhaustive.groups(); ++group) {
            const auto answer = exhaustive.price(group, bound.rates(), 1 + 1e-8, 1'000'000);
            ASSERT_FALSE(answer.found) << "work " << work;
          }
        }
      }
    }
  }
  EXPECT_GT(wide, kInstances / 60);
}

TEST(AntichainBound, is_the_same_wherever_it_begins_and_however_the_budget_ends_a_bound) {
  for_each_block([](const Block& block, std::uint64_t) {
    AntichainBound<1> bound;
    Stop stop;
    const double whole = bound.solve(block, {}, 1e300, stop);
    BlockSchedule serial;
    ListScheduler::run_serially(block, serial);
    EXPECT_NEAR(bound.solve(block, serial, 1e300, stop), whole, 1e-8 * whole);
    for (const std::uint64_t work : {1U, 10U, 40U}) {
      Stop soon({.work = work});
      const double part = bound.solve(block, {}, 1e300, soon);
      EXPECT_LE(part, whole * (1 + 1e-8));
      EXPECT_LE(most_earned(block, bound.rates()), 1 + 1e-9);
    }
  });
}

}  // namespace
}  // namespace phaze::schedule
