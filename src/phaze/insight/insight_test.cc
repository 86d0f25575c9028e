#include "phaze/insight/insight.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/parameter.h"

namespace phaze::insight {
namespace {

NoProgress silent;

// Three numbers of tensor cores and two shapes, lanes tied to rows, with an area that leaves the largest out.
hardware::DesignSpace small_space() {
  hardware::DesignSpace space;
  const auto named = [](const char* name) { return *hardware::find_parameter(name); };
  space.dimensions = {{named("tensor_cores"), {16, 8, 4}}, {named("rows"), {64, 128}}};
  space.ties = {{named("lanes"), named("rows")}};
  space.limits.max_area_um2 = hardware::area_phaze22(hardware::Chip{}).total;
  return space;
}

search::Problem problem_of(const std::string& model, std::vector<std::int64_t> widths = {1, 2}) {
  search::Problem problem{.devices = 8, .network = *hardware::load_network("8x50GB/s@1us")};
  const layer_times::PlanOptions options{
      .sequence = 128, .widths = std::move(widths), .microbatches = {1, 2}, .global_batch = 32};
  problem.workloads.push_back(*layer_times::load_workload(model, 8, problem.network, options, silent));
  problem.states_per_layer = 200;
  return problem;
}

TEST(Neighbours, are_one_step_away_in_every_dimension_with_their_own_scores) {
  const search::Problem problem = problem_of("bert-base");
  search::ChipEvaluator evaluator(problem);
  const hardware::Chip chip;  // 8 tensor cores of 128 rows
  const double score = evaluator.score(chip, {0});
  const auto found = neighbours(small_space(), problem, chip, score, {0}, evaluator, silent);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].parameter, "tensor_cores");
  EXPECT_EQ(found[0].to, "4");
  EXPECT_TRUE(found[0].allowed);
  EXPECT_LT(found[0].ratio, 1) << "fewer tensor cores are slower";
  EXPECT_EQ(found[1].to, "16");
  EXPECT_FALSE(found[1].allowed);
  EXPECT_EQ(found[1].limit, "too large");
  EXPECT_EQ(found[2].parameter, "rows");
  EXPECT_EQ(found[2].from, "128");
  EXPECT_EQ(found[2].to, "64");
  hardware::Chip narrow = chip;
  narrow.tensor_cores.rows = narrow.vector_cores.lanes = 64;
  EXPECT_DOUBLE_EQ(found[2].score, evaluator.score(narrow, {0})) << "lanes follow rows";
  EXPECT_DOUBLE_EQ(found[2].ratio, found[2].score / score);
  EXPECT_DOUBLE_EQ(found[2].area_um2, hardware::area_phaze22(narrow).total);
}

TEST(Neighbours, a_chip_whose_buffers_hold_no_product_is_outside_the_space_and_has_no_score) {
  const search::Problem problem = problem_of("bert-base");
  search::ChipEvaluator evaluator(problem);
  hardware::DesignSpace space;
  space.dimensions = {{*hardware::find_parameter("core_buffer"), {16 << 10, 256 << 10}}};
  hardware::Chip chip;
  chip.core_buffer = Bytes(256 << 10);
  const auto found = neighbours(space, problem, chip, evaluator.score(chip, {0}), {0}, evaluator, silent);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].allowed);
  EXPECT_EQ(found[0].limit, "buffers too small");
  EXPECT_EQ(found[0].score, 0);
}

TEST(Insight, utilisation_of_tensor_cores_is_the_fraction_of_peak_that_the_batch_reaches) {
  const search::Problem problem = problem_of("bert-base", {1});  // ranks of wider groups do some work twice
  search::ChipEvaluator evaluator(problem);
  const Insight insight = explain(small_space(), problem, hardware::Chip{}, {0}, evaluator, silent);
  ASSERT_EQ(insight.models.size(), 1U);
  const ModelInsight& model = insight.models.front();
  const double peak = 8 * hardware::Chip{}.peak_flops();
  EXPECT_NEAR(model.tensor_utilisation, model.throughput * problem.workloads[0].flops_per_sample / peak, 1e-9);
  EXPECT_GT(model.vector_utilisation, 0);
  EXPECT_LT(model.vector_utilisation, 1);
  EXPECT_DOUBLE_EQ(insight.score, model.throughput);
  EXPECT_DOUBLE_EQ(insight.area.total, insight.largest_area);
}

TEST(Insight, no_resource_is_busy_for_longer_than_the_pass_takes) {
  const search::Problem problem = problem_of("bert-base");
  for (const char* name : {"tpuv4-phaze", "h100-sxm"}) {
    const hardware::Chip chip = *hardware::load_chip(name);
    const cost::OperatorCosts costs({.chip = chip, .network = problem.network});
    for (const workload::LayerGraph& graph : problem.workloads[0].graphs)
      for (const PassInsight& pass : passes(graph, costs, {}, 200)) {
        for (const double share : {pass.busy.tensor, pass.busy.vector, pass.busy.hbm, pass.busy.network}) {
          EXPECT_GE(share, 0);
          EXPECT_LE(share, 1 + 1e-9) << name << " " << pass.layer;
        }
        EXPECT_GT(pass.seconds, 0);
        EXPECT_GT(pass.bound_share, 0);
        EXPECT_LE(pass.bound_share, 1);
      }
  }
}

TEST(Insight, names_what_binds) {
  const search::Problem problem = problem_of("bert-base");
  const workload::LayerGraph& graph = problem.workloads[0].graphs.front();
  const auto block_bound = [&](const hardware::Chip& chip) {
    const cost::OperatorCosts costs({.chip = chip, .network = problem.network});
    const auto all = passes(graph, costs, {}, 200);
    return std::ranges::max_element(all, {}, &PassInsight::repeat)->bound_by;
  };
  hardware::Chip slow_memory;
  slow_memory.hbm_bandwidth = 1e9;
  EXPECT_EQ(block_bound(slow_memory), "hbm");
  hardware::Chip few_lanes;
  few_lanes.vector_cores = {.count = 1, .lanes = 1};
  EXPECT_EQ(block_bound(few_lanes), "vector");
  hardware::Chip slow_host = *hardware::load_chip("h100-sxm");
  slow_host.calibration.dispatch_seconds = 1;
  EXPECT_EQ(block_bound(slow_host), "dispatch");
}

}  // namespace
}  // namespace phaze::insight
