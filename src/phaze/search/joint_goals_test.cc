#include "phaze/search/joint_goals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "phaze/placement/stage_costs.h"
#include "phaze/search/testing/random_problem.h"

namespace phaze::search {
namespace {

using placement::kNever;

constexpr std::uint32_t kStandings = 500;

// Models with gaps of very different widths, some proven, on some of which effort has been spent in vain.
std::vector<Standing> random_standings(std::size_t models, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0.1, 1);
  std::vector<Standing> standings;
  for (std::size_t i = 0; i < models; ++i) {
    Standing standing{.least = unit(random)};
    standing.most = standing.least * (1 + unit(random) * std::pow(10.0, -static_cast<double>(random() % 4)));
    standing.effort = static_cast<std::uint32_t>(random() % 3);
    standing.proven = random() % 4 == 0;
    if (standing.proven) standing.least = standing.most;
    if (random() % 3 == 0) standing.failed = standing.least + unit(random) * (standing.most - standing.least);
    standings.push_back(standing);
  }
  return standings;
}

std::vector<double> seconds_of(const std::vector<Standing>& standings, double Standing::*member) {
  std::vector<double> seconds;
  for (const Standing& standing : standings) seconds.push_back(standing.*member);
  return seconds;
}

TEST(JointGoals, suffice_and_ask_for_hardly_more_than_it_takes) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> unit(0, 1);
  int found = 0;
  for (std::uint32_t seed = 0; seed < kStandings; ++seed) {
    const Problem problem = random_question(seed, 1 + seed % 3);
    const Score score(problem, all_models(problem));
    const auto standings = random_standings(problem.workloads.size(), random);
    const std::vector<double> least = seconds_of(standings, &Standing::least);
    const double cost = 1 + unit(random);
    const double low = score.of(seconds_of(standings, &Standing::most), cost), high = score.of(least, cost);
    const double useful = low + (high - low) * (0.01 + 0.98 * unit(random));
    if (useful <= low) continue;
    const auto goals = joint_goals(score, standings, cost, useful, 1);
    if (!goals) continue;
    ++found;
    EXPECT_LT(score.of(*goals, cost), useful) << "seed " << seed;
    std::vector<double> less;
    for (std::size_t i = 0; i < goals->size(); ++i) {
      EXPECT_GE((*goals)[i], least[i]);
      EXPECT_LE((*goals)[i], standings[i].most);
      if (standings[i].proven || standings[i].effort > 1) {
        EXPECT_EQ((*goals)[i], least[i]);
      }
      if (standings[i].effort == 1 && standings[i].failed < kNever) {
        EXPECT_LE((*goals)[i], std::max(least[i], goals->size() > 1 ? least[i] : standings[i].failed));
      }
      less.push_back(least[i] + 0.999 * ((*goals)[i] - least[i]));
    }
    EXPECT_GE(score.of(less, cost), useful) << "seed " << seed;
  }
  EXPECT_GT(found, kStandings / 4);
}

TEST(JointGoals, there_are_none_where_the_effort_cannot_suffice) {
  std::mt19937 random(2);
  for (std::uint32_t seed = 0; seed < kStandings; ++seed) {
    const Problem problem = random_question(seed, 1 + seed % 3);
    const Score score(problem, all_models(problem));
    auto standings = random_standings(problem.workloads.size(), random);
    const double worth = score.of(seconds_of(standings, &Standing::least), 1);
    // All effort has been spent, and nothing came of it.
    for (Standing& standing : standings) {
      standing.effort = 2;
      standing.failed = standing.least;
    }
    EXPECT_FALSE(joint_goals(score, standings, 1, worth * (1 - 1e-6), 2)) << "seed " << seed;
    EXPECT_FALSE(joint_goals(score, standings, 1, worth * (1 - 1e-6), 1)) << "seed " << seed;
  }
}

TEST(JointGoals, a_chip_that_is_good_enough_with_its_plans_is_asked_for_its_best_ones) {
  const Problem problem = random_question(0, 3);
  const Score score(problem, all_models(problem));
  std::vector<Standing> standings = {
      {.least = 1, .most = 1, .proven = true}, {.least = 1, .most = 2}, {.least = 2, .most = 3}};
  const double worth = score.of(seconds_of(standings, &Standing::most), 1);
  EXPECT_EQ(joint_goals(score, standings, 1, worth, 1), (std::vector<double>{1, kNever, kNever}));
  // One of them has been asked for that.
  standings[1].effort = 1;
  standings[1].failed = standings[1].most;
  EXPECT_FALSE(joint_goals(score, standings, 1, worth, 1));
  EXPECT_TRUE(joint_goals(score, standings, 1, worth, 2));
}

TEST(JointGoals, narrow_gaps_are_left_alone_where_wide_ones_suffice) {
  const Problem problem = random_question(0, 2);
  const Score score(problem, all_models(problem));
  const std::vector<Standing> standings = {{.least = 1, .most = 2}, {.least = 1, .most = 1.01}};
  const double half_way = score.of({1.5, 1}, 1);
  auto goals = joint_goals(score, standings, 1, half_way, 1);
  ASSERT_TRUE(goals);
  EXPECT_NEAR((*goals)[0], 1.5, 1e-6);
  EXPECT_EQ((*goals)[1], 1);
  goals = joint_goals(score, standings, 1, score.of({2, 1.005}, 1), 1);
  ASSERT_TRUE(goals);
  EXPECT_GT((*goals)[1], 1);
}

}  // namespace
}  // namespace phaze::search
