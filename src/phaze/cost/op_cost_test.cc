#include "phaze/cost/op_cost.h"

#include <gtest/gtest.h>

#include <thread>

#include "phaze/base/progress.h"
#include "phaze/cost/attention.h"
#include "phaze/cost/gemm.h"
#include "phaze/cost/optimizer.h"
#include "phaze/cost/vector.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/cluster.h"
#include "phaze/workload/fusion.h"
#include "phaze/workload/load.h"

namespace phaze::cost {
namespace {

using workload::OpGraph;
using workload::OpGraphBuilder;
using workload::OpId;
using workload::TensorId;
using workload::TensorRole;
using workload::VectorOp;

OperatorCosts costs_on(const hardware::Chip& chip, Memo* memo = nullptr) {
  return OperatorCosts({.chip = chip, .network = *hardware::own_network(chip)}, memo);
}

// A product with a gelu behind it.
OpGraph product_and_gelu() {
  OpGraphBuilder builder;
  const TensorId x = builder.tensor({.elements = 4096 * 512, .role = TensorRole::kInput});
  const TensorId w = builder.tensor({.elements = 512 * 4096, .role = TensorRole::kParameter});
  const TensorId y = builder.emit("fc1", workload::Work(workload::Gemm{.m = 4096, .n = 4096, .k = 512}), {x, w},
                                  {.elements = 4096 * 4096});
  builder.emit("gelu", workload::Work(workload::VectorWork{.op = VectorOp::kGelu, .rows = 4096, .cols = 4096}), {y},
               {.elements = 4096 * 4096, .output = true});
  return std::move(builder).build();
}

TEST(OperatorCosts, a_fused_epilogue_saves_the_round_trip_to_memory) {
  hardware::Chip chip;
  chip.vector_cores = {64, 256};
  const OperatorCosts costs = costs_on(chip);
  const OpGraph apart = product_and_gelu();
  const OpGraph fused = workload::fuse(apart);
  ASSERT_EQ(fused.size(), 1U);
  const Estimate two = serial_cost(apart, costs);
  const Estimate one = serial_cost(fused, costs);
  EXPECT_LT(one.seconds, two.seconds);
  EXPECT_NEAR(two.hbm_bytes - one.hbm_bytes, 2.0 * 2 * 4096 * 4096, 1) << "the product's result, out and in";
  EXPECT_LT(one.joules, two.joules);
}

TEST(OperatorCosts, under_load_products_run_at_the_pace_that_lasts_and_nothing_else_changes) {
  hardware::Chip chip = *hardware::load_chip("h200");
  chip.calibration.sustained = 0.5;
  hardware::Chip slow = chip;
  slow.calibration.compute *= 0.5;
  const hardware::Network network = *hardware::own_network(chip);
  const OpGraph graph = product_and_gelu();
  const double at_rest = serial_cost(graph, costs_on(chip)).seconds;
  Memo memo;
  for (const Cores& cores : {costs_on(chip).all_cores(), Cores{.tensor = 7, .vector = 3}})
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const OpId op(i);
      const Estimate loaded =
          OperatorCosts({.chip = chip, .network = network, .under_load = true}, &memo).of(graph, op, cores);
      EXPECT_EQ(loaded.seconds, costs_on(slow, &memo).of(graph, op, cores).seconds);
      EXPECT_GE(loaded.seconds, costs_on(chip, &memo).of(graph, op, cores).seconds) << "one memo serves both";
    }
  EXPECT_EQ(at_rest, serial_cost(graph, costs_on(*hardware::load_chip("h200"))).seconds);
}

TEST(OperatorCosts, a_fused_epilogue_is_bound_by_slow_lanes) {
  hardware::Chip chip;
  chip.vector_cores = {1, 1};
  const Estimate one = serial_cost(workload::fuse(product_and_gelu()), costs_on(chip));
  EXPECT_EQ(costs_on(chip).of(workload::fuse(product_and_gelu()), OpId(0), {8, 1}).bound_by, Bound::kVector);
  EXPECT_NEAR(one.seconds, 4096.0 * 4096 / chip.clock_hz, 1e-9);
}

TEST(OperatorCosts, on_a_gpu_an_epilogue_is_one_kernel_behind_the_product) {
  const OperatorCosts costs = costs_on(*hardware::load_chip("a100-80g"));
  const Estimate apart = serial_cost(product_and_gelu(), costs);
  const Estimate fused = serial_cost(workload::fuse(product_and_gelu()), costs);
  EXPECT_NEAR(fused.seconds, apart.seconds, 1e-9 * apart.seconds);
  EXPECT_NEAR(fused.hbm_bytes, apart.hbm_bytes, 1);
}

TEST(OperatorCosts, a_fused_softmax_scales_and_masks_along_the_way) {
  NoProgress quiet;
  const auto model = workload::load_model("gpt2-xl", {.fuse = true}, quiet);
  ASSERT_TRUE(model);
  const hardware::Chip chip = *hardware::load_chip("a100-80g");
  const auto seconds = [&](bool fused_softmax) {
    const OperatorCosts costs({.chip = chip, .network = *hardware::own_network(chip), .fused_softmax = fused_softmax});
    return serial_cost(model->layers[1].forward, costs).seconds + serial_cost(model->layers[1].backward, costs).seconds;
  };
  EXPECT_LT(seconds(true), 0.98 * seconds(false));
}

TEST(OperatorCosts, the_memo_changes_nothing_and_is_shared_between_threads) {
  NoProgress quiet;
  const auto model = workload::load_model("llama2-7b", {}, quiet);
  ASSERT_TRUE(model);
  Memo memo(1 << 12);
  const auto sum = [&](Memo* with) {
    double seconds = 0;
    for (const std::int64_t cores : {2, 4, 8}) {
      hardware::Chip chip;
      chip.tensor_cores.count = cores;
      const OperatorCosts costs = costs_on(chip, with);
      for (const workload::Layer& layer : model->layers)
        seconds += serial_cost(layer.forward, costs).seconds + serial_cost(layer.backward, costs).seconds;
    }
    return seconds;
  };
  const double plain = sum(nullptr);
  std::array<double, 4> results{};
  {
    std::vector<std::jthread> threads;
    for (double& result : results) threads.emplace_back([&] { result = sum(&memo); });
  }
  for (const double result : results) EXPECT_EQ(result, plain);
  EXPECT_GT(memo.statistics().hits, 0U);
}

TEST(Memo, a_full_table_forgets_but_never_lies) {
  Memo memo(64);
  for (std::uint64_t i = 0; i < 10000; ++i) {
    Digest key;
    key.add(i);
    memo.store(key, {.seconds = static_cast<double>(i)});
  }
  std::size_t known = 0;
  for (std::uint64_t i = 0; i < 10000; ++i) {
    Digest key;
    key.add(i);
    if (const auto found = memo.find(key)) {
      EXPECT_EQ(found->seconds, static_cast<double>(i));
      ++known;
    }
  }
  EXPECT_GT(known, 0U);
  EXPECT_LE(known, 64U);
}

TEST(Vector, big_operators_are_bound_by_memory_and_take_their_bytes_over_bandwidth) {
  hardware::Chip chip;
  chip.vector_cores = {64, 256};
  const workload::VectorWork add{.op = VectorOp::kAdd, .rows = 8192, .cols = 4096};
  const Estimate estimate = vector_cost(add, vector_bytes(add, 2), chip, 64);
  EXPECT_EQ(estimate.bound_by, Bound::kHbm);
  EXPECT_NEAR(estimate.seconds, 3.0 * 2 * 8192 * 4096 / 1.2e12, 1e-12);
}

TEST(Vector, few_lanes_take_the_cycles_of_the_2024_tables) {
  hardware::Chip chip;
  chip.vector_cores = {2, 128};
  const workload::VectorWork tanh{.op = VectorOp::kTanh, .rows = 1024, .cols = 1024};
  const Estimate estimate = vector_cost(tanh, vector_bytes(tanh, 2), chip, 2);
  EXPECT_EQ(estimate.bound_by, Bound::kVector);
  EXPECT_NEAR(estimate.seconds, 27.0 * 1024 * 1024 / 256 / 1.05e9, 1e-12);
}

TEST(Vector, rows_too_long_for_the_core_buffer_are_read_again) {
  hardware::Chip chip;
  chip.vector_cores = {64, 256};
  chip.global_buffer_bytes_per_cycle = 512;
  const workload::VectorWork fits{.op = VectorOp::kLayerNorm, .rows = 8192, .cols = 2048};
  const workload::VectorWork too_long{.op = VectorOp::kLayerNorm, .rows = 4096, .cols = 4096};
  const Estimate once = vector_cost(fits, vector_bytes(fits, 2), chip, 64);
  const Estimate twice = vector_cost(too_long, vector_bytes(too_long, 2), chip, 64);
  EXPECT_EQ(twice.bound_by, Bound::kGlobalBuffer);
  EXPECT_GT(twice.seconds, once.seconds);
  EXPECT_EQ(twice.hbm_bytes, once.hbm_bytes) << "from the global buffer, not from HBM";
}

TEST(Attention, a_causal_mask_halves_what_is_visible) {
  workload::Attention attention{
      .batch = 1, .heads = 1, .kv_heads = 1, .query_length = 100, .key_length = 100, .head_dim = 64};
  EXPECT_DOUBLE_EQ(workload::visible_keys(attention), 100);
  attention.causal = true;
  EXPECT_DOUBLE_EQ(workload::visible_keys(attention), 50.5);
  attention.window = 10;
  EXPECT_DOUBLE_EQ(workload::visible_keys(attention), 10);
  attention.window = 0;
  attention.query_length = 1;
  EXPECT_DOUBLE_EQ(workload::visible_keys(attention), 100) << "the last query sees everything";
}

TEST(Attention, never_beats_its_products_on_the_arrays) {
  const hardware::Chip chip = *hardware::load_chip("tpuv5p");
  for (const bool backward : {false, true}) {
    const workload::Attention attention{.batch = 2,
                                        .heads = 16,
                                        .kv_heads = 16,
                                        .query_length = 1024,
                                        .key_length = 1024,
                                        .head_dim = 128,
                                        .backward = backward};
    const Estimate estimate = attention_cost(attention, 0, chip, chip.tensor_cores.count, chip.vector_cores.count);
    const double flops = static_cast<double>(workload::matrix_flops(workload::Work(attention)).value());
    EXPECT_GE(estimate.seconds, flops / chip.peak_flops());
  }
}

TEST(Optimizer, a_step_streams_states_once) {
  const hardware::Chip chip = *hardware::load_chip("tpuv4");
  const Estimate step = optimizer_step_cost(1e9, Optimizer::kAdamMixed, chip);
  EXPECT_EQ(step.bound_by, Bound::kHbm);
  EXPECT_NEAR(step.seconds, 1e9 * step_bytes_per_parameter(Optimizer::kAdamMixed) / 1.2e12, 1e-12);
}

}  // namespace
}  // namespace phaze::cost
