#include "phaze/search/score.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "phaze/search/random_problem.h"

namespace phaze::search {
namespace {

TEST(Score, what_is_enough_for_all_models_is_enough_and_hardly_more) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(0.1, 1);
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::size_t models = 1 + seed % 3;
    const Problem problem = random_question(seed, models);
    const Score score(problem, all_models(problem));
    const double cost = unit(random);
    std::vector<double> shorter, longer;
    for (std::size_t i = 0; i < models; ++i) {
      shorter.push_back(unit(random));
      longer.push_back(shorter.back() * (1 + unit(random)));
    }
    const double most = score.of(shorter, cost), least = score.of(longer, cost);
    const double useful = least + 0.9 * unit(random) * (most - least);
    const std::vector<double> enough = score.enough_for_all(shorter, longer, cost, useful);
    ASSERT_EQ(enough.size(), models);
    EXPECT_LT(score.of(enough, cost), useful);
    EXPECT_GT(score.of(enough, cost), useful * (1 - 1e-9));
    for (std::size_t i = 0; i < models; ++i) {
      EXPECT_GE(enough[i], shorter[i]);
      EXPECT_LE(enough[i], longer[i]);
    }
    EXPECT_TRUE(score.enough_for_all(shorter, longer, cost, least * 0.99).empty()) << "even the longer ones are useful";
  }
}

TEST(Score, one_model_beyond_what_is_enough_makes_the_score_too_low) {
  std::mt19937 random(4);
  std::uniform_real_distribution<double> unit(0.1, 1);
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const std::size_t models = 1 + seed % 3;
    const Problem problem = random_question(seed, models);
    const Score score(problem, all_models(problem));
    const double cost = unit(random);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < models; ++i) seconds.push_back(unit(random));
    const std::size_t one = random() % models;
    // With a mean of sums the others alone may be worth more than this.
    const double useful = score.of(seconds, cost) * (1 - 0.05 * unit(random));
    const double enough = score.enough(one, seconds, cost, useful);
    if (enough == std::numeric_limits<double>::infinity()) continue;
    EXPECT_GE(enough, seconds[one]);
    seconds[one] = enough * (1 + 1e-9);
    EXPECT_LT(score.of(seconds, cost), useful);
    seconds[one] = enough * (1 - 1e-9);
    EXPECT_GT(score.of(seconds, cost), useful * (1 - 1e-12));
  }
}

}  // namespace
}  // namespace phaze::search
