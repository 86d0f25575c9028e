#include "phaze/schedule/key_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace phaze::schedule {
namespace {

std::vector<Key> random_keys(std::size_t count, int values, std::mt19937& random) {
  std::vector<Key> keys(count);
  std::uint32_t state = 0;
  for (Key& key : keys) {
    for (float& number : key.numbers) number = static_cast<float>(std::uniform_int_distribution(0, values - 1)(random));
    key.state = state++;
  }
  return keys;
}

TEST(Key, is_compared_in_every_number) {
  std::mt19937 random(6);
  for (const Key& key : random_keys(20, 5, random)) {
    EXPECT_TRUE(key.nowhere_larger(key));
    for (std::size_t k = 0; k < Key::kSize; ++k) {
      Key larger = key;
      larger.numbers[k] += 1;
      EXPECT_TRUE(key.nowhere_larger(larger)) << k;
      EXPECT_FALSE(larger.nowhere_larger(key)) << k;
    }
  }
}

TEST(KeyIndex, finds_exactly_the_keys_that_are_nowhere_larger) {
  std::mt19937 random(7);
  std::size_t found_altogether = 0;
  for (const std::size_t count : {1U, 2U, 15U, 16U, 17U, 255U, 257U, 5000U})
    for (const int values : {2, 3, 50}) {
      std::vector<Key> keys = random_keys(count, values, random);
      const std::vector<Key> asked = random_keys(20, values, random);
      KeyIndex index;
      index.build(keys);
      for (const Key& key : asked) {
        std::vector<std::uint32_t> expected, found;
        for (const Key& other : keys)
          if (std::ranges::equal(other.numbers, key.numbers, std::ranges::less_equal()))
            expected.push_back(other.state);
        EXPECT_FALSE(index.any_nowhere_larger(key, [&](std::uint32_t state) {
          found.push_back(state);
          return false;
        }));
        std::ranges::sort(expected);
        std::ranges::sort(found);
        EXPECT_EQ(found, expected) << count << " keys of " << values << " values";
        found_altogether += found.size();
      }
    }
  EXPECT_GT(found_altogether, 100U) << "the keys hardly compare";
}

TEST(KeyIndex, visits_no_more_once_the_answer_is_yes) {
  std::mt19937 random(8);
  std::vector<Key> keys = random_keys(300, 2, random);
  Key above;
  above.numbers.fill(2);
  KeyIndex index;
  index.build(keys);
  std::size_t visits = 0;
  EXPECT_TRUE(index.any_nowhere_larger(above, [&](std::uint32_t) { return ++visits == 17; }));
  EXPECT_EQ(visits, 17U);
}

TEST(KeyIndex, finds_no_key_that_was_removed) {
  std::mt19937 random(9);
  std::vector<Key> keys = random_keys(300, 2, random);
  Key above;
  above.numbers.fill(2);
  KeyIndex index;
  index.build(keys);
  std::vector<std::uint32_t> expected, found;
  for (std::size_t place = 0; place < keys.size(); ++place)
    if (place % 3 == 0)
      index.remove(place);
    else
      expected.push_back(keys[place].state);
  index.any_nowhere_larger(above, [&](std::uint32_t state) {
    found.push_back(state);
    return false;
  });
  EXPECT_EQ(found, expected);
}

TEST(KeyIndex, of_no_keys_finds_none) {
  KeyIndex index;
  index.build({});
  EXPECT_FALSE(index.any_nowhere_larger(Key{}, [](std::uint32_t) { return true; }));
}

}  // namespace
}  // namespace phaze::schedule
