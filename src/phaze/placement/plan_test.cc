#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "phaze/placement/solve.h"
#include "phaze/placement/testing/brute_force.h"
#include "phaze/placement/testing/random_request.h"

namespace phaze::placement {
namespace {

using testing::brute_force;
using testing::random_request;

Solution solved(const Request& request, const Options& options = {}) {
  NoProgress silent;
  return solve(request, options, silent);
}

double best_time(const Request& request) {
  const Solution solution = solved(request, {.keep = 1});
  return solution.plans.empty() ? -1 : solution.plans.front().evaluation.time_per_batch;
}

// Two kinds of layers around a run of equal ones, with sizes that make recompute worth it.
Request long_chain(std::size_t blocks, std::int64_t devices, double memory) {
  LayerCost embedding{.name = "embedding", .parameters = 3};
  embedding.forward.seconds = 0.2;
  embedding.backward.seconds = 0.3;
  embedding.saved.fill(1);
  LayerCost block{.name = "block", .parameters = 1};
  block.forward.seconds = 1;
  block.backward.seconds = 2;
  block.recompute[1].seconds = 0.1;
  block.recompute[2] = block.forward;
  block.saved = {10, 4, 1};
  LayerCost head{.name = "head", .tied_parameters = 3};
  head.forward.seconds = 0.5;
  head.backward.seconds = 1;
  head.saved.fill(2);
  LayerTable table{.kinds = {embedding, block, head}};
  table.nodes.assign(blocks + 2, 1);
  table.nodes.front() = 0;
  table.nodes.back() = 2;
  table.cut_bytes.assign(blocks + 1, 0.5);
  hardware::Network network;
  network.levels = {{.size = 4, .bandwidth = 50}, {.bandwidth = 5, .latency = 0.01}};
  return {.tables = {table},
          .devices = {.count = devices, .memory = memory, .network = network, .step_seconds_per_parameter = 0.01},
          .training = {.global_batch = 24},
          .freedom = {}};
}

TEST(Plan, the_best_of_random_requests_equals_brute_force) {
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    std::mt19937_64 random(seed);
    const Request request = random_request(random, {});
    ASSERT_TRUE(validate(request)) << seed;
    const auto expected = brute_force(request);
    const double found = best_time(request);
    ASSERT_EQ(found < 0, expected.best < 0) << "seed " << seed;
    if (found < 0) continue;
    ++feasible;
    ASSERT_NEAR(found, expected.best, 1e-9 * expected.best) << "seed " << seed;
  }
  EXPECT_GT(feasible, 200);
}

TEST(Plan, with_given_cuts_the_best_equals_brute_force_over_plans_that_have_them) {
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(7000 + seed);
    Request request = random_request(random, {});
    request.freedom.pipeline = 0;
    for (std::size_t node = 1; node < request.tables.front().size(); ++node)
      if (random() % 3 == 0) request.freedom.cuts.push_back(node);
    ASSERT_TRUE(validate(request)) << seed;
    const auto expected = brute_force(request);
    const double found = best_time(request);
    ASSERT_EQ(found < 0, expected.best < 0) << "seed " << seed;
    if (found < 0) continue;
    ++feasible;
    ASSERT_NEAR(found, expected.best, 1e-9 * expected.best) << "seed " << seed;
  }
  EXPECT_GT(feasible, 100);
}

TEST(Plan, cuts_must_ascend_inside_the_chain_and_agree_with_the_stages) {
  Request request = long_chain(4, 8, 1e3);
  for (const std::vector<std::size_t>& cuts : std::vector<std::vector<std::size_t>>{{0}, {6}, {2, 2}, {3, 1}}) {
    request.freedom.cuts = cuts;
    EXPECT_FALSE(validate(request));
  }
  request.freedom = {.pipeline = 3, .cuts = {2}};
  EXPECT_FALSE(validate(request));
  request.freedom.pipeline = 2;
  EXPECT_TRUE(validate(request));
}

// Figures that are not known yet are zeros, and a batch may take no time at all.
TEST(Plan, where_nothing_takes_time_the_best_equals_brute_force) {
  int feasible = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    Request request = random_request(random, {});
    for (LayerTable& table : request.tables) {
      for (LayerCost& kind : table.kinds) {
        kind.forward = kind.backward = {};
        kind.recompute = {};
        kind.parameters = kind.tied_parameters = 0;
      }
      std::ranges::fill(table.cut_bytes, 0);
    }
    for (hardware::NetworkLevel& level : request.devices.network.levels) level.latency = 0;
    request.devices.step_seconds_per_parameter = 0;
    ASSERT_TRUE(validate(request)) << seed;
    const double best = brute_force(request).best;
    EXPECT_EQ(best_time(request), best) << seed;
    feasible += best == 0 ? 1 : 0;
  }
  EXPECT_GT(feasible, 20);
}

TEST(Plan, one_that_is_stopped_accounts_for_all_strategies) {
  class StopAtOnce final : public Progress {
   public:
    bool advance(std::string_view, std::int64_t, std::int64_t) override { return false; }
  } stop;
  const Request request = long_chain(6, 8, 1e9);
  const Solution stopped = solve(request, {}, stop);
  EXPECT_EQ(stopped.termination, Termination::kStopped);
  EXPECT_EQ(stopped.statistics.solved, 0);
  EXPECT_GT(stopped.statistics.strategies, 0);
  EXPECT_EQ(stopped.statistics.strategies, solved(request).statistics.strategies);
}

TEST(Plan, longer_chains_equal_brute_force) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    std::mt19937_64 random(1000 + seed);
    Request request = random_request(random, {.most_layers = 9, .most_devices = 4});
    request.freedom.zero = {static_cast<int>(seed % 4)};
    request.freedom.pipeline = 1 + static_cast<std::int64_t>(seed % 4);
    const auto expected = brute_force(request);
    const double found = best_time(request);
    ASSERT_EQ(found < 0, expected.best < 0) << "seed " << seed;
    if (found < 0) continue;
    ASSERT_NEAR(found, expected.best, 1e-9 * expected.best) << "seed " << seed;
  }
}

TEST(Plan, the_best_strategies_are_those_of_brute_force_in_order) {
  for (std::uint64_t seed = 2000; seed < 2100; ++seed) {
    std::mt19937_64 random(seed);
    const Request request = random_request(random, {});
    auto expected = brute_force(request).times;
    std::ranges::sort(expected);
    const Solution solution = solved(request, {.keep = 4});
    ASSERT_EQ(solution.plans.size(), std::min<std::size_t>(4, expected.size())) << "seed " << seed;
    for (std::size_t i = 0; i < solution.plans.size(); ++i)
      ASSERT_NEAR(solution.plans[i].evaluation.time_per_batch, expected[i], 1e-9 * expected[i]) << "seed " << seed;
  }
}

TEST(Plan, pruning_changes_no_answer) {
  for (const double memory : {60.0, 90.0, 200.0}) {
    const Request request = long_chain(16, 16, memory);
    const Solution all = solved(request, {.keep = 3, .exhaustive = true});
    const Solution some = solved(request, {.keep = 3});
    EXPECT_LT(some.statistics.solved, all.statistics.solved);
    EXPECT_EQ(some.statistics.strategies, all.statistics.solved);
    ASSERT_EQ(some.plans.size(), all.plans.size());
    for (std::size_t i = 0; i < some.plans.size(); ++i)
      EXPECT_NEAR(some.plans[i].evaluation.time_per_batch, all.plans[i].evaluation.time_per_batch, 1e-9);
  }
}

TEST(Plan, more_of_anything_never_hurts) {
  for (std::uint64_t seed = 3000; seed < 3300; ++seed) {
    std::mt19937_64 random(seed);
    const Request request = random_request(random, {});
    const double time = best_time(request);
    const auto no_slower = [&](const Request& richer, const char* what) {
      const double now = best_time(richer);
      if (time < 0) return;
      EXPECT_TRUE(now >= 0 && now <= time * (1 + 1e-9)) << what << ", seed " << seed;
    };
    Request more = request;
    more.devices.memory *= 1.5;
    no_slower(more, "memory");
    more = request;
    for (auto& level : more.devices.network.levels) level.bandwidth *= 2;
    no_slower(more, "bandwidth");
    more = request;
    more.devices.count += 3;
    no_slower(more, "devices");
  }
}

TEST(Plan, without_memory_limits_nothing_is_recomputed) {
  const Solution solution = solved(long_chain(16, 8, 1e9));
  ASSERT_FALSE(solution.plans.empty());
  for (const Stage& stage : solution.plans.front().plan.stages) EXPECT_EQ(stage.recompute, Recompute::kNone);
}

TEST(Plan, early_stages_recompute_more_than_late_ones) {
  Request request = long_chain(8, 4, 95);
  request.freedom = {.pipeline = 4, .data_parallel = 1, .interleave = {1}};
  const Solution solution = solved(request);
  ASSERT_FALSE(solution.plans.empty());
  const auto& stages = solution.plans.front().plan.stages;
  EXPECT_GT(stages.front().recompute, stages.back().recompute);
  for (std::size_t s = 1; s < stages.size(); ++s) EXPECT_LE(stages[s].recompute, stages[s - 1].recompute);
}

TEST(Plan, there_is_a_plan_just_where_the_solver_finds_one) {
  int with = 0, without = 0;
  for (std::uint64_t seed = 4300; seed < 4700; ++seed) {
    std::mt19937_64 random(seed);
    Request request = random_request(random, {});
    if (seed % 2 == 0) request.devices.memory /= 10;
    const bool found = best_time(request) >= 0;
    EXPECT_EQ(has_plan(request), found) << "seed " << seed;
    ++(found ? with : without);
  }
  EXPECT_GT(with, 100);
  EXPECT_GT(without, 100);
}

TEST(Plan, what_is_said_to_suffice_does_and_less_does_not) {
  int explained = 0, with_devices = 0, without = 0;
  for (std::uint64_t seed = 4000; seed < 4300; ++seed) {
    std::mt19937_64 random(seed);
    Request request = random_request(random, {});
    request.devices.memory /= 10;
    if (best_time(request) >= 0) continue;
    const Shortage shortage = explain(request);
    EXPECT_FALSE(shortage.reason.empty());
    if (shortage.sufficient_memory == 0) continue;
    ++explained;
    Request enough = request;
    enough.devices.memory = shortage.sufficient_memory;
    EXPECT_GE(best_time(enough), 0) << "seed " << seed;
    enough.devices.memory = shortage.sufficient_memory - 2;
    EXPECT_LT(best_time(enough), 0) << "seed " << seed;
    enough = request;
    if (shortage.sufficient_devices > 0) {
      ++with_devices;
      enough.devices.count = shortage.sufficient_devices;
      EXPECT_GE(best_time(enough), 0) << "seed " << seed;
      enough.devices.count = shortage.sufficient_devices - 1;
      EXPECT_LT(best_time(enough), 0) << "seed " << seed;
    } else {
      ++without;
      enough.devices.count = 500;  // more than the largest plan of such a request takes
      EXPECT_LT(best_time(enough), 0) << "seed " << seed;
    }
  }
  EXPECT_GT(explained, 40);
  EXPECT_GT(with_devices, 10);
  EXPECT_GT(without, 10);
}

TEST(Checker, parts_of_the_time_add_up_to_it) {
  for (std::uint64_t seed = 5000; seed < 5200; ++seed) {
    std::mt19937_64 random(seed);
    const Request request = random_request(random, {});
    for (const Ranked& ranked : solved(request).plans) {
      const Breakdown& parts = ranked.evaluation.breakdown;
      const double sum = parts.compute + parts.recompute + parts.tensor_parallel + parts.bubble + parts.transfers +
                         parts.gradient_sync + parts.optimizer;
      EXPECT_NEAR(sum, ranked.evaluation.time_per_batch, 1e-9 * sum) << "seed " << seed;
    }
  }
}

TEST(Checker, refuses_plans_that_break_a_rule) {
  const Request request = long_chain(6, 4, 1e9);
  const Plan good{{.pipeline = 2, .data_parallel = 2}, {{{{0, 4}}, Recompute::kNone}, {{{4, 8}}, Recompute::kNone}}};
  ASSERT_TRUE(evaluate(request, good).violations.empty());
  const auto refusal = [&](auto&& change) {
    Plan plan = good;
    change(plan);
    const auto violations = evaluate(request, plan).violations;
    return violations.empty() ? std::string() : violations.front();
  };
  EXPECT_EQ(refusal([](Plan& plan) { plan.strategy.data_parallel = 3; }), "6 devices are used and 4 are there");
  EXPECT_EQ(refusal([](Plan& plan) { plan.strategy.table = 1; }), "the plan names a table that is not there");
  EXPECT_EQ(refusal([](Plan& plan) { plan.strategy.zero = 4; }), "there is no such ZeRO level");
  EXPECT_EQ(refusal([](Plan& plan) { plan.stages.pop_back(); }), "the number of stages is not the pipeline's");
  EXPECT_EQ(refusal([](Plan& plan) { plan.stages[1].chunks = {{5, 8}}; }), "chunks do not follow each other");
  EXPECT_EQ(refusal([](Plan& plan) { plan.stages[1].chunks = {{4, 7}}; }), "layers are left over");
  EXPECT_EQ(refusal([](Plan& plan) { plan.stages[0].chunks.clear(); }),
            "a stage has not one chunk for each turn of the pipeline");
  Request tight = request;
  tight.devices.memory = 100;
  EXPECT_EQ(evaluate(tight, good).violations.front(), "stage 1 needs 170 bytes per device and has 100");
}

TEST(Checker, states_of_mixed_precision_adam_take_eighteen_bytes_and_zero_divides_them) {
  Request request = long_chain(2, 4, 1e9);
  request.freedom = {.pipeline = 1, .data_parallel = 4};
  const double parameters = 3 + 2;
  const auto memory = [&](int zero) {
    request.freedom.zero = {zero};
    return solved(request).plans.front().evaluation.stages.front().memory;
  };
  EXPECT_DOUBLE_EQ(memory(0).parameters + memory(0).gradients + memory(0).optimizer, 18 * parameters);
  EXPECT_DOUBLE_EQ(memory(1).optimizer, 12 * parameters / 4);
  EXPECT_DOUBLE_EQ(memory(1).gradients, 4 * parameters);
  EXPECT_DOUBLE_EQ(memory(2).gradients, 4 * parameters / 4);
  EXPECT_DOUBLE_EQ(memory(2).parameters, 2 * parameters);
  EXPECT_DOUBLE_EQ(memory(3).parameters, 2 * parameters / 4);
}

TEST(Request, what_makes_no_sense_is_refused) {
  const auto refusal = [](auto&& change) {
    Request request = long_chain(4, 4, 100);
    change(request);
    const Status status = validate(request);
    return status ? std::string() : to_string(status.error());
  };
  EXPECT_EQ(refusal([](Request&) {}), "");
  EXPECT_EQ(refusal([](Request& r) { r.tables.clear(); }), "there are no layers to place");
  EXPECT_EQ(refusal([](Request& r) { r.devices.count = 0; }), "there are no devices");
  EXPECT_EQ(refusal([](Request& r) { r.training.global_batch = 0; }), "a batch has at least one sample");
  EXPECT_EQ(refusal([](Request& r) { r.tables[0].kinds[1].forward.seconds = -1; }),
            "width 1, microbatch 1: block: a time or size is negative or not finite");
  EXPECT_EQ(refusal([](Request& r) { r.tables[0].kinds[1].saved[2] = 5; }),
            "width 1, microbatch 1: block: recomputing more keeps more bytes");
  EXPECT_EQ(refusal([](Request& r) { r.tables[0].cut_bytes.pop_back(); }),
            "width 1, microbatch 1: there is not one cut between any two layers");
  EXPECT_EQ(refusal([](Request& r) { r.freedom.zero = {4}; }), "there is no ZeRO level 4");
  EXPECT_EQ(refusal([](Request& r) {
              r.devices.network.levels.back().size = 2;
              r.devices.count = 9;
            }),
            "the network joins 8 devices, not 9");
}

}  // namespace
}  // namespace phaze::placement
