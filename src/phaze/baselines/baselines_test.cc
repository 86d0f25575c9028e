#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "phaze/baselines/compare.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/search/chip_evaluator.h"

namespace phaze::baselines {
namespace {

NoProgress silent;

hardware::Cluster tpus(std::int64_t devices, const std::string& network = "phaze-2024") {
  return {.chip = *hardware::load_chip("tpuv4-phaze"), .devices = devices, .network = *hardware::load_network(network)};
}

ExpertPlacement placed(const std::string& model, std::int64_t devices, std::int64_t batch = 4096) {
  auto placement = expert_placement(model, tpus(devices), {.global_batch = batch}, silent);
  EXPECT_TRUE(placement) << model;
  return placement ? *placement : ExpertPlacement{};
}

TEST(Expert, the_choices_of_2024_are_those_published) {
  const auto is = [](const std::string& model, std::int64_t p, std::int64_t d, std::int64_t t) {
    EXPECT_EQ(placed(model, 1024), (ExpertPlacement{p, d, t, "2024 study"})) << model;
  };
  is("opt-350m", 12, 85, 1);
  is("bert-large", 8, 128, 1);
  is("gpt2-xl", 32, 32, 1);
  is("llama2-7b", 8, 128, 1);
  is("megatron-bert", 8, 128, 1);
  is("megatron-gpt2-2.5b", 8, 32, 4);
  is("megatron-gpt2-8.3b", 8, 16, 8);
  is("gpt3-175b", 32, 8, 4);
}

TEST(Expert, on_other_numbers_of_devices_replicas_take_up_what_there_is) {
  const std::string source = "2024 study, scaled from 1024 to ";
  EXPECT_EQ(placed("gpt3-175b", 512), (ExpertPlacement{32, 4, 4, source + "512 devices"}));
  EXPECT_EQ(placed("gpt3-175b", 64), (ExpertPlacement{16, 1, 4, source + "64 devices"}));
  EXPECT_EQ(placed("megatron-gpt2-8.3b", 4), (ExpertPlacement{1, 1, 4, source + "4 devices"}));
  EXPECT_EQ(placed("bert-large", 1024, 100).data_parallel, 100) << "a replica has at least one sample";
  const auto torn = expert_placement("megatron-gpt2-2.5b", tpus(60, "6x50GB/s,5GB/s"), {.global_batch = 64}, silent);
  ASSERT_TRUE(torn);
  EXPECT_EQ(*torn, (ExpertPlacement{8, 1, 4, source + "60 devices"})) << "one group of four in each node of six";
}

TEST(Expert, stages_have_equally_many_layers_or_one_more) {
  EXPECT_EQ(even_cuts(1, 25, 8), (std::vector<std::size_t>{4, 7, 10, 13, 16, 19, 22}));
  EXPECT_TRUE(even_cuts(1, 25, 1).empty());
  for (const std::size_t layers : {32U, 48U, 54U, 97U}) {
    std::vector<std::size_t> cuts = even_cuts(1, 1 + layers, 32);
    cuts.insert(cuts.begin(), 1);
    cuts.push_back(1 + layers);
    ASSERT_EQ(cuts.size(), 33U);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      EXPECT_GE(cuts[i + 1] - cuts[i], layers / 32);
      EXPECT_LE(cuts[i + 1] - cuts[i], (layers + 31) / 32);
    }
  }
}

TEST(Expert, by_the_rule_a_small_model_is_not_split) {
  const ExpertPlacement placement = placed("bert-base", 16, 64);
  EXPECT_EQ(placement.pipeline, 1);
  EXPECT_EQ(placement.tensor_parallel, 1);
  EXPECT_EQ(placement.data_parallel, 16);
}

TEST(Expert, by_the_rule_a_large_model_fills_a_node_before_it_becomes_a_pipeline) {
  const layer_times::PlanOptions options{.sequence = 2048, .microbatches = {1}, .global_batch = 64};
  const hardware::Cluster cluster = tpus(64, "4x50GB/s,5GB/s");
  const auto placement = expert_placement("llama3-70b", cluster, options, silent);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->tensor_parallel, 4);
  EXPECT_GT(placement->pipeline, 1);
  EXPECT_EQ(placement->data_parallel, 64 / (4 * placement->pipeline));
  EXPECT_FALSE(expert_placement("llama3-405b", tpus(8), options, silent)) << "nothing fits eight devices";
}

TEST(Expert, a_pipeline_needs_a_layer_for_every_stage) {
  const auto workload = expert_workload("bert-base", {.pipeline = 13}, tpus(16), {.global_batch = 16}, silent);
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().message, "13 stages are more than the 12 repeated layers of bert-base");
}

// Chips of the space of 2024 drawn at random, the reference chip among them.
search::Problem small_problem(std::uint32_t seed, std::size_t chips, const std::vector<std::string>& models) {
  constexpr std::int64_t kDevices = 16;
  search::Problem problem{.devices = kDevices, .network = *hardware::load_network("phaze-2024")};
  std::vector<hardware::Chip> all;
  hardware::phaze_space().for_each_kept([&](const hardware::Chip& chip) {
    all.push_back(chip);
    return true;
  });
  std::mt19937 random(seed);
  problem.chips.push_back(hardware::Chip{});
  for (std::size_t i = 1; i < chips; ++i) problem.chips.push_back(all[random() % all.size()]);
  problem.hbm = {Bytes(std::int64_t{32} << 30), Bytes(std::int64_t{80} << 30)};
  problem.states_per_layer = 50;
  problem.most_effort = 0;  // chips are compared with the same effort for each
  const layer_times::PlanOptions options{.sequence = 128, .microbatches = {1, 2}, .global_batch = 32};
  for (const std::string& model : models) {
    auto workload = layer_times::load_workload(model, kDevices, problem.network, options, silent);
    check(static_cast<bool>(workload), "a model of the zoo does not load");
    problem.workloads.push_back(std::move(*workload));
  }
  return problem;
}

TEST(Compare, nothing_beats_co_search_and_a_bayesian_search_that_tries_all_chips_equals_it) {
  const std::vector<std::string> models = {"bert-large", "opt-350m"};
  const search::Problem problem = small_problem(1, 10, models);
  search::Search cosearch(problem, {.threads = 1});
  const auto compared = compare(problem, models, hardware::Chip{}, cosearch,
                                {.search = {.threads = 1}, .bayesian = {.budget = 10, .first = 4}}, silent);
  ASSERT_TRUE(compared);
  EXPECT_FALSE(compared->stopped);
  EXPECT_EQ(compared->trials, 10U);
  // The outcomes behind the figures, as a search over all models and over each of them would give them.
  search::Search again(problem, {.threads = 1});
  ASSERT_EQ(compared->cosearches.size(), 3U);
  EXPECT_EQ(compared->cosearches[0].best, again.run({0, 1}, silent)->best);
  EXPECT_EQ(compared->cosearches[1].best, again.run({0}, silent)->best);
  EXPECT_EQ(compared->cosearches[2].best, again.run({1}, silent)->best);
  EXPECT_EQ(compared->models[1].cosearch.chip, compared->cosearches[2].best.front().chip);
  for (const ModelComparison& model : compared->models) {
    ASSERT_TRUE(model.expert) << model.no_expert;
    const double best = model.cosearch.throughput * (1 + 1e-9);
    EXPECT_GT(model.reference_expert.throughput, 0);
    EXPECT_LE(model.reference_expert.throughput, model.reference_placement.throughput * (1 + 1e-9));
    EXPECT_LE(model.reference_expert.throughput, model.chip_alone.throughput * (1 + 1e-9));
    EXPECT_LE(model.reference_placement.throughput, best);
    EXPECT_LE(model.chip_alone.throughput, best);
    EXPECT_DOUBLE_EQ(model.bayesian.throughput, model.cosearch.throughput);
    EXPECT_LE(model.common_cosearch.throughput, best);
    EXPECT_LE(model.common_bayesian.throughput, best);
    EXPECT_LE(model.common_chip_alone.throughput, model.chip_alone.throughput * (1 + 1e-9));
    EXPECT_GT(model.common_chip_alone.throughput, 0);
  }
}

// Says stop from its n-th question on.
class StopAt final : public Progress {
 public:
  explicit StopAt(std::int64_t question) : left_(question) {}
  bool advance(std::string_view, std::int64_t, std::int64_t) override {
    ++asked_;
    return --left_ > 0;
  }
  std::int64_t asked() const { return asked_; }

 private:
  std::int64_t left_;
  std::int64_t asked_ = 0;
};

TEST(Compare, a_comparison_that_is_stopped_at_whatever_moment_says_so) {
  const std::vector<std::string> models = {"bert-base"};
  const search::Problem problem = small_problem(3, 4, models);
  const auto compared = [&](StopAt& progress, double seconds) {
    search::Search cosearch(problem, {.threads = 1, .seconds = seconds});
    auto found =
        compare(problem, models, hardware::Chip{}, cosearch,
                {.search = {.threads = 1, .seconds = seconds}, .bayesian = {.budget = 3, .first = 3}}, progress);
    EXPECT_TRUE(found);
    return found ? std::move(*found) : Comparison{};
  };
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  StopAt never(std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(compared(never, kNoLimit).stopped);
  ASSERT_GT(never.asked(), 3);
  for (std::int64_t question = 1; question <= never.asked(); ++question) {
    StopAt stop(question);
    EXPECT_TRUE(compared(stop, kNoLimit).stopped) << "at question " << question << " of " << never.asked();
  }
  StopAt none(std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(compared(none, 0).stopped) << "a limit of seconds ends searches, not the comparison";
}

TEST(Compare, the_chip_alone_is_the_best_of_all_chips_evaluated_one_by_one) {
  const std::vector<std::string> models = {"bert-large"};
  search::Problem problem = small_problem(2, 8, models);
  search::Search cosearch(problem, {.threads = 1});
  const auto compared = compare(problem, models, hardware::Chip{}, cosearch,
                                {.search = {.threads = 1}, .bayesian = {.budget = 3, .first = 3}}, silent);
  ASSERT_TRUE(compared);
  const ModelComparison& model = compared->models.front();
  EXPECT_EQ(compared->trials, 3U);
  EXPECT_LE(model.bayesian.throughput, model.cosearch.throughput * (1 + 1e-9));
  search::ChipEvaluator free(problem);
  double best = 0;
  for (const hardware::Chip& chip : problem.chips) best = std::max(best, free.throughput(chip, 0));
  EXPECT_DOUBLE_EQ(model.cosearch.throughput, best);
  const hardware::Cluster cluster{.chip = hardware::Chip{}, .devices = problem.devices, .network = problem.network};
  const layer_times::PlanOptions options = problem.workloads[0].options;
  auto workload = expert_workload("bert-large", *model.expert, cluster, options, silent);
  ASSERT_TRUE(workload);
  problem.workloads = {std::move(*workload)};
  search::ChipEvaluator fixed(problem);
  best = 0;
  for (const hardware::Chip& chip : problem.chips) best = std::max(best, fixed.throughput(chip, 0));
  EXPECT_DOUBLE_EQ(model.chip_alone.throughput, best);
  const auto planned = fixed.plan(hardware::Chip{}, 0);
  ASSERT_TRUE(planned);
  const placement::Plan& plan = planned->solution.plans.front().plan;
  EXPECT_EQ(plan.strategy.pipeline, model.expert->pipeline);
  EXPECT_EQ(plan.strategy.data_parallel, model.expert->data_parallel);
  ASSERT_EQ(plan.stages.size(), 8U);
  EXPECT_EQ(plan.stages.front().chunks.front().end, 4U) << "the embedding and three of 24 layers";
}

}  // namespace
}  // namespace phaze::baselines
