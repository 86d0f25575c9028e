#include "phaze/schedule/phase_rest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/testing/optimum_of_rest.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kInstances = kThinTests ? 60 : 1000;
constexpr std::uint64_t kAllSets = std::numeric_limits<std::uint64_t>::max();

// A block as a search has it.
struct Prepared {
  SearchBlock<1> block;
  std::vector<SearchWorth> worths;

  explicit Prepared(const Block& given) : worths(given.resources) {
    block.prepare(given);
    for (std::size_t k = 0; k < given.resources; ++k) set_worth(given, k, worths[k]);
  }
};

// Operators that may be done when the others have not begun.
OpSet<1> random_beginning(const Block& block, std::mt19937_64& random) {
  OpSet<1> done;
  for (std::size_t i = 0; i < block.size; ++i)
    if (block.set_of<1>(block.before_row(i)).subset_of(done) && random() % 2 == 0) done.insert(i);
  return done;
}

// Calls visit(block, a beginning, the least time for the rest).
template <typename Visit>
void for_each_beginning(const Instance& instance, std::uint64_t seed, Visit&& visit) {
  std::mt19937_64 random(seed);
  Decomposition decomposition;
  decomposition.split(instance);
  for (const Block& block : decomposition.blocks()) {
    const OpSet<1> done = random_beginning(block, random);
    visit(block, done, testing::optimum_of_rest(block, done));
  }
}

TEST(PhaseRest, is_the_optimum_where_resources_suffice) {
  std::size_t with_a_choice = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed)
    for_each_beginning(
        testing::with_plenty_of_cores(9, seed), seed, [&](const Block& block, const OpSet<1>& done, Ticks optimum) {
          const Prepared prepared(block);
          PhaseRest<1> rest;
          rest.begin(prepared.block, prepared.worths, kAllSets);
          EXPECT_EQ(rest.least(done, kNever), optimum) << "seed " << seed;
          EXPECT_EQ(rest.least(done, kNever), optimum) << "once known, seed " << seed;
          with_a_choice += rest.looked_at() > 3 ? 1 : 0;
          rest.begin(prepared.block, prepared.worths, kAllSets);
          for (const Ticks most : {optimum / 2, optimum - 1, optimum, optimum + 1, 2 * optimum, optimum / 3}) {
            const Ticks found = rest.least(done, most);
            EXPECT_LE(found, optimum) << "seed " << seed;
            EXPECT_GE(found, std::min(optimum, most)) << "seed " << seed;
          }
        });
  EXPECT_GT(with_a_choice, kInstances / 4);
}

TEST(PhaseRest, is_a_bound_whatever_there_is_of_resources_and_may_be_looked_at) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = seed % 2 == 0 ? testing::layer_like(8 + seed % 5, seed)
                                            : testing::random_instance(testing::Model::kPhaze, 5 + seed % 4, seed);
    for_each_beginning(instance, seed, [&](const Block& block, const OpSet<1>& done, Ticks optimum) {
      const Prepared prepared(block);
      PhaseRest<1> rest;
      for (const std::uint64_t sets : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5}, kAllSets}) {
        rest.begin(prepared.block, prepared.worths, sets);
        for (const Ticks most : {optimum / 2, optimum, 2 * optimum, kNever})
          EXPECT_LE(rest.least(done, most), optimum) << "seed " << seed;
        EXPECT_LE(rest.looked_at(), sets);
      }
    });
  }
}

}  // namespace
}  // namespace phaze::schedule
