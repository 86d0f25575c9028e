#include "phaze/search/refutation.h"

#include <gtest/gtest.h>

#include <random>

#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using layer_times::LayerPricer;
using placement::LayerTable;

using placement::kNever;

LayerTable table(const std::vector<double>& backward) {
  LayerTable table;
  for (const double seconds : backward) table.kinds.push_back({.backward = {.seconds = seconds}});
  return table;
}

// Plans that take the sum of all layers, each as often as its weight says.
struct Plans {
  std::vector<double> weights;
  double enough = 0;
  double guess = 1, low_guess = 1;  // beside the seconds that plans take with times and bounds

  double seconds(const LayerTable& layers) const {
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * layers.kinds[i].backward.seconds;
    return sum;
  }
  Refutation refute(const LayerPricer::Tables& known) const {
    return {known, std::min(enough, seconds(known.lower_bounds) * low_guess), seconds(known.times) * guess, enough,
            [this](const LayerTable& layers) {
              const double sum = seconds(layers);
              return sum >= enough ? kNever : sum;
            }};
  }
};

TEST(Refutation, goals_suffice_and_lie_hardly_further_up_than_it_takes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int draw = 0; draw < 500; ++draw) {
    Plans plans;
    std::vector<double> bounds, times;
    for (std::size_t i = 0; i < 1 + random() % 5; ++i) {
      plans.weights.push_back(unit(random));
      bounds.push_back(unit(random));
      times.push_back(bounds.back() * (1 + unit(random)));
    }
    const LayerPricer::Tables known{.times = table(times), .lower_bounds = table(bounds)};
    const double least = plans.seconds(known.lower_bounds), most = plans.seconds(known.times);
    plans.enough = least + unit(random) * (most - least);
    plans.guess = 0.5 + unit(random);
    plans.low_guess = 1 + 0.2 * unit(random);
    Refutation refutation = plans.refute(known);
    const auto goals = refutation.goals();
    ASSERT_TRUE(goals);
    EXPECT_GE(plans.seconds(*goals), plans.enough);
    EXPECT_LE(plans.seconds(*goals), plans.enough + (most - least) / 50);
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      EXPECT_GE(goals->kinds[i].backward.seconds, bounds[i]);
      EXPECT_LE(goals->kinds[i].backward.seconds, times[i] * (1 + 1e-7));
    }
    refutation.learn({.times = known.times, .lower_bounds = *goals});
    EXPECT_EQ(refutation.least(), kNever) << "all goals are reached";
  }
}

TEST(Refutation, a_plan_that_is_fast_enough_with_the_times_known_is_not_refuted) {
  const Plans plans{.weights = {1, 1}, .enough = 5};
  Refutation refutation = plans.refute({.times = table({2, 2.5}), .lower_bounds = table({1, 1})});
  EXPECT_FALSE(refutation.goals());
}

TEST(Refutation, what_is_nearly_solved_is_asked_only_where_the_others_do_not_suffice) {
  const LayerPricer::Tables known{.times = table({2, 1}), .lower_bounds = table({1, 0.99})};
  const auto first = Plans{.weights = {1, 1}, .enough = 2.5}.refute(known).goals();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kinds[1].backward.seconds, 0.99);
  const auto both = Plans{.weights = {1, 1}, .enough = 2.995}.refute(known).goals();
  ASSERT_TRUE(both);
  EXPECT_GT(both->kinds[1].backward.seconds, 0.99);
}

TEST(Refutation, what_falls_short_is_left_to_the_others) {
  const Plans plans{.weights = {1, 1}, .enough = 3};
  Refutation refutation = plans.refute({.times = table({2, 2}), .lower_bounds = table({1, 1})});
  ASSERT_TRUE(refutation.goals());
  refutation.learn({.times = table({2, 2}), .lower_bounds = table({1.25, 1.5})});
  EXPECT_EQ(refutation.least(), 2.75);
  const auto more = refutation.goals();
  ASSERT_TRUE(more);
  EXPECT_EQ(more->kinds[0].backward.seconds, 1.25);
  EXPECT_NEAR(more->kinds[1].backward.seconds, 1.75, 0.01);
  refutation.learn({.times = table({2, 1.6}), .lower_bounds = table({1.25, 1.6})});
  EXPECT_FALSE(refutation.goals()) << "the second is solved, and shorter than was hoped for";
}

}  // namespace
}  // namespace phaze::search
