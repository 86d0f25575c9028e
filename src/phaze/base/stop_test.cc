#include "phaze/base/stop.h"

#include <gtest/gtest.h>

namespace phaze {
namespace {

std::uint64_t spend_all(Stop& stop, std::uint64_t most) {
  std::uint64_t spent = 0;
  while (spent < most && stop.spend()) ++spent;
  return spent;
}

TEST(Stop, ends_with_its_budget_and_says_why) {
  Stop stop({.work = 1000});
  EXPECT_LE(spend_all(stop, 5000), 1000U);
  EXPECT_EQ(stop.work_left(), 0U);
  EXPECT_EQ(stop.reason(), Stop::Reason::kWork);
  EXPECT_FALSE(stop.spend());
}

TEST(Stop, a_part_has_no_more_than_it_is_given_or_than_there_is_and_leaves_the_whole_alone) {
  Stop stop({.work = 1000});
  spend_all(stop, 100);
  Stop part = stop.part(300);
  EXPECT_EQ(part.work_left(), 300U);
  EXPECT_LE(spend_all(part, 5000), 300U);
  EXPECT_EQ(part.reason(), Stop::Reason::kWork);
  EXPECT_EQ(stop.work_left(), 900U);
  EXPECT_EQ(stop.reason(), Stop::Reason::kNone);
  EXPECT_EQ(stop.part(5000).work_left(), 900U);
}

TEST(Stop, a_part_of_what_has_no_limit_has_none_unless_it_is_given_one) {
  Stop stop;
  spend_all(stop, 1000);
  EXPECT_EQ(stop.part(Stop::kUnlimited).work_left(), Stop::kUnlimited);
  EXPECT_EQ(stop.part(50).work_left(), 50U);
}

TEST(Stop, with_more_than_is_left_it_goes_on_for_that_long_and_leaves_the_first_alone) {
  Stop stop({.work = 1000});
  spend_all(stop, 5000);
  ASSERT_EQ(stop.reason(), Stop::Reason::kWork);
  Stop more = stop.with(700);
  EXPECT_EQ(more.work_left(), 700U);
  EXPECT_GT(spend_all(more, 5000), 600U);
  EXPECT_EQ(more.reason(), Stop::Reason::kWork);
  EXPECT_EQ(stop.work_left(), 0U);
  EXPECT_EQ(stop.with(Stop::kUnlimited).work_left(), Stop::kUnlimited);
  EXPECT_FALSE(stop.with(0).spend());
}

}  // namespace
}  // namespace phaze
