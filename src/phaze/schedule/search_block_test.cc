#include "phaze/schedule/search_block.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

Units heaviest_shareable(const Block& block, std::size_t op, std::size_t resource) {
  Units heaviest = 0;
  for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m)
    if (!block.modes[m].exclusive) heaviest = std::max(heaviest, block.demand(m)[resource]);
  return heaviest;
}

// The most that others demand at one moment beside the operator: of all sets without an order, the heaviest.
Units most_at_once_beside(const Block& block, std::size_t op, std::size_t resource) {
  Units most = 0;
  for (std::size_t set = 0; set < std::size_t{1} << block.size; ++set) {
    const auto has = [&](std::size_t i) { return (set >> i & 1U) != 0; };
    bool unordered = !has(op);
    Units units = 0;
    for (std::size_t i = 0; i < block.size && unordered; ++i) {
      if (!has(i)) continue;
      unordered = !block.comparable(i, op);
      for (std::size_t j = 0; j < i; ++j) unordered = unordered && !(has(j) && block.comparable(i, j));
      units += heaviest_shareable(block, i, resource);
    }
    if (unordered) most = std::max(most, units);
  }
  return most;
}

// What the mode demands of it as far as that is contested.
Units contested_by(const SearchBlock<1>& search, std::size_t mode, std::size_t resource) {
  const auto at = std::ranges::find(search.scarcest_first, resource);
  if (at == search.scarcest_first.end()) return 0;
  return search.demand(mode)[at - search.scarcest_first.begin()];
}

TEST(SearchBlock, demands_are_contested_where_the_resource_could_run_out_beside_the_operator) {
  std::size_t contested = 0, uncontested = 0, too_many = 0, unhindered = 0;
  const auto look_at = [&](const Instance& instance) {
    Decomposition decomposition;
    decomposition.split(instance);
    for (const Block& block : decomposition.blocks()) {
      SearchBlock<1> search;
      search.prepare(block);
      for (std::size_t i = 0; i < block.size; ++i)
        for (std::size_t k = 0; k < block.resources; ++k) {
          const Units beside = most_at_once_beside(block, i, k);
          for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
            const Units units = block.demand(m)[k], counted = contested_by(search, m, k);
            if (block.modes[m].exclusive || units == 0) {
              EXPECT_EQ(counted, 0);
            } else if (units + beside > kCapacityUnits) {
              EXPECT_EQ(counted, units);
              EXPECT_EQ(search.unhindered[m], 0);
              ++contested;
            } else {
              (counted == 0 ? uncontested : too_many) += 1;
            }
          }
        }
      for (std::size_t m = 0; m < block.modes.size(); ++m) unhindered += search.unhindered[m];
    }
  };
  for (std::uint64_t seed = 0; seed < (kThinTests ? 30 : 300); ++seed) {
    look_at(testing::some_with_plenty_of_cores(3 + seed % 7, seed));
    look_at(testing::chains_with_ends(3 + seed % 7, seed));
    look_at(testing::random_instance(testing::Model::kMoldable, 3 + seed % 5, seed));
  }
  EXPECT_GT(contested, uncontested);
  EXPECT_GT(uncontested, 100U);
  EXPECT_LT(too_many, uncontested / 20) << "chains cover what is unordered badly";
  EXPECT_GT(unhindered, 30U);
}

TEST(SearchBlock, of_the_modes_of_an_operator_the_fastest_that_is_shareable_may_be_unhindered) {
  for (std::uint64_t seed = 0; seed < (kThinTests ? 30 : 300); ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::some_with_plenty_of_cores(3 + seed % 7, seed));
    for (const Block& block : decomposition.blocks()) {
      SearchBlock<1> search;
      search.prepare(block);
      for (std::size_t i = 0; i < block.size; ++i)
        for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
          if (search.unhindered[m] != 0) {
            EXPECT_FALSE(block.modes[m].exclusive);
            for (std::size_t faster = block.mode_offsets[i]; faster < m; ++faster)
              EXPECT_TRUE(block.modes[faster].exclusive);
          }
    }
  }
}

}  // namespace
}  // namespace phaze::schedule
