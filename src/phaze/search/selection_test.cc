#include "phaze/search/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace phaze::search {
namespace {

struct Chips {
  std::vector<Selection::Size> sizes;
  std::vector<double> scores;
};

// Few distinct values, so that ties of every kind occur.
Chips random_chips(std::mt19937& random) {
  Chips chips;
  for (std::size_t i = 0; i < 12; ++i) {
    chips.sizes.push_back({static_cast<double>(random() % 4), static_cast<double>(random() % 3)});
    chips.scores.push_back(static_cast<double>(random() % 5));
  }
  return chips;
}

std::vector<std::size_t> shuffled(std::size_t count, std::mt19937& random) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  std::ranges::shuffle(order, random);
  return order;
}

// By the definition: no other chip is as good in everything and better in something, or equal with a lower number.
bool on_front(const Chips& chips, std::size_t chip) {
  for (std::size_t other = 0; other < chips.scores.size(); ++other) {
    const Selection::Size &a = chips.sizes[other], &b = chips.sizes[chip];
    const bool as_good = chips.scores[other] >= chips.scores[chip] && a.area <= b.area && a.power <= b.power;
    const bool equal = chips.scores[other] == chips.scores[chip] && a.area == b.area && a.power == b.power;
    if (as_good && (!equal || other < chip)) return false;
  }
  return true;
}

TEST(Selection, the_front_is_what_its_definition_says_whatever_the_order) {
  std::mt19937 random(1);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Chips chips = random_chips(random);
    Selection front = Selection::front(chips.sizes);
    for (const std::size_t chip : shuffled(chips.scores.size(), random)) front.insert({chip, chips.scores[chip]});
    for (std::size_t chip = 0; chip < chips.scores.size(); ++chip)
      EXPECT_EQ(front.contains({chip, chips.scores[chip]}), on_front(chips, chip)) << repeat << " " << chip;
  }
}

TEST(Selection, the_best_are_the_first_of_all_in_order) {
  std::mt19937 random(2);
  for (int repeat = 0; repeat < 200; ++repeat) {
    const Chips chips = random_chips(random);
    std::vector<Ranked> all;
    for (std::size_t chip = 0; chip < chips.scores.size(); ++chip) all.push_back({chip, chips.scores[chip]});
    std::ranges::stable_sort(all, std::greater(), &Ranked::score);
    const std::size_t keep = 1 + random() % 14;
    Selection best = Selection::best(keep);
    for (const std::size_t chip : shuffled(all.size(), random)) best.insert({chip, chips.scores[chip]});
    all.resize(std::min(keep, all.size()));
    EXPECT_EQ(best.chosen(), all);
  }
}

TEST(Selection, what_is_excluded_by_its_bound_would_not_have_been_chosen) {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 500; ++repeat) {
    const Chips chips = random_chips(random);
    for (const bool pareto : {false, true}) {
      Selection all = pareto ? Selection::front(chips.sizes) : Selection::best(2);
      Selection pruned = all;
      for (const std::size_t chip : shuffled(chips.scores.size(), random)) {
        all.insert({chip, chips.scores[chip]});
        const double bound = chips.scores[chip] + static_cast<double>(random() % 2);
        if (pruned.excludes({chip, bound})) continue;
        EXPECT_LE(pruned.least_useful(chip), bound);
        pruned.insert({chip, chips.scores[chip]});
      }
      EXPECT_EQ(pruned.chosen(), all.chosen());
    }
  }
}

}  // namespace
}  // namespace phaze::search
