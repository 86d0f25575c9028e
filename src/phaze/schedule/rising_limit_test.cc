#include "phaze/schedule/rising_limit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace phaze::schedule {
namespace {

// Limits up to a makespan, where passes take units(limit).
template <typename Units>
std::vector<double> limits(double bound, double shortest, Units&& units) {
  RisingLimit rising(bound);
  std::vector<double> seen;
  for (double limit = 0; limit < shortest && seen.size() < 1000; bound = limit) {
    limit = rising.next(bound, shortest);
    EXPECT_LE(limit, shortest);
    EXPECT_GT(limit, bound);
    seen.push_back(limit);
    rising.saw_all(limit, units(limit));
  }
  return seen;
}

TEST(RisingLimit, begins_at_the_bound_and_ends_at_the_shortest) {
  for (const double growth : {0.0, 1.0, 10.0, 100.0, 1000.0}) {
    const auto seen = limits(1, 2, [&](double limit) {
      return static_cast<std::uint64_t>(std::min(1e15, 200 * std::exp(growth * (limit - 1))));
    });
    EXPECT_NEAR(seen.front(), 1, 1e-6);
    EXPECT_EQ(seen.back(), 2);
    EXPECT_LE(seen.size(), 20U) << growth;
  }
}

TEST(RisingLimit, rises_so_that_the_next_pass_takes_three_times_as_much) {
  const auto units = [](double limit) { return static_cast<std::uint64_t>(200 * std::exp(8 * (limit - 1))); };
  const auto seen = limits(1, 2, units);
  ASSERT_GT(seen.size(), 6U);
  for (std::size_t i = 4; i + 1 < seen.size(); ++i)
    EXPECT_NEAR(static_cast<double>(units(seen[i])) / static_cast<double>(units(seen[i - 1])), 3, 0.1) << i;
}

TEST(RisingLimit, is_never_below_the_bound) {
  RisingLimit rising(1);
  rising.saw_all(rising.next(1, 2), 10);
  EXPECT_GT(rising.next(1.7, 2), 1.7);
  EXPECT_EQ(rising.next(1.7, 1.7), 1.7);
}

TEST(RisingLimit, gives_more_units_to_a_limit_that_needs_them) {
  RisingLimit rising(1);
  const std::uint64_t first = rising.most();
  const double limit = rising.next(1, 2);
  rising.needs_more();
  EXPECT_GT(rising.most(), 2 * first);
  EXPECT_EQ(rising.next(1, 2), limit);
  rising.saw_all(limit, 100'000);
  EXPECT_GT(rising.most(), 200'000U);
}

}  // namespace
}  // namespace phaze::schedule
