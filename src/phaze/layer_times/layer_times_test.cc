#include "phaze/layer_times/layer_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "phaze/hardware/chip_file.h"
#include "phaze/layer_times/request.h"
#include "phaze/layer_times/study.h"
#include "phaze/placement/phaze2024/solve.h"
#include "phaze/placement/solve.h"
#include "phaze/workload/load.h"

namespace phaze::layer_times {
namespace {

using placement::LayerTable;

NoProgress silent;

hardware::Cluster a100s(std::int64_t devices) {
  auto chip = *hardware::load_chip("a100-80g");
  auto network = *hardware::own_network(chip);
  return *hardware::make_cluster(std::move(chip), devices, std::move(network));
}

workload::LayerGraph graph_of(const char* model, const workload::WorkloadOptions& options) {
  return *workload::load_model(model, options, silent);
}

LayerTable table_of(const char* model, const workload::WorkloadOptions& options) {
  const hardware::Cluster cluster = a100s(8);
  const cost::OperatorCosts costs({.chip = cluster.chip, .network = cluster.network});
  return layer_table(graph_of(model, options), costs, {});
}

PlanProblem problem_of(const char* model, std::int64_t devices, const PlanOptions& options) {
  cost::Memo memo;
  return *make_problem(model, a100s(devices), options, memo, silent);
}

double best_time(const placement::Request& request) {
  const auto solution = placement::solve(request, {.keep = 1}, silent);
  return solution.plans.empty() ? placement::Evaluation{}.time_per_batch - 1
                                : solution.plans.front().evaluation.time_per_batch;
}

TEST(LayerTimes, a_pass_takes_the_sum_of_its_operators_or_what_the_host_needs) {
  const auto graph = graph_of("gpt2-xl", {});
  hardware::Chip chip = *hardware::load_chip("a100-80g");
  const auto network = *hardware::own_network(chip);
  const auto& block = graph.layers[1].forward;
  layer_schedule::LayerScheduler scheduler;
  const auto seconds = [&](double dispatch) {
    chip.calibration.dispatch_seconds = dispatch;
    const cost::OperatorCosts costs({.chip = chip, .network = network});
    return pass_time(block, costs, scheduler).time.seconds;
  };
  const cost::OperatorCosts costs({.chip = chip, .network = network});
  EXPECT_NEAR(seconds(0), cost::serial_cost(block, costs).seconds, 1e-12);
  EXPECT_GE(seconds(1), 5) << "a second for each operator";
  EXPECT_DOUBLE_EQ(seconds(2), 2 * seconds(1));
}

// Whatever comes of it: bounds rise and stay below the optimum, times fall and stay above it.
TEST(LayerTimes, bounds_that_are_looked_for_part_of_the_way_hold) {
  const auto graph = graph_of("gpt2-xl", {.fuse = true});
  const hardware::Chip chip = *hardware::load_chip("tc=8x128x128,vc=8x128");
  const auto network = *hardware::own_network(chip);
  const cost::OperatorCosts costs({.chip = chip, .network = network});
  const LayerPricer pricer(graph);
  const TableOptions options{.states_per_layer = 30, .communication = false};
  const LayerPricer::Tables known = pricer.price(costs, options);
  ASSERT_FALSE(known.lower_bounds.nodes.empty()) << "nothing to look for";
  TableOptions further = options;
  further.states_per_layer = 100'000;
  const LayerPricer::Tables best = pricer.price(costs, further);
  for (const double share : {0.1, 0.5, 0.9}) {
    further.states_per_layer = 2'000;
    LayerTable goals = known.lower_bounds;
    for (std::size_t i = 0; i < goals.kinds.size(); ++i) {
      const placement::LayerCost& time = known.times.kinds[i];
      const auto raise = [&](placement::PassTime& goal, const placement::PassTime& to) {
        goal.seconds += share * (to.seconds - goal.seconds);
      };
      raise(goals.kinds[i].forward, time.forward);
      raise(goals.kinds[i].backward, time.backward);
      raise(goals.kinds[i].recompute[1], time.recompute[1]);
    }
    const LayerPricer::Tables found = pricer.bound(costs, further, known, goals);
    std::size_t raised = 0;
    for (std::size_t i = 0; i < known.times.kinds.size(); ++i) {
      const auto passes = [&](const LayerTable& table) {
        const placement::LayerCost& cost = table.kinds[i];
        return std::array{cost.forward.seconds, cost.backward.seconds, cost.recompute[1].seconds,
                          cost.recompute[2].seconds};
      };
      for (std::size_t p = 0; p < 4; ++p) {
        EXPECT_GE(passes(found.lower_bounds)[p], passes(known.lower_bounds)[p]);
        EXPECT_LE(passes(found.lower_bounds)[p], passes(best.times)[p] * (1 + 1e-9));
        EXPECT_LE(passes(found.times)[p], passes(known.times)[p]);
        EXPECT_GE(passes(found.times)[p], passes(found.lower_bounds)[p]);
        raised += passes(found.lower_bounds)[p] > passes(known.lower_bounds)[p] ? 1 : 0;
      }
    }
    EXPECT_GT(raised, 0U) << "share " << share;
  }
  const LayerPricer::Tables same = pricer.bound(costs, further, known, known.lower_bounds);
  EXPECT_EQ(same.lower_bounds.kinds, known.lower_bounds.kinds) << "goals that are reached ask for nothing";
}

TEST(LayerTimes, only_blocks_are_recomputed) {
  const LayerTable table = table_of("gpt2-xl", {});
  ASSERT_EQ(table.size(), 50U);
  const auto& embedding = table.layer(0);
  const auto& block = table.layer(1);
  EXPECT_EQ(embedding.recompute[2].seconds, 0);
  EXPECT_EQ(embedding.saved[0], embedding.saved[2]);
  EXPECT_EQ(block.recompute[2].seconds, block.forward.seconds);
  EXPECT_GT(block.recompute[1].seconds, 0);
  EXPECT_LT(block.recompute[1].seconds, block.recompute[2].seconds);
  EXPECT_GT(block.saved[0], block.saved[1]);
  EXPECT_GT(block.saved[1], block.saved[2]);
}

TEST(LayerTimes, sequence_parallelism_keeps_a_part_of_the_input) {
  const LayerTable whole = table_of("gpt2-xl", {.parallel = {.width = 5}});
  const LayerTable parts = table_of("gpt2-xl", {.sequence = 1000, .parallel = {.width = 5, .sequence = true}});
  EXPECT_DOUBLE_EQ(whole.layer(1).saved[2], 2.0 * 1024 * 1600);
  EXPECT_DOUBLE_EQ(parts.layer(1).saved[2], 2.0 * 1000 * 1600 / 5);
  EXPECT_TRUE(whole.cut_is_replicated);
  EXPECT_FALSE(parts.cut_is_replicated);
}

TEST(LayerTimes, tied_embeddings_belong_to_the_first_layer) {
  const LayerTable table = table_of("gpt2-xl", {});
  EXPECT_EQ(table.layer(0).tied_parameters, 0);
  EXPECT_DOUBLE_EQ(table.layer(table.size() - 1).tied_parameters, 50257.0 * 1600);
}

TEST(LayerTimes, what_a_decoder_reads_of_the_encoder_crosses_every_cut_between_them) {
  const LayerTable table = table_of("t5-large", {});
  const double activation = 2.0 * 512 * 1024;
  EXPECT_GE(table.cut_bytes.front(), activation);
  EXPECT_GE(table.cut_bytes[table.size() - 4], 2 * activation);
}

TEST(LayerTimes, wider_tensor_parallelism_shrinks_layers) {
  const LayerTable one = table_of("megatron-22b", {}), eight = table_of("megatron-22b", {.parallel = {.width = 8}});
  EXPECT_LT(eight.layer(1).forward.seconds, one.layer(1).forward.seconds);
  EXPECT_GT(eight.layer(1).forward.communication, 0);
  EXPECT_EQ(one.layer(1).forward.communication, 0);
  EXPECT_NEAR(eight.layer(1).parameters * 8, one.layer(1).parameters, 0.001 * one.layer(1).parameters);
}

TEST(Problem, widths_that_do_not_suit_the_model_are_left_out_unless_asked_for) {
  const PlanProblem problem = problem_of("gpt2-xl", 8, {.microbatches = {1}, .global_batch = 8});
  for (const LayerTable& table : problem.request.tables) EXPECT_EQ(table.tensor_parallel, 1);
  cost::Memo memo;
  const auto refused =
      make_problem("gpt2-xl", a100s(8), {.widths = {2}, .microbatches = {1}, .global_batch = 8}, memo, silent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().place, "--tensor-parallel");
}

TEST(Problem, no_plan_does_more_than_the_peak_of_its_devices) {
  hardware::Chip fast;
  fast.vector_cores = {.count = 1024, .lanes = 1024};
  fast.hbm_bandwidth = 1e14;
  fast.hbm = Bytes(std::int64_t{1} << 45);
  cost::Memo memo;
  NoProgress quiet;
  for (const auto kind : {workload::AttentionKind::kEager, workload::AttentionKind::kFlash})
    for (const std::int64_t sequence : {512, 65536}) {
      PlanOptions options;
      options.global_batch = 4;
      options.widths = {1};
      options.microbatches = {1};
      options.sequence = sequence;
      options.attention = kind;
      const auto problem =
          make_problem("llama2-7b", {.chip = fast, .devices = 4, .network = *hardware::load_network("1000GB/s")},
                       options, memo, quiet);
      ASSERT_TRUE(problem) << to_string(problem.error());
      const auto solution = placement::solve(problem->request, {}, quiet);
      ASSERT_FALSE(solution.plans.empty());
      const double done = 4 * problem->flops_per_sample / solution.plans.front().evaluation.time_per_batch;
      EXPECT_LT(done, 4 * fast.peak_flops());
      EXPECT_GT(done, 0.2 * 4 * fast.peak_flops()) << "little else holds it up";
    }
}

TEST(Problem, a_request_to_stop_is_seen_between_graphs) {
  class StopAt final : public Progress {
   public:
    explicit StopAt(int question) : left_(question) {}
    bool advance(std::string_view, std::int64_t, std::int64_t) override { return --left_ > 0; }

   private:
    int left_;
  };
  const PlanOptions options{.sequence = 128, .widths = {1, 2}, .microbatches = {1, 2}, .global_batch = 4};
  for (int question = 1; question <= 4; ++question) {
    StopAt stop(question);
    cost::Memo memo;
    const auto problem = make_problem("bert-base", a100s(8), options, memo, stop);
    ASSERT_FALSE(problem) << "at question " << question;
    EXPECT_EQ(problem.error().message, "stopped");
  }
  StopAt after(5);
  cost::Memo memo;
  EXPECT_TRUE(make_problem("bert-base", a100s(8), options, memo, after));
}

TEST(Problem, leaving_out_which_part_is_communication_changes_no_time) {
  PlanOptions options{.widths = {1, 2, 4}, .microbatches = {1, 2}, .global_batch = 8};
  const auto with = problem_of("megatron-22b", 8, options).request.tables;
  options.communication = false;
  auto without = problem_of("megatron-22b", 8, options).request.tables;
  ASSERT_EQ(with.size(), without.size());
  double communication = 0;
  for (std::size_t t = 0; t < with.size(); ++t) {
    EXPECT_EQ(with[t].tensor_parallel, without[t].tensor_parallel) << "tables keep the order of their graphs";
    EXPECT_EQ(with[t].microbatch, without[t].microbatch);
    for (std::size_t kind = 0; kind < with[t].kinds.size(); ++kind) {
      EXPECT_EQ(with[t].kinds[kind].forward.seconds, without[t].kinds[kind].forward.seconds);
      EXPECT_EQ(with[t].kinds[kind].backward.seconds, without[t].kinds[kind].backward.seconds);
      EXPECT_EQ(without[t].kinds[kind].forward.communication, 0);
      communication += with[t].kinds[kind].forward.communication;
    }
  }
  EXPECT_GT(communication, 0);
}

TEST(Problem, sequence_parallelism_is_tried_where_the_width_is_searched) {
  const auto count = [](const PlanOptions& options) {
    std::array<int, 2> tables{};
    for (const LayerTable& table : problem_of("megatron-22b", 8, options).request.tables)
      if (table.tensor_parallel > 1) ++tables[table.sequence_parallel ? 1 : 0];
    return tables;
  };
  EXPECT_EQ(count({.microbatches = {1}, .global_batch = 8}), (std::array{3, 3}));
  EXPECT_EQ(count({.widths = {8}, .microbatches = {1}, .global_batch = 8}), (std::array{1, 0}));
  EXPECT_EQ(count({.widths = {8}, .microbatches = {1}, .sequence_parallel = SequenceParallel::kOn, .global_batch = 8}),
            (std::array{0, 1}));
}

// A small part of the grid in docs/placement.md.
TEST(Problem, the_best_plan_is_the_best_of_a_grid_of_fixed_ones) {
  const PlanProblem problem = problem_of("megatron-22b", 64, {.microbatches = {1, 2, 4}, .global_batch = 96});
  const double best = best_time(problem.request);
  ASSERT_GT(best, 0);
  double least = 1e30;
  int plans = 0;
  for (std::size_t table = 0; table < problem.request.tables.size(); ++table) {
    for (const std::int64_t p : {1, 2, 3, 4, 6, 8, 12, 16}) {
      for (const std::int64_t d : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
        for (const std::int64_t v : {1, 2, 3, 4}) {
          placement::Request fixed = problem.request;
          fixed.tables = {problem.request.tables[table]};
          fixed.freedom = {.pipeline = p, .data_parallel = d, .interleave = {v}};
          const double time = best_time(fixed);
          if (time < 0) continue;
          ++plans;
          EXPECT_GE(time, best * (1 - 1e-12));
          least = std::min(least, time);
        }
      }
    }
  }
  EXPECT_GT(plans, 100);
  EXPECT_NEAR(best, least, 0.05 * best) << "the grid comes close";
}

TEST(Study, has_one_instance_for_each_microbatch_and_kind_of_recompute) {
  const PlanProblem problem =
      problem_of("gpt2-xl", 8, {.microbatches = {1, 2}, .optimizer = cost::Optimizer::kAdam, .global_batch = 8});
  const auto cases = study_cases(problem.request);
  ASSERT_EQ(cases.size(), 4U);
  for (const StudyCase& one : cases) {
    EXPECT_TRUE(placement::phaze2024::validate(one.instance));
    EXPECT_EQ(one.instance.microbatches, 8 / one.microbatch);
    EXPECT_EQ(one.instance.widths.front().nodes.size(), 50U);
  }
}

PlanProblem study_problem(placement::Freedom freedom) {
  return problem_of("gpt2-xl", 16,
                    {.widths = {1},
                     .microbatches = {1, 2},
                     .sequence_parallel = SequenceParallel::kOff,
                     .optimizer = cost::Optimizer::kSgd,
                     .global_batch = 32,
                     .freedom = std::move(freedom)});
}

TEST(Study, the_best_plan_is_the_best_over_its_cases) {
  const PlanProblem problem = study_problem({});
  const auto best = best_study_plan(problem.request);
  ASSERT_TRUE(best);
  double least = 1e30;
  for (const StudyCase& one : study_cases(problem.request)) {
    const auto solution = placement::phaze2024::solve(one.instance);
    if (solution.plan) least = std::min(least, solution.evaluation.time_per_batch);
  }
  EXPECT_DOUBLE_EQ(best->seconds(), least);
  EXPECT_LE(best->peak_memory(), problem.request.devices.memory);
  EXPECT_FALSE(best_study_plan(problem.request, best->seconds()));
  EXPECT_TRUE(best_study_plan(problem.request, best->seconds() * 1.001));
}

TEST(Study, a_fixed_plan_is_evaluated_as_it_stands_and_is_never_better_than_the_best) {
  const double best = best_study_plan(study_problem({}).request)->seconds();
  const PlanProblem fixed = study_problem({.pipeline = 4, .data_parallel = 4, .cuts = {13, 25, 37}});
  const auto plan = best_study_plan(fixed.request);
  ASSERT_TRUE(plan);
  EXPECT_GE(plan->seconds(), best);
  ASSERT_EQ(plan->plan.stages.size(), 4U);
  EXPECT_EQ(plan->plan.stages[0].nodes.size(), 13U);
  EXPECT_EQ(plan->plan.stages[3].nodes.front(), 37);
  EXPECT_EQ(plan->plan.data_parallel, 4);
  EXPECT_FALSE(best_study_plan(study_problem({.pipeline = 2, .data_parallel = 16, .cuts = {25}}).request))
      << "32 devices are more than there are";
}

}  // namespace
}  // namespace phaze::layer_times
