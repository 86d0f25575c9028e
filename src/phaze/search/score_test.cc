#include "phaze/search/score.h"

#include <gtest/gtest.h>

#include <limits>

#include "phaze/search/testing/random_problem.h"

namespace phaze::search {
namespace {

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
