#include "phaze/placement/phaze2024/evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phaze/placement/phaze2024/expert.h"
#include "phaze/placement/phaze2024/graph.h"

namespace phaze::placement::phaze2024 {
namespace {

using testing::ElementsAre;

// Three layers in a row with an edge that skips the second; numbers small enough to follow by hand.
Instance three_layers() {
  const auto at = [](std::int64_t width, double share) {
    const bool split = width > 1;
    return Width{width,
                 {{.id = 10,
                   .parameter_bytes = 4 * share,
                   .activation_bytes = 2,
                   .forward_seconds = 1 * share,
                   .backward_seconds = 2 * share,
                   .tensor_parallel = split},
                  {.id = 20, .parameter_bytes = 6, .activation_bytes = 3, .forward_seconds = 2, .backward_seconds = 4},
                  {.id = 30,
                   .parameter_bytes = 8 * share,
                   .activation_bytes = 5,
                   .forward_seconds = 3 * share,
                   .backward_seconds = 6 * share,
                   .tensor_parallel = split}},
                 {{10, 20, 20}, {20, 30, 10}, {10, 30, 50}}};
  };
  return {
      .memory_per_device = 100, .devices = 12, .bandwidth = 10, .microbatches = 5, .widths = {at(1, 1), at(2, 0.5)}};
}

const Plan kTwoStages = {.tensor_parallel = 1, .data_parallel = 2, .stages = {{{10}, 1}, {{20, 30}, 1}}};

TEST(Evaluate, follows_the_rules_by_hand) {
  const Evaluation result = evaluate(three_layers(), kTwoStages);
  ASSERT_TRUE(result.violations.empty()) << result.violations.front();
  // First stage: runs 1 s; its gradients arrive after 2 s (from 20) and 5 s (from 30), then 2 s.
  EXPECT_DOUBLE_EQ(result.stages[0].forward_seconds, 1);
  EXPECT_DOUBLE_EQ(result.stages[0].backward_seconds, 7);
  // Second stage: 20 starts at 2 and ends at 4; 30 has its own input from 10 only at 5, ends at 8. Backward 6 + 4.
  EXPECT_DOUBLE_EQ(result.stages[1].forward_seconds, 8);
  EXPECT_DOUBLE_EQ(result.stages[1].backward_seconds, 10);
  // States 2 * 4, activations 2, one further microbatch stashed.
  EXPECT_DOUBLE_EQ(result.stages[0].memory_bytes, 12);
  EXPECT_DOUBLE_EQ(result.stages[1].memory_bytes, 36);
  // Three rounds in a pipeline of two; gradients of the first stage's 4 bytes over two replicas.
  EXPECT_DOUBLE_EQ(result.gradient_seconds, 4.0 / 2 * 4 / 10);
  EXPECT_DOUBLE_EQ(result.time_per_batch, 18 * (3 + 1) + 0.8);
}

TEST(Evaluate, gradients_arrive_while_a_stage_recomputes) {
  Instance instance = three_layers();
  instance.recompute = true;
  instance.optimizer = Optimizer::kAdam;
  const Evaluation result = evaluate(instance, kTwoStages);
  ASSERT_TRUE(result.violations.empty());
  // The forward pass again takes 1 s, but the gradient from 30 is there only after 5 s.
  EXPECT_DOUBLE_EQ(result.stages[0].backward_seconds, 7);
  // The last stage never recomputes.
  EXPECT_DOUBLE_EQ(result.stages[1].backward_seconds, 10);
  // Nothing enters the first stage, so it stashes nothing; Adam keeps 3 * 4.
  EXPECT_DOUBLE_EQ(result.stages[0].memory_bytes, 14);
  // Nothing is behind the last one.
  EXPECT_DOUBLE_EQ(result.stages[1].memory_bytes, 3 * 14 + 8);

  instance.bandwidth = 1000;
  EXPECT_DOUBLE_EQ(evaluate(instance, kTwoStages).stages[0].backward_seconds, 1 + 2);
  // A stage in the middle stashes all that enters it.
  const Plan three = {.tensor_parallel = 1, .data_parallel = 1, .stages = {{{10}, 1}, {{20}, 1}, {{30}, 1}}};
  EXPECT_DOUBLE_EQ(evaluate(instance, three).stages[1].stash_bytes, 20);
}

TEST(Evaluate, branches_in_a_stage_run_one_after_the_other) {
  // 1 and 2 both feed 3; 2 waits 3 s for its input from 0, so 1 runs first.
  const Instance instance{.memory_per_device = 10,
                          .devices = 2,
                          .bandwidth = 1,
                          .microbatches = 1,
                          .widths = {{1,
                                      {{.id = 0, .forward_seconds = 1},
                                       {.id = 1, .forward_seconds = 2},
                                       {.id = 2, .forward_seconds = 4},
                                       {.id = 3, .forward_seconds = 8}},
                                      {{0, 2, 3}, {1, 3, 100}, {2, 3, 100}}}}};
  const Plan plan = {.tensor_parallel = 1, .data_parallel = 1, .stages = {{{0}, 1}, {{2, 1, 3}, 1}}};
  const Evaluation result = evaluate(instance, plan);
  ASSERT_TRUE(result.violations.empty());
  EXPECT_DOUBLE_EQ(result.stages[1].forward_seconds, 3 + 4 + 8);
}

TEST(Evaluate, names_what_is_wrong_with_a_plan) {
  const Instance instance = three_layers();
  const auto violations = [&](const Plan& plan) { return evaluate(instance, plan).violations; };
  EXPECT_THAT(violations({4, 1, {{{10, 20, 30}, 4}}}), ElementsAre("there is no tensor-parallel width 4"));
  EXPECT_THAT(violations({1, 1, {}}), ElementsAre("there are no stages", "node 10 is in no stage",
                                                  "node 20 is in no stage", "node 30 is in no stage"));
  EXPECT_THAT(violations({1, 1, {{{10, 20, 30, 7}, 1}}}), ElementsAre("stage 1 holds node 7, which does not exist"));
  EXPECT_THAT(violations({1, 1, {{{10, 20}, 1}, {{20, 30}, 1}}}), ElementsAre("node 20 is in stage 1 and in stage 2"));
  EXPECT_THAT(violations({1, 1, {{{20}, 1}, {{10, 30}, 1}}}),
              ElementsAre("edge 10 -> 20 leads back from stage 2 to stage 1"));
  EXPECT_THAT(violations({2, 1, {{{10, 20, 30}, 1}}}), ElementsAre("stage 1 has 1 devices and needs 2"));
  EXPECT_THAT(violations({1, 6, {{{10, 20, 30}, 1}}}), ElementsAre("data-parallel degree 6 is not between 1 and 5"));
  EXPECT_THAT(violations({1, 5, {{{10}, 1}, {{20}, 1}, {{30}, 1}}}),
              ElementsAre("a pipeline uses 3 devices and has 2"));
  Instance small = instance;
  small.memory_per_device = 45;
  EXPECT_THAT(evaluate(small, {1, 1, {{{10, 20, 30}, 1}}}).violations,
              ElementsAre("stage 1 needs 46 bytes per device and has 45"));
}

std::optional<ExpertResult> expert(Instance instance, const ExpertChoice& choice) {
  instance.expert = choice;
  return evaluate_expert(instance, topological_order(instance));
}

TEST(Expert, layers_are_cut_evenly_and_the_rest_joins_the_last_stage) {
  const auto result = expert(three_layers(), {2, 2, 1, 2});
  ASSERT_TRUE(result && result->plan);
  EXPECT_EQ(*result->plan, (Plan{2, 1, {{{10}, 2}, {{20, 30}, 2}}}));
  EXPECT_EQ(result->time_per_batch, evaluate(three_layers(), *result->plan).time_per_batch);
  // Three layers in pieces of two: the second stage gets one.
  EXPECT_EQ(*expert(three_layers(), {2, 1, 1, 3})->plan, (Plan{1, 1, {{{10, 20}, 1}, {{30}, 1}}}));
}

TEST(Expert, a_plan_that_cannot_be_run_has_a_reason_instead_of_a_time) {
  const auto reason = [](const ExpertChoice& choice) {
    const auto result = expert(three_layers(), choice);
    EXPECT_FALSE(result->time_per_batch);
    return result->reason;
  };
  EXPECT_EQ(reason({1, 8, 1, 3}), "there is no tensor-parallel width 8");
  EXPECT_EQ(reason({1, 1, 1, 4}), "numTransformerLayers is 4 and there are 3 layers");
  EXPECT_EQ(reason({4, 1, 1, 3}), "4 stages are more than the 3 layers");
  EXPECT_EQ(reason({3, 2, 3, 3}), "a pipeline uses 6 devices and has 4");
  EXPECT_FALSE(evaluate_expert(three_layers(), topological_order(three_layers())));
}

}  // namespace
}  // namespace phaze::placement::phaze2024
