#include "phaze/baselines/bayesian.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "phaze/hardware/design_space.h"

namespace phaze::baselines {
namespace {

Points random_points(std::mt19937_64& random, std::size_t count, std::size_t dimensions) {
  std::uniform_real_distribution<double> unit(0, 1);
  Points points{.dimensions = dimensions};
  for (std::size_t i = 0; i < count * dimensions; ++i) points.values.push_back(unit(random));
  return points;
}

std::vector<double> waves(const Points& points) {
  std::vector<double> values;
  for (std::size_t i = 0; i < points.size(); ++i) {
    double value = 0;
    for (std::size_t d = 0; d < points.dimensions; ++d)
      value += std::sin(static_cast<double>(3 + d) * points.row(i)[d]);
    values.push_back(value);
  }
  return values;
}

TEST(GaussianProcess, passes_through_the_values_it_was_given_where_there_is_no_noise) {
  std::mt19937_64 random(1);
  const Points x = random_points(random, 25, 3);
  const std::vector<double> y = waves(x);
  const GaussianProcess process(x, y, {.signal = 1.5, .noise = 1e-5, .lengths = {0.7, 0.5, 0.9}});
  const auto predictions = process.predict(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(predictions[i].mean, y[i], 1e-5);
    EXPECT_NEAR(predictions[i].deviation, 0, 1e-3);
  }
}

// k(r) for one point at distance r, by hand.
TEST(GaussianProcess, with_one_value_it_is_the_closed_form) {
  const Points x{.dimensions = 1, .values = {0.25}};
  const Hyperparameters h{.signal = 2, .noise = 0.5, .lengths = {0.4}};
  const GaussianProcess process(x, std::vector<double>{3}, h);
  const double r = 0.5 / 0.4;
  const double k = 4 * (1 + std::sqrt(5) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5) * r);
  const Prediction prediction = process.predict(std::vector<double>{0.75});
  EXPECT_NEAR(prediction.mean, k * 3 / 4.25, 1e-12);
  EXPECT_NEAR(prediction.deviation, std::sqrt(4 - k * k / 4.25), 1e-12);
}

TEST(GaussianProcess, far_from_all_values_it_knows_nothing) {
  const Points x{.dimensions = 1, .values = {0.0, 0.1}};
  const GaussianProcess process(x, std::vector<double>{1, -1}, {.signal = 1.3, .noise = 0.01, .lengths = {0.1}});
  const Prediction prediction = process.predict(std::vector<double>{50});
  EXPECT_NEAR(prediction.mean, 0, 1e-12);
  EXPECT_NEAR(prediction.deviation, 1.3, 1e-12);
}

TEST(GaussianProcess, the_likelihood_of_two_values_is_the_normal_density) {
  const Points x{.dimensions = 1, .values = {0.0, 0.3}};
  const std::vector<double> y = {0.4, -0.2};
  const Hyperparameters h{.signal = 1.1, .noise = 0.2, .lengths = {0.5}};
  const double r = 0.6;
  const double a = 1.1 * 1.1 + 0.04;
  const double b = 1.1 * 1.1 * (1 + std::sqrt(5) * r + 5 * r * r / 3) * std::exp(-std::sqrt(5) * r);
  const double determinant = a * a - b * b;
  const double square = (a * y[0] * y[0] - 2 * b * y[0] * y[1] + a * y[1] * y[1]) / determinant;
  EXPECT_NEAR(marginal_likelihood(x, y, h).value,
              -0.5 * square - 0.5 * std::log(determinant) - std::log(2 * 3.14159265358979323846), 1e-10);
}

TEST(GaussianProcess, the_gradient_of_the_likelihood_is_that_of_finite_differences) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    std::mt19937_64 random(seed);
    const Points x = random_points(random, 14, 3);
    const std::vector<double> y = waves(x);
    std::uniform_real_distribution<double> factor(0.3, 2);
    Hyperparameters at{.signal = factor(random), .noise = 0.1 * factor(random)};
    for (int d = 0; d < 3; ++d) at.lengths.push_back(factor(random));
    const Likelihood likelihood = marginal_likelihood(x, y, at);
    for (std::size_t i = 0; i < 5; ++i) {
      const auto moved = [&](double by) {
        Hyperparameters h = at;
        (i == 0 ? h.signal : i == 1 ? h.noise : h.lengths[i - 2]) *= std::exp(by);
        return marginal_likelihood(x, y, h).value;
      };
      constexpr double kStep = 1e-5;
      const double difference = (moved(kStep) - moved(-kStep)) / (2 * kStep);
      EXPECT_NEAR(likelihood.gradient[i], difference, 1e-5 * (1 + std::abs(difference)))
          << "seed " << seed << " parameter " << i;
    }
  }
}

TEST(GaussianProcess, the_likeliest_lengths_find_the_dimension_that_matters) {
  std::mt19937_64 random(3);
  const Points x = random_points(random, 40, 2);
  std::vector<double> y;
  for (std::size_t i = 0; i < x.size(); ++i) y.push_back(1.4 * std::sin(9 * x.row(i)[0]));
  const Hyperparameters found = most_likely(x, y);
  EXPECT_GT(found.lengths[1], 5 * found.lengths[0]);
  for (const double length : {0.2, 1.0, 4.0})
    EXPECT_GE(marginal_likelihood(x, y, found).value,
              marginal_likelihood(x, y, {.signal = 1, .noise = 1e-2, .lengths = {length, length}}).value);
}

TEST(GaussianProcess, expected_improvement_is_what_a_simulation_finds) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  for (const double mean : {-2.0, 0.0, 0.7})
    for (const double deviation : {0.1, 1.0, 2.5}) {
      constexpr int kDraws = 200'000;
      double sum = 0;
      for (int i = 0; i < kDraws; ++i) sum += std::max(0.0, mean + deviation * normal(random) - 0.5);
      const double expected = expected_improvement({mean, deviation}, 0.5);
      EXPECT_NEAR(expected, sum / kDraws, 5 * deviation / std::sqrt(kDraws)) << mean << " " << deviation;
    }
  EXPECT_DOUBLE_EQ(expected_improvement({2, 0}, 0.5), 1.5);
  EXPECT_DOUBLE_EQ(expected_improvement({0, 0}, 0.5), 0);
}

// A hill with a ridge; a quarter of the points have no score.
double hill(std::span<const double> at) {
  if (at[0] + at[1] > 1.5) return 0;
  return std::exp(3 - 4 * std::abs(at[0] - 0.6) - 2 * (at[1] - 0.3) * (at[1] - 0.3));
}

TEST(BayesianSearch, never_beats_exhaustive_search_and_equals_it_when_it_may_try_everything) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    std::mt19937_64 random(seed);
    const Points points = random_points(random, 40, 2);
    double best = 0;
    for (std::size_t i = 0; i < points.size(); ++i) best = std::max(best, hill(points.row(i)));
    const auto score = [&](std::size_t i) { return hill(points.row(i)); };
    NoProgress silent;
    const auto some = bayesian_search(points, score, {.budget = 15, .first = 6, .seed = seed}, silent);
    ASSERT_NE(some.best(), nullptr);
    EXPECT_LE(some.best()->score, best);
    EXPECT_EQ(some.trials.size(), 15U);
    const auto all = bayesian_search(points, score, {.budget = 1000, .first = 6, .seed = seed}, silent);
    ASSERT_EQ(all.trials.size(), 40U);
    EXPECT_DOUBLE_EQ(all.best()->score, best);
    std::vector<std::size_t> tried;
    for (const Trial& trial : all.trials) tried.push_back(trial.candidate);
    std::ranges::sort(tried);
    EXPECT_EQ(std::ranges::adjacent_find(tried), tried.end()) << "nothing is evaluated twice";
  }
}

TEST(BayesianSearch, learns) {
  // On average over seeds it finds a better point than as many random trials do.
  double learned = 0, drawn = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    std::mt19937_64 random(100 + seed);
    const Points points = random_points(random, 600, 2);
    const auto score = [&](std::size_t i) { return hill(points.row(i)); };
    NoProgress silent;
    learned += bayesian_search(points, score, {.budget = 25, .first = 8, .seed = seed}, silent).best()->score;
    drawn += bayesian_search(points, score, {.budget = 25, .first = 25, .seed = seed}, silent).best()->score;
  }
  EXPECT_GT(learned, drawn);
}

TEST(BayesianSearch, repeats_itself_with_the_same_seed) {
  std::mt19937_64 random(9);
  const Points points = random_points(random, 60, 2);
  const auto score = [&](std::size_t i) { return hill(points.row(i)); };
  NoProgress silent;
  const BayesianOptions options{.budget = 20, .first = 6, .seed = 4};
  EXPECT_EQ(bayesian_search(points, score, options, silent).trials,
            bayesian_search(points, score, options, silent).trials);
}

TEST(BayesianSearch, finds_nothing_where_nothing_is_feasible) {
  std::mt19937_64 random(9);
  const Points points = random_points(random, 20, 2);
  NoProgress silent;
  const auto result = bayesian_search(
      points, [](std::size_t) { return 0.0; }, {.budget = 10, .first = 3}, silent);
  EXPECT_EQ(result.best(), nullptr);
  EXPECT_EQ(result.trials.size(), 10U);
}

TEST(Encode, chips_of_2024_have_five_dimensions_on_a_logarithmic_scale) {
  std::vector<hardware::Chip> chips;
  hardware::phaze_space().for_each_kept([&](const hardware::Chip& chip) {
    chips.push_back(chip);
    return true;
  });
  const Points points = encode(chips);
  EXPECT_EQ(points.size(), chips.size());
  EXPECT_EQ(points.dimensions, 5U) << "lanes equal rows and are no dimension of their own";
  EXPECT_DOUBLE_EQ(std::ranges::min(points.values), 0);
  EXPECT_DOUBLE_EQ(std::ranges::max(points.values), 1);
  EXPECT_EQ(encode({hardware::Chip{}}).size(), 1U);
}

}  // namespace
}  // namespace phaze::baselines
