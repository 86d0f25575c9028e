#include "phaze/placement/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "phaze/placement/testing/brute_force.h"
#include "phaze/placement/testing/random_request.h"

namespace phaze::placement {
namespace {

using testing::brute_force;
using testing::random_request;
using Point = testing::BruteForce::Point;

NoProgress silent;
constexpr double kClose = 1e-8;

// Of all points those that no other reaches in both, by definition; equal ones count once.
std::vector<Point> front_of(std::vector<Point> points) {
  std::ranges::sort(points, [](const Point& a, const Point& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.bytes < b.bytes;
  });
  std::vector<Point> front;
  for (const Point& point : points) {
    if (!front.empty() && point.bytes >= front.back().bytes * (1 - kClose)) continue;
    if (!front.empty() && point.seconds <= front.back().seconds * (1 + kClose)) front.pop_back();
    front.push_back(point);
  }
  return front;
}

TEST(Front, of_random_requests_equals_that_of_all_plans) {
  std::size_t longest = 0;
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    std::mt19937_64 random(seed);
    const Request request = random_request(random, {});
    const std::vector<Point> expected = front_of(brute_force(request).points);
    const Front found = time_memory_front(request, 0, silent);
    EXPECT_TRUE(found.complete);
    ASSERT_EQ(found.plans.size(), expected.size()) << "seed " << seed;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.plans[i].evaluation.time_per_batch, expected[i].seconds, kClose * expected[i].seconds) << seed;
      EXPECT_NEAR(found.plans[i].evaluation.peak_memory(), expected[i].bytes, kClose * expected[i].bytes) << seed;
    }
    longest = std::max(longest, expected.size());
    feasible += expected.empty() ? 0 : 1;
  }
  EXPECT_GT(feasible, 60);
  EXPECT_GT(longest, 8U);
}

TEST(Front, with_steps_passes_over_what_saves_less_than_a_step) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    const Request request = random_request(random, {});
    const double step = request.devices.memory / 10;
    const Front all = time_memory_front(request, 0, silent);
    const Front some = time_memory_front(request, step, silent);
    ASSERT_EQ(all.plans.empty(), some.plans.empty());
    EXPECT_LE(some.plans.size(), 11U);
    for (const Ranked& point : all.plans) {
      const double seconds = point.evaluation.time_per_batch, bytes = point.evaluation.peak_memory();
      const auto serves = [&](const Ranked& other) {
        return other.evaluation.time_per_batch <= seconds * (1 + kClose) &&
               other.evaluation.peak_memory() <= bytes + step * (1 + kClose);
      };
      EXPECT_TRUE(std::ranges::any_of(some.plans, serves)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace phaze::placement
