#include "phaze/report/table.h"

#include <gtest/gtest.h>

namespace phaze::report {
namespace {

TEST(Table, aligns_columns_and_leaves_no_trailing_space) {
  Table table({{"name"}, {"parameters", Table::Align::kRight}});
  table.row({"gpt2-xl", "1.56 B"});
  table.row({"é", "3"});
  EXPECT_EQ(table.to_string(),
            "name     parameters\n"
            "-------  ----------\n"
            "gpt2-xl      1.56 B\n"
            "é                 3\n");
}

TEST(Table, numbers_are_short) {
  EXPECT_EQ(readable_count(6738415616.0), "6.74 B");
  EXPECT_EQ(readable_count(12), "12");
  EXPECT_EQ(readable_count(999.9e6), "1 B");
  EXPECT_EQ(readable_flops(3.5e15), "3.5 PFLOP");
}

}  // namespace
}  // namespace phaze::report
