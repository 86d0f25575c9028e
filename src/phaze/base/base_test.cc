#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "phaze/base/ids.h"
#include "phaze/base/nearest.h"
#include "phaze/base/result.h"
#include "phaze/base/units.h"

namespace phaze {
namespace {

TEST(Units, products_saturate_instead_of_wrapping_round) {
  EXPECT_EQ(saturating_multiply(std::int64_t{1} << 40, std::int64_t{1} << 40), kSaturated);
  EXPECT_EQ(saturating_product({1 << 20, 1 << 20, 1 << 20, 1 << 20}), kSaturated);
  EXPECT_EQ(saturating_product({1 << 30, 1 << 30, 1 << 30, 0}), 0);
  EXPECT_TRUE((Bytes(kSaturated) + Bytes(kSaturated)).saturated());
  EXPECT_EQ(saturating_product({3, 5, 7}), 105);
}

TEST(Units, ceil_divide_rounds_up) {
  EXPECT_EQ(ceil_divide(50257, 8), 6283);
  EXPECT_EQ(ceil_divide(8, 8), 1);
  EXPECT_EQ(ceil_divide(0, 8), 0);
}

TEST(Result, error_text_names_place_message_and_hint) {
  const Error error{"unknown key 'hiden_size'", "config.json", "did you mean 'hidden_size'?"};
  EXPECT_EQ(to_string(error), "config.json: unknown key 'hiden_size' (did you mean 'hidden_size'?)");
  EXPECT_EQ(within("run.db", error).place, "run.db: config.json");
}

TEST(Result, holds_a_value_or_an_error) {
  const Result<int> value = 3;
  const Result<int> error = Error{"no"};
  EXPECT_TRUE(value);
  EXPECT_EQ(*value, 3);
  EXPECT_FALSE(error);
  EXPECT_EQ(error.error().message, "no");
}

TEST(Nearest, proposes_a_close_word_and_lists_all_when_none_is_close) {
  const std::vector<std::string> words = {"llama2-7b", "gpt2-xl"};
  EXPECT_EQ(suggest("lama2-7b", words), "did you mean 'llama2-7b'?");
  EXPECT_EQ(suggest("zzz", words), "known: llama2-7b, gpt2-xl");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(Ids, a_default_id_names_nothing) {
  using OpId = Id<struct OpTag>;
  EXPECT_FALSE(OpId().valid());
  EXPECT_EQ(OpId(7).index(), 7U);
}

}  // namespace
}  // namespace phaze
