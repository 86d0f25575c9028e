#include "phaze/workload/fusion.h"

#include <gtest/gtest.h>

#include <map>

#include "phaze/workload/backward.h"
#include "phaze/workload/testing/random_graph.h"

namespace phaze::workload {
namespace {

using testing::random_layer;
using testing::reachability;

TEST(Fusion, an_activation_joins_the_product_that_feeds_it) {
  OpGraphBuilder builder;
  const TensorId x = builder.tensor({.elements = 8 * 16, .role = TensorRole::kInput});
  const TensorId w = builder.tensor({.elements = 16 * 32, .role = TensorRole::kParameter});
  const TensorId y = builder.emit("fc", Work(Gemm{.m = 8, .n = 32, .k = 16}), {x, w}, {.elements = 256});
  const TensorId z = builder.emit("gelu", Work(VectorWork{.op = VectorOp::kGelu, .rows = 8, .cols = 32}), {y},
                                  {.elements = 256, .output = true});
  static_cast<void>(z);
  const OpGraph graph = std::move(builder).build();
  const OpGraph fused = fuse(graph);
  ASSERT_EQ(fused.size(), 1U);
  EXPECT_EQ(fused.fused(OpId(0)).size(), 1U);
  EXPECT_EQ(fused.written_bytes(OpId(0)), Bytes(512)) << "the product itself no longer reaches memory";
  const OpGraph keeping = fuse(graph, std::array{y});
  EXPECT_EQ(keeping.written_bytes(OpId(0)), Bytes(1024)) << "unless the backward pass keeps it";
  EXPECT_EQ(totals(fused).read + totals(fused).written + Bytes(1024), totals(graph).read + totals(graph).written)
      << "one round trip to memory is saved";
}

TEST(Fusion, a_result_with_two_readers_stays_apart) {
  OpGraphBuilder builder;
  const TensorId x = builder.tensor({.elements = 256, .role = TensorRole::kInput});
  const Work gelu = VectorWork{.op = VectorOp::kGelu, .rows = 8, .cols = 32};
  const TensorId a = builder.emit("a", gelu, {x}, {.elements = 256});
  const TensorId b = builder.emit("b", gelu, {a}, {.elements = 256});
  builder.emit("c", Work(VectorWork{.op = VectorOp::kAdd, .rows = 8, .cols = 32}), {a, b},
               {.elements = 256, .output = true});
  const OpGraph fused = fuse(std::move(builder).build());
  EXPECT_EQ(fused.size(), 2U) << "a feeds b and c; b and c fuse";
}

TEST(Fusion, statistics_along_rows_do_not_fuse) {
  OpGraphBuilder builder;
  const TensorId x = builder.tensor({.elements = 256, .role = TensorRole::kInput});
  const TensorId a =
      builder.emit("a", Work(VectorWork{.op = VectorOp::kGelu, .rows = 8, .cols = 32}), {x}, {.elements = 256});
  builder.emit("s", Work(VectorWork{.op = VectorOp::kSoftmax, .rows = 8, .cols = 32}), {a},
               {.elements = 256, .output = true});
  EXPECT_EQ(fuse(std::move(builder).build()).size(), 2U);
}

// Names are unique in random graphs, so the group of an operator is found again by its first member's name.
void expect_same_on_paper(const OpGraph& graph, const OpGraph& fused, std::uint64_t seed) {
  const auto status = validate(fused);
  ASSERT_TRUE(status) << "seed " << seed << ": " << to_string(status.error());
  const GraphTotals before = totals(graph);
  const GraphTotals after = totals(fused);
  EXPECT_EQ(after.gemm_flops, before.gemm_flops) << "seed " << seed;
  EXPECT_EQ(after.vector_elements, before.vector_elements) << "seed " << seed;
  EXPECT_EQ(after.collective_bytes, before.collective_bytes);
  EXPECT_LE(after.read + after.written, before.read + before.written) << "seed " << seed;
  const auto parameters = [](const OpGraph& g) {
    std::int64_t sum = 0;
    for (const Tensor& t : g.tensors()) sum += t.role == TensorRole::kParameter ? t.elements : 0;
    return sum;
  };
  EXPECT_EQ(parameters(fused), parameters(graph)) << "seed " << seed;

  std::map<std::string_view, std::size_t> original;
  for (std::size_t i = 0; i < graph.size(); ++i) original[graph.name(OpId(i))] = i;
  const auto whole = reachability(graph);
  const auto part = reachability(fused);
  // Operators that did not fuse and did not take others in must see exactly what they saw.
  for (std::size_t i = 0; i < fused.size(); ++i)
    for (std::size_t j = 0; j < fused.size(); ++j) {
      if (i == j || !fused.fused(OpId(i)).empty() || !fused.fused(OpId(j)).empty()) continue;
      EXPECT_EQ(part[i][j], whole[original[fused.name(OpId(i))]][original[fused.name(OpId(j))]]) << "seed " << seed;
    }
}

TEST(Fusion, changes_neither_work_nor_parameters_nor_reachability_of_random_graphs) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const OpGraph graph = random_layer(seed, 20);
    expect_same_on_paper(graph, fuse(graph), seed);
    const BackwardPass pass = derive_backward(graph);
    const auto status = validate(fuse(pass.graph));
    EXPECT_TRUE(status) << "seed " << seed;
    EXPECT_EQ(totals(fuse(pass.graph)).gemm_flops, totals(pass.graph).gemm_flops);
  }
}

}  // namespace
}  // namespace phaze::workload
