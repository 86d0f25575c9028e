#include "phaze/search/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/search/ledger.h"
#include "phaze/search/testing/random_problem.h"

namespace phaze::search {
namespace {

constexpr std::uint32_t kDrawsWithEffort = kThinTests ? 3 : 16;
constexpr std::uint32_t kDrawsThatGoFar = kThinTests ? 3 : 12;
constexpr std::uint32_t kMostEffort = kThinTests ? 1 : 2;

// With no more effort for some chips than for others, draws_test.cc has the same for hundreds of chips.
TEST(Search, the_pruned_search_finds_what_the_exhaustive_one_finds_with_effort_where_it_matters) {
  for (std::uint32_t seed = 0; seed < kDrawsWithEffort; ++seed) {
    Problem problem = random_problem(seed, 8, 1 + seed % 3);
    problem.most_effort = kMostEffort;
    const std::size_t keep = seed % 5 == 0 ? 3 : 1;
    const Outcome pruned = outcome_of(problem, {.threads = 2, .keep = keep});
    const Outcome exhaustive = outcome_of(problem, {.threads = 2, .exhaustive = true, .keep = keep});
    EXPECT_EQ(pruned.best, exhaustive.best) << "seed " << seed;
    EXPECT_EQ(pruned.optimal, exhaustive.optimal) << "seed " << seed;
  }
}

TEST(Search, more_effort_narrows_the_gap_and_stays_within_the_one_before) {
  double before = 0, after = 0;
  for (std::uint32_t seed = 0; seed < kDrawsThatGoFar; ++seed) {
    Problem problem = random_problem(seed, 8, 1);
    if (problem.objective == Objective::kPareto) continue;
    problem.most_effort = 0;
    const Outcome quick = outcome_of(problem, {.threads = 2});
    problem.most_effort = 2;
    const Outcome thorough = outcome_of(problem, {.threads = 2});
    ASSERT_EQ(quick.best.empty(), thorough.best.empty());
    if (quick.best.empty()) continue;
    const double gain = thorough.best.front().score / quick.best.front().score;
    EXPECT_GE(gain, 1) << "seed " << seed;
    EXPECT_LE(gain, (1 + quick.gap) * (1 + 1e-9)) << "seed " << seed;
    EXPECT_LE(thorough.gap, quick.gap) << "seed " << seed;
    before += quick.gap;
    after += thorough.gap;
  }
  EXPECT_LT(after, before / 2);
}

TEST(Search, the_best_for_each_model_alone_narrows_the_gap_for_all_of_them) {
  int narrower = 0;
  for (std::uint32_t seed = 0; seed < (kThinTests ? 2 : 6); ++seed) {
    Problem problem = random_problem(seed, 6, 2 + seed % 2);
    problem.most_effort = 0;
    NoProgress silent;
    Search search(problem, {.threads = 2});
    Outcome all = *search.run(all_models(problem), silent);
    const std::vector<Ranked> best = all.best;
    const double gap = all.gap;
    // With effort, most of what is found for one of them is proven.
    problem.most_effort = 1;
    for (std::size_t model = 0; model < problem.workloads.size(); ++model) ASSERT_TRUE(search.run({model}, silent));
    ASSERT_TRUE(search.tighten(0, all));
    EXPECT_EQ(all.best, best) << "seed " << seed;
    EXPECT_LE(all.gap, gap) << "seed " << seed;
    narrower += all.gap < gap ? 1 : 0;
    if (problem.objective == Objective::kPareto || best.empty()) continue;
    const Outcome thorough = outcome_of(problem, {.threads = 2});
    EXPECT_LE(thorough.best.front().score, best.front().score * (1 + all.gap) * (1 + 1e-9)) << "seed " << seed;
  }
  EXPECT_GT(narrower, 0);
}

TEST(Search, every_level_bounds_the_next) {
  cost::Memo memo;
  for (std::uint32_t seed = 20; seed < 23; ++seed) {
    const Problem problem = random_problem(seed, 3, 1);
    const ModelProfile profile(problem.workloads[0], problem.devices, problem.network, false, 50);
    for (const hardware::Chip& chip : problem.chips) {
      const hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
      ChipSearch search(profile, cluster, memo);
      double before = search.least_seconds();
      EXPECT_GT(before, 0);
      for (const Level level : {Level::kOperators, Level::kPlaced, Level::kSchedules}) {
        search.refine(level, std::numeric_limits<double>::infinity());
        EXPECT_GE(search.least_seconds(), before * (1 - 1e-9)) << to_string(level);
        before = search.least_seconds();
      }
      ASSERT_TRUE(search.evaluation() || search.infeasible());
      if (search.evaluation()) {
        EXPECT_GE(search.evaluation()->seconds, before);
      }
    }
  }
}

TEST(Search, the_best_plan_is_that_of_placement_over_all_configurations) {
  cost::Memo memo;
  const Problem problem = random_problem(31, 1, 1);
  const ModelProfile profile(problem.workloads[0], problem.devices, problem.network, false);
  for (const hardware::Chip& chip : problem.chips) {
    const hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
    ChipSearch search(profile, cluster, memo);
    search.refine(Level::kSchedules, std::numeric_limits<double>::infinity());
    NoProgress silent;
    const auto direct =
        layer_times::make_problem(problem.workloads[0].model, cluster, problem.workloads[0].options, memo, silent);
    ASSERT_TRUE(direct);
    const placement::Solution solution = placement::solve(direct->request, {.keep = 1}, silent);
    ASSERT_TRUE(search.evaluation());
    EXPECT_DOUBLE_EQ(search.evaluation()->seconds, solution.plans.front().evaluation.time_per_batch);
    EXPECT_DOUBLE_EQ(search.plans(1).solution.plans.front().evaluation.time_per_batch, search.evaluation()->seconds);
  }
}

TEST(Search, a_search_on_a_chip_goes_on_from_bytes_to_the_same_end) {
  cost::Memo memo;
  const Problem problem = random_problem(40, 4, 1);
  const ModelProfile profile(problem.workloads[0], problem.devices, problem.network, false, 200);
  for (const hardware::Chip& chip : problem.chips) {
    const hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
    ChipSearch straight(profile, cluster, memo);
    auto detour = ChipSearch::restore(profile, cluster, memo, straight.save());
    ASSERT_TRUE(detour);
    for (const Level level : {Level::kOperators, Level::kPlaced, Level::kSchedules, Level::kSchedules}) {
      // Under a limit first, so that configurations leave the queue for it.
      const double enough =
          level == Level::kSchedules ? std::numeric_limits<double>::infinity() : straight.least_seconds() * 1.01;
      straight.refine(level, enough);
      detour->refine(level, enough);
      EXPECT_EQ(detour->save(), straight.save());
      detour = ChipSearch::restore(profile, cluster, memo, detour->save());
      ASSERT_TRUE(detour);
    }
    EXPECT_EQ(detour->evaluation(), straight.evaluation());
    // With more effort, in two steps.
    const std::optional<Evaluation> before = straight.evaluation();
    for (const double enough : {straight.least_seconds() * 1.001, std::numeric_limits<double>::infinity()}) {
      for (ChipSearch* search : {&straight, &*detour}) {
        search->deepen(1);
        search->refine(Level::kSchedules, enough);
      }
      EXPECT_EQ(detour->save(), straight.save());
      detour = ChipSearch::restore(profile, cluster, memo, detour->save());
      ASSERT_TRUE(detour);
    }
    if (before) {
      EXPECT_LE(straight.evaluation()->seconds, before->seconds);
      EXPECT_GE(straight.evaluation()->least_seconds, before->least_seconds);
      EXPECT_LE(straight.evaluation()->least_seconds, straight.evaluation()->seconds);
    }
    const std::string saved = straight.save();
    for (std::size_t length = 0; length < saved.size(); ++length)
      EXPECT_FALSE(ChipSearch::restore(profile, cluster, memo, std::string_view(saved).substr(0, length)));
    EXPECT_FALSE(ChipSearch::restore(profile, cluster, memo, saved + "x"));
  }
}

TEST(Search, what_effort_did_not_show_for_all_models_it_may_show_for_one_of_them) {
  int proven = 0;
  for (std::uint32_t seed = 0; seed < kDrawsThatGoFar; seed += 2) {
    Problem problem = random_problem(seed, 12, 3);
    problem.states_per_layer = 5;
    problem.objective = Objective::kThroughput;
    problem.most_effort = kMostEffort;
    NoProgress silent;
    Search shared(problem, {.threads = 2});
    ASSERT_TRUE(shared.run(all_models(problem), silent));
    for (const std::size_t model : all_models(problem)) {
      Search fresh(problem, {.threads = 2});
      const auto behind = shared.run({model}, silent);
      const auto alone = fresh.run({model}, silent);
      ASSERT_TRUE(behind && alone);
      if (!alone->optimal) continue;
      ++proven;
      EXPECT_TRUE(behind->optimal) << "seed " << seed << ", model " << model;
      EXPECT_EQ(behind->best, alone->best) << "seed " << seed << ", model " << model;
    }
  }
  EXPECT_GT(proven, 0);
}

TEST(Search, a_search_for_one_model_behind_one_for_all_is_not_misled_by_it) {
  Problem problem = random_problem(2, 8, 3);
  NoProgress silent;
  Search shared(problem, {.threads = 1});
  ASSERT_TRUE(shared.run(all_models(problem), silent));
  for (const std::size_t model : all_models(problem)) {
    Search fresh(problem, {.threads = 1});
    const auto behind = shared.run({model}, silent);
    const auto alone = fresh.run({model}, silent);
    ASSERT_TRUE(behind && alone);
    EXPECT_EQ(behind->best, alone->best) << "model " << model;
  }
}

// Says stop when it has been asked so many times.
class Impatient final : public Progress {
 public:
  explicit Impatient(int patience) : patience_(patience) {}
  bool advance(std::string_view, std::int64_t, std::int64_t) override { return patience_-- > 0; }

 private:
  int patience_;
};

// Searches over all models and over each alone, as far as patience goes.
std::vector<Outcome> run_all(const Problem& problem, const Options& options, Progress& progress) {
  Search search(problem, options);
  std::vector<std::vector<std::size_t>> searches = {all_models(problem)};
  for (const std::size_t model : all_models(problem)) searches.push_back({model});
  std::vector<Outcome> outcomes;
  for (const std::vector<std::size_t>& models : searches) {
    auto outcome = search.run(models, progress);
    check(static_cast<bool>(outcome), "a search fails");
    outcomes.push_back(std::move(*outcome));
    if (outcomes.back().stopped) break;
  }
  return outcomes;
}

TEST(Search, stopped_anywhere_and_resumed_it_ends_with_the_same_account_of_every_chip) {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("phaze-search-" + std::to_string(getpid()) + ".db");
  for (const std::uint32_t seed : {3U, 6U}) {
    Problem problem = random_problem(seed, 20, 2);
    NoProgress silent;
    const std::vector<Outcome> straight = run_all(problem, {.threads = 2}, silent);
    for (const int patience : {1, 3, 5, 8, 13}) {
      std::vector<Outcome> resumed;
      for (int process = 0; process < 100; ++process) {
        auto ledger = Ledger::open(path.string(), true, {.phaze_version = "1"}, problem);
        ASSERT_TRUE(ledger) << to_string(ledger.error());
        // Later processes come further, so that there is an end.
        Impatient progress(patience + process);
        resumed = run_all(problem, {.threads = 2, .ledger = &*ledger}, progress);
        if (!resumed.back().stopped) break;
      }
      ASSERT_EQ(resumed.size(), straight.size());
      for (std::size_t i = 0; i < straight.size(); ++i) {
        EXPECT_EQ(resumed[i].best, straight[i].best);
        EXPECT_EQ(resumed[i].pruned_at, straight[i].pruned_at);
        EXPECT_EQ(resumed[i].gap, straight[i].gap);
        for (std::size_t chip = 0; chip < problem.chips.size(); ++chip) {
          EXPECT_EQ(resumed[i].chips[chip].fate, straight[i].chips[chip].fate) << "chip " << chip;
          EXPECT_EQ(resumed[i].chips[chip].bound, straight[i].chips[chip].bound) << "chip " << chip;
          EXPECT_EQ(resumed[i].chips[chip].score, straight[i].chips[chip].score) << "chip " << chip;
        }
      }
      std::filesystem::remove(path);
    }
  }
}

TEST(Search, without_memory_every_chip_is_infeasible) {
  Problem problem = random_problem(5, 4, 1);
  problem.hbm = {Bytes(1 << 20)};
  const Outcome outcome = outcome_of(problem, {.threads = 1});
  EXPECT_EQ(outcome.infeasible, 4);
  EXPECT_TRUE(outcome.best.empty());
  for (const ChipRecord& chip : outcome.chips)
    EXPECT_THAT(chip.reason, testing::HasSubstr("too little memory: 0.001049 GB per device given"));
  EXPECT_TRUE(outcome.optimal);
  EXPECT_EQ(outcome.gap, 0);
}

TEST(Search, where_no_chip_has_a_plan_the_reason_is_that_of_the_most_memory) {
  Problem problem = random_problem(5, 3, 1);
  problem.hbm.clear();
  for (std::size_t chip = 0; chip < 3; ++chip)
    problem.chips[chip].hbm = Bytes(std::array{1 << 19, 1 << 20, 1 << 18}[chip]);
  const Outcome outcome = outcome_of(problem, {.threads = 1});
  EXPECT_THAT(outcome.reason, testing::HasSubstr("too little memory: 0.001049 GB per device given"));
  problem.chips[2].hbm = Bytes(std::int64_t{32} << 30);
  EXPECT_EQ(outcome_of(problem, {.threads = 1}).reason, "");
}

// Its bound would otherwise have to rise to infinity step by step.
TEST(Search, that_a_chip_has_no_plan_is_known_at_the_first_step_whatever_is_of_interest) {
  cost::Memo memo;
  const Problem problem = random_problem(20, 1, 1);
  const ModelProfile profile(problem.workloads[0], problem.devices, problem.network, false, 50);
  hardware::Cluster cluster{.chip = problem.chips[0], .devices = problem.devices, .network = problem.network};
  cluster.chip.hbm = Bytes(1 << 20);
  ChipSearch search(profile, cluster, memo);
  ASSERT_FALSE(search.infeasible());
  search.refine(Level::kPlaced, search.least_seconds() * 1.01);
  EXPECT_TRUE(search.infeasible());
}

// Chips with few cores and bandwidth to spare, on which both solvers prove their schedules.
TEST(Search, the_integer_program_finds_what_the_exact_solver_finds) {
  Problem problem = random_problem(0, 3, 1);
  for (std::size_t i = 0; i < problem.chips.size(); ++i) {
    problem.chips[i].tensor_cores.count = 1;
    problem.chips[i].vector_cores.count = 1;
    problem.chips[i].hbm_bandwidth *= 1000;
    problem.chips[i].global_buffer = Bytes(std::int64_t{1} << (22 + i));
  }
  problem.states_per_layer = 2'000;
  const Outcome exact = outcome_of(problem, {.threads = 2});
  problem.workloads[0].options.solver = schedule::Engine::kIlp;
  const Outcome ilp = outcome_of(problem, {.threads = 2});
  ASSERT_FALSE(exact.best.empty());
  ASSERT_FALSE(ilp.best.empty());
  // Neither is above what the other leaves open.
  EXPECT_LE(ilp.best.front().score, exact.best.front().score * (1 + exact.gap + 1e-9));
  EXPECT_LE(exact.best.front().score, ilp.best.front().score * (1 + ilp.gap + 1e-9));
  EXPECT_EQ(ilp.best.front().chip, exact.best.front().chip);
  // The exact side is proven, and the tolerances of the integer program leave it a few millionths.
  EXPECT_TRUE(exact.optimal) << exact.gap;
  EXPECT_LE(ilp.gap, 1e-5);
}

TEST(Search, chips_that_come_first_change_no_answer) {
  for (const std::uint32_t seed : {0U, 3U, 6U}) {
    const Problem problem = random_problem(seed, 40, 2);
    const Outcome plain = outcome_of(problem, {.threads = 1});
    for (const std::size_t known : {std::size_t{0}, plain.best.front().chip}) {
      NoProgress silent;
      Search search(problem, {.threads = 1});
      const auto outcome = search.run(all_models(problem), silent, {known, 7, known});
      ASSERT_TRUE(outcome);
      EXPECT_EQ(outcome->best, plain.best) << "seed " << seed;
      EXPECT_EQ(outcome->optimal, plain.optimal);
      EXPECT_EQ(outcome->open, 0);
      EXPECT_EQ(outcome->chips[known].fate, Fate::kEvaluated) << "seed " << seed;
      EXPECT_EQ(outcome->chips[7].fate, Fate::kEvaluated) << "seed " << seed;
    }
  }
}

TEST(Search, a_limit_for_each_run_begins_anew_with_each) {
  Problem problem = random_problem(4, 2, 2);
  problem.most_effort = 0;  // runs of milliseconds, also under sanitizers
  NoProgress silent;
  Search together(problem, {.threads = 1, .seconds = 2});
  Search each(problem, {.threads = 1, .seconds = 2, .limit = Limit::kEachRun});
  ASSERT_FALSE(together.run({0}, silent)->stopped);
  ASSERT_FALSE(each.run({0}, silent)->stopped);
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  EXPECT_TRUE(together.run({1}, silent)->stopped);
  EXPECT_FALSE(each.run({1}, silent)->stopped);
}

TEST(Search, out_of_time_it_states_the_gap) {
  const Outcome outcome = outcome_of(random_problem(5, 8, 1), {.threads = 1, .seconds = 0});
  EXPECT_TRUE(outcome.stopped);
  EXPECT_FALSE(outcome.optimal);
  EXPECT_EQ(outcome.open, 8);
}

}  // namespace
}  // namespace phaze::search
