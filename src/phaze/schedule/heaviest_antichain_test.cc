#include "phaze/schedule/heaviest_antichain.h"

#include <gtest/gtest.h>

#include <random>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

using testing::Model;

constexpr std::uint64_t kInstances = kThinTests ? 40 : 400;

// Some weigh nothing, some as much as others.
std::vector<double> random_weights(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> weight(0, 1);
  std::vector<double> weights(count);
  for (double& one : weights) {
    const std::uint64_t kind = random() % 4;
    one = kind == 0 ? 0 : kind == 1 ? 0.25 : weight(random);
  }
  return weights;
}

double heaviest_of_all(const Block& block, std::span<const double> weights) {
  double most = 0;
  for (std::uint32_t bits = 0; bits < (1U << block.size); ++bits) {
    double sum = 0;
    bool antichain = true;
    for (std::size_t i = 0; i < block.size; ++i) {
      if (((bits >> i) & 1U) == 0) continue;
      sum += weights[i];
      for (std::size_t j = 0; j < i; ++j) antichain = antichain && (((bits >> j) & 1U) == 0 || !block.comparable(i, j));
    }
    if (antichain) most = std::max(most, sum);
  }
  return most;
}

TEST(HeaviestAntichain, no_other_set_of_incomparable_operators_weighs_more) {
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::random_instance(Model::kAnything, 4 + seed % 7, seed));
    HeaviestAntichain<1> heaviest;
    for (const Block& block : decomposition.blocks()) {
      heaviest.prepare(block);
      for (std::uint64_t again = 0; again < 3; ++again) {
        const std::vector<double> weights = random_weights(block.size, 3 * seed + again);
        EXPECT_NEAR(heaviest.find(weights), heaviest_of_all(block, weights), 1e-9) << "seed " << seed;
      }
    }
  }
}

// A cover by chains that weighs as much as an antichain proves that neither could be better.
TEST(HeaviestAntichain, its_bound_is_the_weight_of_its_members) {
  const auto expect_proof = [](const Block& block, auto& heaviest, std::uint64_t seed) {
    heaviest.prepare(block);
    const std::vector<double> weights = random_weights(block.size, seed);
    const double bound = heaviest.find(weights);
    double sum = 0;
    heaviest.members().for_each([&](std::size_t i) {
      sum += weights[i];
      heaviest.members().for_each([&](std::size_t j) { EXPECT_TRUE(i == j || !block.comparable(i, j)); });
    });
    EXPECT_GE(bound, sum) << "seed " << seed;
    EXPECT_NEAR(bound, sum, 1e-8 * (1 + sum)) << "seed " << seed;
  };
  for (std::uint64_t seed = 0; seed < kInstances / 4; ++seed) {
    Decomposition decomposition;
    decomposition.split(testing::random_branches(Model::kPhaze, 30 + seed, 3 + seed % 5, seed));
    HeaviestAntichain<1> narrow;
    HeaviestAntichain<4> wide;
    for (const Block& block : decomposition.blocks()) {
      if (block.words == 1) expect_proof(block, narrow, seed);
      expect_proof(block, wide, seed);
    }
  }
}

}  // namespace
}  // namespace phaze::schedule
