#include "phaze/workload/backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "phaze/workload/testing/random_graph.h"

namespace phaze::workload {
namespace {

using testing::random_layer;

std::vector<std::string> names(const OpGraph& graph) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < graph.size(); ++i) list.emplace_back(graph.name(OpId(i)));
  return list;
}

struct Linear {
  OpGraphBuilder builder;
  TensorId x = builder.tensor({.elements = 8 * 16, .role = TensorRole::kInput});
  TensorId w = builder.tensor({.elements = 16 * 32, .role = TensorRole::kParameter});
  TensorId b = builder.tensor({.elements = 32, .role = TensorRole::kParameter});
  TensorId y = builder.emit("fc", Work(Gemm{.m = 8, .n = 32, .k = 16}), {x, w, b}, {.elements = 8 * 32});
};

TEST(Backward, a_product_gives_independent_products_for_input_and_weight) {
  Linear linear;
  linear.builder.edit(linear.y).output = true;
  const BackwardPass pass = derive_backward(std::move(linear.builder).build());
  ASSERT_TRUE(validate(pass.graph));
  ASSERT_EQ(names(pass.graph), (std::vector<std::string>{"fc.dx", "fc.dw", "fc.db"}));
  EXPECT_EQ(std::get<Gemm>(pass.graph.op(OpId(0)).work), (Gemm{.m = 8, .n = 16, .k = 32}));
  EXPECT_EQ(std::get<Gemm>(pass.graph.op(OpId(1)).work), (Gemm{.m = 16, .n = 32, .k = 8}));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_TRUE(pass.graph.predecessors(OpId(i)).empty()) << "all three only need dY";
  EXPECT_EQ(pass.saved, std::vector<TensorId>{linear.x})
      << "the weight's gradient reads the input; nothing else is kept";
}

TEST(Backward, a_tensor_with_two_readers_has_its_gradients_added) {
  Linear linear;
  const Work gelu = VectorWork{.op = VectorOp::kGelu, .rows = 8, .cols = 32};
  const TensorId a = linear.builder.emit("a", gelu, {linear.y}, {.elements = 256});
  const TensorId sum = linear.builder.emit("sum", Work(VectorWork{.op = VectorOp::kAdd, .rows = 8, .cols = 32}),
                                           {a, linear.y}, {.elements = 256});
  linear.builder.edit(sum).output = true;
  const BackwardPass pass = derive_backward(std::move(linear.builder).build());
  const auto list = names(pass.graph);
  EXPECT_EQ(std::ranges::count(list, "a.accumulate"), 1) << "the residual and the gelu both reach y";
  EXPECT_TRUE(validate(pass.graph));
}

TEST(Backward, what_is_not_reached_by_a_gradient_costs_nothing) {
  OpGraphBuilder builder;
  const TensorId ids = builder.tensor({.elements = 8, .type = ElementType::kI64, .role = TensorRole::kConstant});
  const TensorId mask = builder.emit(
      "mask", Op{.work = VectorWork{.op = VectorOp::kCompare, .rows = 1, .cols = 8}, .type = ElementType::kBool}, {ids},
      {.elements = 8, .type = ElementType::kBool});
  const TensorId table = builder.tensor({.elements = 100 * 4, .role = TensorRole::kParameter});
  const TensorId x = builder.emit("embed", Work(VectorWork{.op = VectorOp::kEmbedding, .rows = 8, .cols = 4}),
                                  {table, ids}, {.elements = 32});
  builder.edit(x).output = true;
  static_cast<void>(mask);
  const BackwardPass pass = derive_backward(std::move(builder).build());
  EXPECT_EQ(names(pass.graph), std::vector<std::string>{"embed.dx"});
  EXPECT_TRUE(pass.saved.empty()) << "token ids are the batch itself";
}

TEST(Backward, softmax_and_dropout_keep_output_and_mask) {
  OpGraphBuilder builder;
  const TensorId x = builder.tensor({.elements = 64, .role = TensorRole::kInput});
  const TensorId p =
      builder.emit("softmax", Work(VectorWork{.op = VectorOp::kSoftmax, .rows = 8, .cols = 8}), {x}, {.elements = 64});
  const std::array dropped = {builder.tensor({.elements = 64, .output = true}),
                              builder.tensor({.elements = 64, .type = ElementType::kBool})};
  builder.op("dropout", Op{.work = VectorWork{.op = VectorOp::kDropout, .rows = 8, .cols = 8}}, std::array{p}, dropped);
  const OpGraph forward = std::move(builder).build();
  const BackwardPass pass = derive_backward(forward);
  EXPECT_EQ(pass.saved, (std::vector<TensorId>{p, dropped[1]}));
  EXPECT_EQ(saved_bytes(forward, pass, forward).none, Bytes(64 * 2 + 64));
}

TEST(Backward, sharing_storage_is_kept_once) {
  OpGraphBuilder builder;
  const TensorId x = builder.tensor({.elements = 8 * 16, .role = TensorRole::kInput});
  const TensorId seen = builder.emit("view", Work(View{}), {x}, {.elements = 8 * 16});
  std::vector<TensorId> parts;
  for (const char* name : {"q", "k"}) {
    const TensorId w = builder.tensor({.elements = 16 * 16, .role = TensorRole::kParameter});
    parts.push_back(
        builder.emit(name, Work(Gemm{.m = 8, .n = 16, .k = 16}), {name[0] == 'q' ? x : seen, w}, {.elements = 128}));
  }
  const TensorId sum = builder.emit("sum", Work(VectorWork{.op = VectorOp::kAdd, .rows = 8, .cols = 16}),
                                    {parts[0], parts[1]}, {.elements = 128});
  builder.edit(sum).output = true;
  const BackwardPass pass = derive_backward(std::move(builder).build());
  EXPECT_EQ(pass.saved, std::vector<TensorId>{x});
}

// What every derived backward pass promises, whatever the forward graph.
TEST(Backward, random_graphs_have_consistent_gradients) {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const OpGraph forward = random_layer(seed);
    const BackwardPass pass = derive_backward(forward);
    const auto status = validate(pass.graph);
    ASSERT_TRUE(status) << "seed " << seed << ": " << to_string(status.error());

    // Operators that the output depends on; only these have gradients.
    std::vector<bool> live(forward.size());
    std::vector<bool> reads(forward.tensor_count());
    for (std::size_t i = forward.size(); i-- > 0;) {
      for (const TensorId out : forward.outputs(OpId(i)))
        live[i] = live[i] || forward.tensor(out).output || reads[out.index()];
      if (!live[i]) continue;
      for (const TensorId in : forward.inputs(OpId(i))) reads[in.index()] = true;
    }
    std::map<TensorId, int> gradients;
    for (const Tensor& tensor : pass.graph.tensors())
      if (tensor.output) ++gradients[tensor.forward];
    Flops expected;
    for (std::size_t i = 0; i < forward.size(); ++i) {
      if (!live[i]) continue;
      // Every operand of every product carries a gradient here, so the backward pass does exactly twice the work.
      expected += matrix_flops(forward.op(OpId(i)).work) * 2;
      for (const TensorId in : forward.inputs(OpId(i)))
        if (forward.tensor(in).role == TensorRole::kParameter) {
          EXPECT_EQ(gradients[in], 1) << "seed " << seed << ", parameter " << in.index();
        }
    }
    EXPECT_EQ(totals(pass.graph).gemm_flops, expected) << "seed " << seed;
    for (const TensorId id : pass.saved) {
      const TensorRole role = forward.tensor(id).role;
      EXPECT_TRUE(role == TensorRole::kActivation || role == TensorRole::kInput) << "seed " << seed;
    }
    const SavedBytes saved = saved_bytes(forward, pass, forward);
    EXPECT_LE(saved.selective, saved.none);
  }
}

TEST(Recompute, none_runs_nothing_again_full_everything) {
  const OpGraph forward = random_layer(7);
  EXPECT_TRUE(recomputed(forward, Recompute::kNone).empty());
  EXPECT_TRUE(recomputed(forward, Recompute::kFull).same_structure(forward));
  EXPECT_TRUE(recomputed(forward, Recompute::kSelective).empty()) << "a random graph has no attention core";
}

}  // namespace
}  // namespace phaze::workload
