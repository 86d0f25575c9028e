#include "phaze/base/quantity.h"

#include <gtest/gtest.h>

namespace phaze {
namespace {

TEST(Quantity, is_a_positive_number_and_a_unit_with_or_without_a_space) {
  EXPECT_EQ(*parse_hertz("1.05GHz"), 1.05e9);
  EXPECT_EQ(*parse_hertz("1.05 GHz"), 1.05e9);
  EXPECT_EQ(*parse_seconds("2us"), 2 * 1e-6);
  EXPECT_EQ(*parse_watts("192W"), 192);
  EXPECT_EQ(*parse_bytes_per_second("1200GB/s"), 1.2e12);
  EXPECT_EQ(parse_bytes("128MiB")->value(), std::int64_t{128} << 20);
  EXPECT_EQ(to_string(parse_hertz("1.05").error()),
            "'1.05' has no unit (write it like 1.05GHz; units: Hz, kHz, MHz, GHz)");
  EXPECT_EQ(to_string(parse_seconds("-2us").error()),
            "'-2us' does not start with a positive number (write it like 2us)");
}

TEST(Quantity, that_no_number_can_hold_is_refused) {
  EXPECT_EQ(*parse_hertz("1e299GHz"), 1e299 * 1e9);
  EXPECT_EQ(to_string(parse_hertz("1e308GHz").error()),
            "'1e308GHz' is beyond what a computer can tell from infinity (write it like 1.05GHz)");
  EXPECT_EQ(to_string(parse_seconds("1e-320ns").error()),
            "'1e-320ns' is beyond what a computer can tell from 0 (write it like 2us)");
  for (const char* text : {"1e999s", "1e-999s"})
    EXPECT_EQ(parse_seconds(text).error().message,
              "'" + std::string(text) + "' is beyond what a computer can tell from infinity or 0");
  EXPECT_EQ(*parse_count("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(to_string(parse_count("9223372036854775808").error()),
            "'9223372036854775808' is more than 9223372036854775807");
  for (const char* text : {"-9223372036854775809", "9223372036854775808x", "0", "", "1.5"})
    EXPECT_EQ(to_string(parse_count(text).error()), "'" + std::string(text) + "' is not a positive whole number");
  EXPECT_EQ(to_string(parse_bytes("1e200TB").error()), "'1e200TB' is not a whole number of bytes below 2^62");
  EXPECT_EQ(to_string(parse_bytes("0.5B").error()), "'0.5B' is not a whole number of bytes below 2^62");
}

}  // namespace
}  // namespace phaze
