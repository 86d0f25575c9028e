#include "phaze/search/placed.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using placement::kNever;

Digest digest(std::size_t i) {
  Digest digest;
  digest.add(std::uint64_t{i});
  return digest;
}

// Times of placements, and how often they were worked out.
struct Placements {
  std::vector<double> seconds;
  std::atomic<std::size_t> worked_out = 0;

  double ask(PlacedMemo& memo, std::size_t i, double limit) {
    const auto work_out = [&](double below) {
      ++worked_out;
      return seconds[i] < below ? Placed{.seconds = seconds[i]} : Placed{};
    };
    return memo.below(digest(i), limit, work_out).seconds;
  }
};

std::vector<double> random_seconds(std::size_t count, std::mt19937_64& random) {
  std::vector<double> seconds(count);
  for (double& time : seconds) time = std::uniform_real_distribution<>(1, 2)(random);
  return seconds;
}

TEST(Placed, answers_are_those_of_working_it_out_whatever_was_asked_before) {
  std::mt19937_64 random(1);
  for (const std::size_t most : {std::size_t{1}, std::size_t{4}, std::size_t{1000}}) {
    PlacedMemo memo(most);
    Placements placements{random_seconds(20, random)};
    for (int query = 0; query < 2000; ++query) {
      const std::size_t i = random() % 20;
      const double limit =
          random() % 8 == 0 ? placements.seconds[i] : std::uniform_real_distribution<>(0.5, 2.5)(random);
      EXPECT_EQ(placements.ask(memo, i, limit), placements.seconds[i] < limit ? placements.seconds[i] : kNever);
    }
  }
}

TEST(Placed, a_time_is_worked_out_once_and_a_limit_it_is_known_to_reach_needs_no_work) {
  PlacedMemo memo;
  Placements placements{{1.5}};
  EXPECT_EQ(placements.ask(memo, 0, 1.2), kNever);
  EXPECT_EQ(placements.ask(memo, 0, 1.1), kNever);
  EXPECT_EQ(placements.worked_out, 1);
  EXPECT_EQ(placements.ask(memo, 0, 1.6), 1.5);
  EXPECT_EQ(placements.ask(memo, 0, 1.7), 1.5);
  EXPECT_EQ(placements.ask(memo, 0, 1.4), kNever);
  EXPECT_EQ(placements.worked_out, 2);
}

TEST(Placed, one_that_takes_as_long_as_the_limit_is_none_however_often_it_is_asked_for) {
  PlacedMemo memo;
  const auto by_rounding = [](double) { return Placed{.seconds = 1.5}; };
  EXPECT_EQ(memo.below(digest(0), 1.5, by_rounding).seconds, kNever);
  EXPECT_EQ(memo.below(digest(0), 1.5, by_rounding).seconds, kNever);
}

TEST(Placed, threads_share_what_one_of_them_works_out) {
  std::mt19937_64 random(2);
  PlacedMemo memo;
  Placements placements{random_seconds(200, random)};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < 200; ++i) EXPECT_EQ(placements.ask(memo, i, 3), placements.seconds[i]);
      });
  }
  EXPECT_EQ(placements.worked_out, 200);
}

}  // namespace
}  // namespace phaze::search
