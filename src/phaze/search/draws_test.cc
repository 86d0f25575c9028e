// Exactness at size: pruned searches over hundreds of chips drawn at random from the space of 2024 find what evaluating
// every one of their chips finds.
//
// Exhaustive searches over as many chips would take ten minutes, nearly all of them spent on evaluating the same chips
// again: what a chip reaches for a model depends on nothing else. So the draws are cut out of one pool of chips, each
// of which an exhaustive search evaluates once per model. What a draw must find is put together from those figures
// here, by the definitions of objectives, means, ties and the front, and not by the code under test. That exhaustive
// searches over a draw itself say the same is checked on small draws.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/hardware/power.h"
#include "phaze/search/testing/random_problem.h"

namespace phaze::search {
namespace {

constexpr std::uint32_t kDraws = kThinTests ? 6 : 100;
constexpr std::size_t kChips = kThinTests ? 12 : 300, kPool = kThinTests ? 20 : 600;

// scripts/check-search asks for other sizes.
std::size_t asked(const char* variable, std::size_t usual) {
  const char* text = std::getenv(variable);
  return text == nullptr ? usual : std::strtoul(text, nullptr, 10);
}

// What every chip of the pool reaches for every model, in samples per second; 0 where no plan fits.
struct Reach {
  double found = 0;
  double bound = 0;  // above what is found where a schedule is not proven optimal
};
struct Pool {
  std::vector<hardware::Chip> chips;
  std::vector<std::vector<Reach>> reach;  // by model of random_workloads(), then chip
};

Pool evaluated_pool(std::size_t size) {
  Pool pool;
  std::mt19937 random(2024);
  std::ranges::sample(chips_of_2024(), std::back_inserter(pool.chips), static_cast<std::ptrdiff_t>(size), random);
  for (std::uint32_t model = 0; model < random_workloads().size(); ++model) {
    Problem problem = random_question(model, 1);
    problem.objective = Objective::kThroughput;
    problem.most_effort = 0;  // what a chip reaches would otherwise depend on the others
    problem.chips = pool.chips;
    const Outcome outcome = outcome_of(problem, {.threads = 2, .exhaustive = true});
    EXPECT_EQ(outcome.evaluated + outcome.infeasible, static_cast<std::int64_t>(size));
    std::vector<Reach>& reach = pool.reach.emplace_back();
    for (const ChipRecord& chip : outcome.chips)
      reach.push_back(chip.fate == Fate::kEvaluated ? Reach{chip.score, chip.bound} : Reach{});
  }
  return pool;
}

struct Draw {
  Problem problem;
  std::vector<std::size_t> members;  // of the pool, with repetition: a chip that comes twice makes a tie
  std::vector<std::size_t> models;   // of the pool, by model of the problem
};

Draw draw(const Pool& pool, std::uint32_t seed, std::size_t chips, std::size_t models) {
  Draw drawn{.problem = random_question(seed, models)};
  drawn.problem.most_effort = 0;
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < chips; ++i) {
    drawn.members.push_back(random() % pool.chips.size());
    drawn.problem.chips.push_back(pool.chips[drawn.members.back()]);
  }
  for (std::size_t i = 0; i < models; ++i) drawn.models.push_back((seed + i) % random_workloads().size());
  return drawn;
}

// By the definition: a mean of throughputs over what the chip costs; 0 where a model has no plan.
double score_of(const Pool& pool, const Draw& drawn, std::size_t chip, double Reach::*reach) {
  const auto count = static_cast<double>(drawn.models.size());
  double sum = 0, product = 1;
  for (const std::size_t model : drawn.models) {
    const double throughput = pool.reach[model][drawn.members[chip]].*reach;
    if (throughput == 0) return 0;
    sum += throughput;
    product *= throughput;
  }
  const double mean = drawn.problem.mean == Mean::kGeometric ? std::pow(product, 1 / count) : sum / count;
  const hardware::Chip& priced = drawn.problem.chips[chip];
  if (drawn.problem.objective == Objective::kPerWatt) return mean / hardware::thermal_design_power(priced).total;
  if (drawn.problem.objective == Objective::kPerArea) return mean / hardware::area_phaze22(priced).total;
  return mean;
}

// Another order of the same sums and products.
constexpr double kRounding = 1e-12;
bool near(double a, double b) { return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b)); }

// Chips of a draw that the answer must name, the best first; which one of equals is up to their numbers.
std::vector<std::size_t> expected_best(const Draw& drawn, const std::vector<double>& scores, std::size_t keep) {
  const auto better = [&](std::size_t a, std::size_t b) {
    return near(scores[a], scores[b]) ? a < b : scores[a] > scores[b];
  };
  std::vector<std::size_t> order;
  for (std::size_t chip = 0; chip < scores.size(); ++chip)
    if (scores[chip] > 0) order.push_back(chip);
  std::ranges::stable_sort(order, better);
  if (drawn.problem.objective != Objective::kPareto) {
    order.resize(std::min(keep, order.size()));
    return order;
  }
  const auto area = [&](std::size_t chip) { return hardware::area_phaze22(drawn.problem.chips[chip]).total; };
  const auto power = [&](std::size_t chip) { return hardware::thermal_design_power(drawn.problem.chips[chip]).total; };
  std::erase_if(order, [&](std::size_t chip) {
    for (std::size_t other = 0; other < scores.size(); ++other) {
      const bool equal = near(scores[other], scores[chip]);
      if ((scores[other] < scores[chip] && !equal) || area(other) > area(chip) || power(other) > power(chip)) continue;
      if (!equal || area(other) < area(chip) || power(other) < power(chip) || other < chip) return true;
    }
    return false;
  });
  return order;
}

TEST(Draws, the_pruned_search_over_hundreds_of_chips_finds_what_evaluating_all_of_them_finds) {
  const std::size_t chips = asked("PHAZE_CHIPS_PER_DRAW", kChips);
  const Pool pool = evaluated_pool(asked("PHAZE_POOL", kPool));
  constexpr std::array kThreads = {1U, 2U, 4U};
  std::int64_t evaluated = 0, ties = 0;
  for (std::uint32_t seed = 0; seed < kDraws; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Draw drawn = draw(pool, seed, chips, 1 + seed % 3);
    const std::size_t keep = seed % 5 == 0 ? 3 : 1;
    const Outcome pruned = outcome_of(drawn.problem, {.threads = kThreads[seed % 3], .keep = keep});
    std::vector<double> scores, bounds;
    for (std::size_t chip = 0; chip < chips; ++chip) {
      scores.push_back(score_of(pool, drawn, chip, &Reach::found));
      bounds.push_back(score_of(pool, drawn, chip, &Reach::bound));
    }

    const std::vector<std::size_t> best = expected_best(drawn, scores, keep);
    ASSERT_EQ(pruned.best.size(), best.size());
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      EXPECT_EQ(pruned.best[rank].chip, best[rank]) << "rank " << rank;
      EXPECT_TRUE(near(pruned.best[rank].score, scores[best[rank]])) << "rank " << rank;
    }

    EXPECT_EQ(pruned.open, 0);
    EXPECT_EQ(pruned.evaluated + pruned.pruned + pruned.infeasible, static_cast<std::int64_t>(chips));
    for (std::size_t chip = 0; chip < chips; ++chip) {
      const ChipRecord& record = pruned.chips[chip];
      if (record.fate == Fate::kEvaluated) {
        EXPECT_TRUE(near(record.score, scores[chip])) << "chip " << chip;
      }
      EXPECT_EQ(record.fate == Fate::kInfeasible, scores[chip] == 0) << "chip " << chip;
      if (record.fate != Fate::kPruned) continue;
      EXPECT_GE(record.bound, scores[chip] * (1 - kRounding)) << "chip " << chip;
      if (drawn.problem.objective == Objective::kPareto) continue;
      EXPECT_LE(record.bound, pruned.best.back().score) << "chip " << chip;
    }

    // Proven where no schedule leaves open that a chip belongs into the answer, or is better in it.
    if (drawn.problem.objective != Objective::kPareto) {
      bool proven = true;
      for (std::size_t chip = 0; chip < chips; ++chip) {
        const bool chosen = std::ranges::find(best, chip) != best.end();
        proven = proven && bounds[chip] <= (chosen ? scores[chip] : scores[best.back()]) * (1 + 1e-9);
      }
      EXPECT_EQ(pruned.optimal, proven);
    }
    evaluated += pruned.evaluated;
    ties += std::ranges::count_if(scores, [&](double score) { return near(score, scores[best.front()]); }) - 1;
  }
  // Otherwise this test would show nothing. Of a dozen chips little is pruned: half of the first six draws ask for a
  // front or for the best three.
  EXPECT_LT(evaluated, static_cast<std::int64_t>(chips * kDraws)) << "nothing is pruned";
  if (chips * kDraws > 10'000) {
    EXPECT_LT(evaluated, static_cast<std::int64_t>(chips * kDraws / 2)) << "next to nothing is pruned";
    EXPECT_GT(ties, 0) << "no draw has a tie";
  }
}

TEST(Draws, an_exhaustive_search_says_of_every_chip_what_the_pool_knows) {
  constexpr std::size_t kFew = 6;
  const Pool pool = evaluated_pool(12);
  for (std::uint32_t seed = 0; seed < 12; ++seed) {
    const Draw drawn = draw(pool, seed, kFew, 1 + seed % 3);
    const Outcome exhaustive = outcome_of(drawn.problem, {.threads = 2, .exhaustive = true, .keep = 2});
    const Outcome pruned = outcome_of(drawn.problem, {.threads = 2, .keep = 2});
    EXPECT_EQ(exhaustive.pruned, 0);
    EXPECT_EQ(pruned.best, exhaustive.best) << "seed " << seed;
    EXPECT_EQ(pruned.optimal, exhaustive.optimal) << "seed " << seed;
    for (std::size_t chip = 0; chip < kFew; ++chip)
      EXPECT_TRUE(near(exhaustive.chips[chip].score, score_of(pool, drawn, chip, &Reach::found)))
          << "seed " << seed << " chip " << chip;
  }
}

TEST(Draws, fates_bounds_and_counts_do_not_depend_on_the_number_of_threads) {
  for (const std::uint32_t seed : {200U, 203U}) {
    const Problem problem = random_problem(seed, kChips, 3);
    const Outcome one = outcome_of(problem, {.threads = 1});
    for (const unsigned threads : {2U, 4U}) {
      const Outcome many = outcome_of(problem, {.threads = threads});
      EXPECT_EQ(many.best, one.best);
      EXPECT_EQ(many.evaluated, one.evaluated);
      EXPECT_EQ(many.pruned_at, one.pruned_at);
      EXPECT_EQ(many.infeasible, one.infeasible);
      EXPECT_EQ(many.gap, one.gap);
      for (std::size_t chip = 0; chip < problem.chips.size(); ++chip) {
        EXPECT_EQ(many.chips[chip].fate, one.chips[chip].fate) << "seed " << seed << " chip " << chip;
        EXPECT_EQ(many.chips[chip].bound, one.chips[chip].bound) << "seed " << seed << " chip " << chip;
      }
    }
  }
}

}  // namespace
}  // namespace phaze::search
