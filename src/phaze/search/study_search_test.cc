// The search under the 2024 profile: bounds hold for its costs, schedules and placement too.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "phaze/cost/sunstone_table.h"
#include "phaze/hardware/design_space.h"
#include "phaze/search/chip_evaluator.h"
#include "phaze/search/testing/random_problem.h"

namespace phaze::search {
namespace {

constexpr std::int64_t kDevices = 16;

layer_times::Workload study_workload(const std::string& model) {
  NoProgress silent;
  const auto network = hardware::load_network("phaze-2024");
  auto loaded =
      layer_times::load_workload(model, kDevices, *network,
                                 {.profile = layer_times::Profile::kPhaze2024,
                                  .sequence = 128,
                                  .widths = {1, 2},
                                  .microbatches = {1, 4},
                                  .sequence_parallel = layer_times::SequenceParallel::kOff,
                                  .optimizer = cost::Optimizer::kSgd,
                                  .global_batch = 32,
                                  .freedom = {.recompute = {placement::Recompute::kNone, placement::Recompute::kFull}}},
                                 silent);
  check(static_cast<bool>(loaded), "a model of the zoo does not load");
  return std::move(*loaded);
}

const std::vector<layer_times::Workload>& workloads() {
  static const std::vector<layer_times::Workload> loaded = {study_workload("bert-base"), study_workload("opt-350m")};
  return loaded;
}

Problem study_problem(std::uint32_t seed, std::size_t chips) {
  const std::vector<hardware::Chip>& all = chips_of_2024();
  std::mt19937 random(seed);
  Problem problem{.devices = kDevices, .network = *hardware::load_network("phaze-2024")};
  for (std::size_t i = 0; i < chips; ++i) problem.chips.push_back(all[random() % all.size()]);
  problem.workloads = {workloads()[seed % 2]};
  problem.hbm = {Bytes(std::int64_t{32} << 30)};
  problem.states_per_layer = 200;
  problem.most_effort = 0;
  return problem;
}

TEST(StudySearch, every_level_bounds_the_next) {
  cost::Memo memo;
  for (std::uint32_t seed = 0; seed < 4; ++seed) {
    const Problem problem = study_problem(seed, 4);
    const cost::SunstoneTable sunstone(problem.chips);
    const ModelProfile profile(problem.workloads[0], problem.devices, problem.network, false, 200, &sunstone);
    for (const hardware::Chip& chip : problem.chips) {
      const hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
      ChipSearch search(profile, cluster, memo);
      double before = search.least_seconds();
      EXPECT_GT(before, 0);
      for (const Level level : {Level::kPlaced, Level::kOperators, Level::kBounds, Level::kSchedules}) {
        search.refine(level, std::numeric_limits<double>::infinity());
        EXPECT_GE(search.least_seconds(), before * (1 - 1e-9)) << "seed " << seed << " " << to_string(level);
        before = search.least_seconds();
      }
      ASSERT_TRUE(search.evaluation());
      EXPECT_GE(search.evaluation()->seconds, before * (1 - 1e-9));
    }
  }
}

// Not only the best: each configuration alone keeps its bounds.
TEST(StudySearch, bounds_of_every_configuration_are_below_its_plan) {
  cost::Memo memo;
  for (std::uint32_t seed = 0; seed < 2; ++seed) {
    const Problem problem = study_problem(40 + seed, 3);
    const layer_times::Workload& workload = problem.workloads[0];
    const cost::SunstoneTable sunstone(problem.chips);
    const ModelProfile profile(workload, problem.devices, problem.network, false, 200, &sunstone);
    for (const hardware::Chip& chip : problem.chips) {
      const hardware::Cluster cluster{.chip = chip, .devices = problem.devices, .network = problem.network};
      const cost::OperatorCosts costs(profile.cost_options(cluster), &memo);
      const Rates rates = profile.rates(chip);
      for (std::size_t c = 0; c < profile.size(); ++c) {
        placement::Request request = layer_times::empty_request(workload, cluster);
        request.tables = {layer_times::layer_table(workload.graphs[c], costs, profile.table_options(0))};
        const auto plan = layer_times::best_study_plan(request);
        ASSERT_TRUE(plan);
        const auto placed = [&](placement::LayerTable table) {
          request.tables = {std::move(table)};
          return layer_times::best_study_plan(request)->seconds();
        };
        const double roofline = placed(profile.least_table(c, rates, nullptr));
        const double operators = placed(profile.least_table(c, rates, &costs));
        EXPECT_LE(profile.least_seconds(c, rates), roofline * (1 + 1e-9));
        EXPECT_LE(roofline, operators * (1 + 1e-9));
        EXPECT_LE(operators, plan->seconds() * (1 + 1e-9)) << "seed " << seed << " configuration " << c;
      }
    }
  }
}

TEST(StudySearch, the_pruned_search_finds_the_best_of_all_chips_evaluated_one_by_one) {
  NoProgress silent;
  for (std::uint32_t seed = 0; seed < 2; ++seed) {
    const Problem problem = study_problem(80 + seed, 8);
    ChipEvaluator evaluator(problem);
    double best = 0;
    for (const hardware::Chip& chip : problem.chips) best = std::max(best, evaluator.throughput(chip, 0));
    Search search(problem, {.threads = 1});
    const auto outcome = search.run({0}, silent);
    ASSERT_TRUE(outcome);
    EXPECT_DOUBLE_EQ(outcome->best.front().score, best) << "seed " << seed;
    const auto planned = search.plans(outcome->best.front().chip, 0, 1);
    ASSERT_TRUE(planned.study);
    EXPECT_DOUBLE_EQ(32 / planned.study->seconds(), best);
    EXPECT_TRUE(planned.study->evaluation.violations.empty());
  }
}

}  // namespace
}  // namespace phaze::search
