#include "phaze/workload/op_graph.h"

#include <gtest/gtest.h>

#include <array>

#include "phaze/workload/graphviz.h"
#include "phaze/workload/testing/random_graph.h"

namespace phaze::workload {
namespace {

using testing::random_layer;

std::string refusal(OpGraphBuilder builder) {
  const auto status = validate(std::move(builder).build());
  return status ? "" : to_string(status.error());
}

TensorId input(OpGraphBuilder& builder, std::int64_t elements) {
  return builder.tensor({.elements = elements, .role = TensorRole::kInput});
}

TEST(OpGraph, predecessors_and_successors_follow_the_tensors) {
  OpGraphBuilder builder;
  const TensorId x = input(builder, 8);
  const TensorId a =
      builder.emit("a", Work(VectorWork{.op = VectorOp::kGelu, .rows = 2, .cols = 4}), {x}, {.elements = 8});
  const TensorId b =
      builder.emit("b", Work(VectorWork{.op = VectorOp::kAdd, .rows = 2, .cols = 4}), {a, a}, {.elements = 8});
  builder.emit("c", Work(VectorWork{.op = VectorOp::kAdd, .rows = 2, .cols = 4}), {a, b}, {.elements = 8});
  const OpGraph graph = std::move(builder).build();
  ASSERT_TRUE(validate(graph));
  EXPECT_EQ(graph.predecessors(OpId(2)).size(), 2U);
  EXPECT_EQ(graph.successors(OpId(0)).size(), 2U);
  EXPECT_EQ(graph.predecessors(OpId(1)).size(), 1U) << "an operand read twice is one predecessor";
  EXPECT_EQ(graph.name(OpId(1)), "b");
  EXPECT_EQ(graph.read_bytes(OpId(1)).value(), 32);
  EXPECT_EQ(graph.written_bytes(OpId(1)).value(), 16);
}

TEST(OpGraph, random_graphs_are_valid_and_equal_to_their_copies) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const OpGraph graph = random_layer(seed);
    const auto status = validate(graph);
    ASSERT_TRUE(status) << "seed " << seed << ": " << to_string(status.error());
    const OpGraph copy = graph;
    EXPECT_TRUE(graph.same_structure(copy));
    EXPECT_EQ(graph.structure_hash(), copy.structure_hash());
  }
}

TEST(OpGraph, hash_and_equality_see_every_size) {
  const auto make = [](std::int64_t n, ElementType type) {
    OpGraphBuilder builder;
    const TensorId x = builder.tensor({.elements = 64, .type = type, .role = TensorRole::kInput});
    const TensorId w = builder.tensor({.elements = 8 * n, .type = type, .role = TensorRole::kParameter});
    builder.emit("y", Op{.work = Gemm{.m = 8, .n = n, .k = 8}, .type = type}, {x, w},
                 {.elements = 8 * n, .type = type});
    return std::move(builder).build();
  };
  const OpGraph base = make(4, ElementType::kBf16);
  EXPECT_TRUE(base.same_structure(make(4, ElementType::kBf16)));
  EXPECT_FALSE(base.same_structure(make(5, ElementType::kBf16)));
  EXPECT_NE(base.structure_hash(), make(5, ElementType::kBf16).structure_hash());
  EXPECT_NE(base.structure_hash(), make(4, ElementType::kF32).structure_hash());
}

TEST(OpGraph, a_cycle_is_refused_by_name) {
  OpGraphBuilder builder;
  const TensorId a = builder.tensor({.elements = 4});
  const TensorId b = builder.tensor({.elements = 4});
  const Op copy{.work = VectorWork{.op = VectorOp::kCopy, .rows = 1, .cols = 4}};
  builder.op("forth", copy, std::array{b}, std::array{a});
  builder.op("back", copy, std::array{a}, std::array{b});
  EXPECT_EQ(refusal(std::move(builder)), "operator 0 'forth': lies on a cycle");
}

TEST(OpGraph, wrong_order_is_refused) {
  OpGraphBuilder builder;
  const TensorId x = input(builder, 4);
  const TensorId a = builder.tensor({.elements = 4});
  const TensorId b = builder.tensor({.elements = 4});
  const Op copy{.work = VectorWork{.op = VectorOp::kCopy, .rows = 1, .cols = 4}};
  builder.op("second", copy, std::array{a}, std::array{b});
  builder.op("first", copy, std::array{x}, std::array{a});
  EXPECT_EQ(refusal(std::move(builder)), "operator 0 'second': reads tensor 1, which operator 1 makes only later");
}

TEST(OpGraph, inconsistent_sizes_are_refused) {
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(Gemm{.m = 2, .n = 3, .k = 4}), {input(builder, 9), input(builder, 12)}, {.elements = 6});
    EXPECT_EQ(refusal(std::move(builder)), "operator 0 'y': reads a left operand of 9 elements where 8 are needed");
  }
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(Gemm{.m = 2, .n = 3, .k = 4}), {input(builder, 8), input(builder, 12)}, {.elements = 7});
    EXPECT_EQ(refusal(std::move(builder)), "operator 0 'y': makes a result of other than 6 elements");
  }
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(Gemm{.m = 0, .n = 3, .k = 4}), {input(builder, 0), input(builder, 12)}, {.elements = 0});
    EXPECT_EQ(refusal(std::move(builder)), "operator 0 'y': has a dimension of 0; all must be positive");
  }
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(VectorWork{.op = VectorOp::kGelu, .rows = 2, .cols = 3}), {input(builder, 6)},
                 {.elements = 5});
    EXPECT_EQ(refusal(std::move(builder)), "operator 0 'y': works on 6 elements but makes 5");
  }
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(View{}), {input(builder, -1)}, {.elements = 0});
    EXPECT_EQ(refusal(std::move(builder)), "tensor 0: has a tensor of -1 elements");
  }
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(VectorWork{.op = VectorOp::kCopy, .rows = 1, .cols = std::int64_t{1} << 61}),
                 {input(builder, 1)}, {.elements = std::int64_t{1} << 61});
    EXPECT_EQ(refusal(std::move(builder)), "operator 0 'y': has a tensor of more than 2^62 bytes");
  }
}

TEST(OpGraph, a_tensor_is_made_once_and_by_someone) {
  {
    OpGraphBuilder builder;
    const TensorId x = input(builder, 4);
    const TensorId y = builder.tensor({.elements = 4});
    const Op copy{.work = VectorWork{.op = VectorOp::kCopy, .rows = 1, .cols = 4}};
    builder.op("one", copy, std::array{x}, std::array{y});
    builder.op("two", copy, std::array{x}, std::array{y});
    EXPECT_EQ(refusal(std::move(builder)), "operator 1 'two': makes tensor 1, which operator 0 made already");
  }
  {
    OpGraphBuilder builder;
    builder.emit("y", Work(VectorWork{.op = VectorOp::kCopy, .rows = 1, .cols = 4}), {builder.tensor({.elements = 4})},
                 {.elements = 4});
    EXPECT_EQ(refusal(std::move(builder)), "operator 0 'y': reads tensor 0, which nothing makes");
  }
}

TEST(OpGraph, subgraph_keeps_the_chosen_operators_and_their_order) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const OpGraph graph = random_layer(seed);
    const auto keep = std::make_unique<bool[]>(graph.size());
    std::size_t kept = 0;
    for (std::size_t i = 0; i < graph.size(); ++i)
      kept += static_cast<std::size_t>(keep[i] = (seed >> (i % 8)) % 2 == 0);
    const OpGraph part = subgraph(graph, std::span<const bool>(keep.get(), graph.size()));
    EXPECT_EQ(part.size(), kept);
    EXPECT_TRUE(validate(part)) << "seed " << seed;
  }
}

TEST(OpGraph, saturated_totals_are_refused) {
  OpGraphBuilder builder;
  const std::int64_t big = std::int64_t{1} << 21;
  const TensorId a = input(builder, big * big);
  for (const char* name : {"p", "q"})
    builder.emit(name, Work(Gemm{.m = big, .n = big, .k = big}), {a, a}, {.elements = big * big});
  EXPECT_EQ(refusal(std::move(builder)), "operator 0 'p': needs more than 2^62 operations");
}

TEST(Graphviz, escapes_names_and_draws_every_operator) {
  OpGraphBuilder builder;
  builder.emit("say \"hi\"\\", Work(VectorWork{.op = VectorOp::kGelu, .rows = 1, .cols = 2048}), {input(builder, 2048)},
               {.elements = 2048, .output = true});
  const std::string dot = to_dot(std::move(builder).build(), "a \"title\"");
  EXPECT_NE(dot.find(R"(digraph "a \"title\"" {)"), std::string::npos);
  EXPECT_NE(dot.find(R"(label="say \"hi\"\\\ngelu")"), std::string::npos) << dot;
  EXPECT_NE(dot.find("in0 -> op0 [label=\"4 KiB\"]"), std::string::npos) << dot;
}

}  // namespace
}  // namespace phaze::workload
