#include "phaze/workload/import/onnx/read_onnx.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "phaze/workload/import/onnx/layers.h"
#include "phaze/workload/import/onnx/testing/onnx_maker.h"
#include "phaze/workload/import/onnx/testing/small_transformer.h"

namespace phaze::workload::onnx {
namespace {

using ::onnx::TensorProto;
using testing::describe;
using testing::linear;
using testing::OnnxMaker;
using testing::small_transformer;

Result<LayerGraph> read(const OnnxMaker& maker, const WorkloadOptions& options = {}) {
  return parse_onnx(maker.bytes(), "m", options);
}

std::string refusal(const OnnxMaker& maker, const WorkloadOptions& options = {}) {
  const auto graph = read(maker, options);
  return graph ? "accepted" : to_string(graph.error());
}

std::int64_t count(const OpGraph& graph, VectorOp op) {
  return std::ranges::count_if(graph.ops(), [&](const Op& o) {
    const auto* vector = std::get_if<VectorWork>(&o.work);
    return vector != nullptr && vector->op == op;
  });
}

std::int64_t products(const OpGraph& graph) {
  return std::ranges::count_if(graph.ops(), [](const Op& o) { return std::holds_alternative<Gemm>(o.work); });
}

// The forward graph of a model so small that it is one layer.
OpGraph forward(const OnnxMaker& maker) {
  const auto graph = read(maker);
  check(static_cast<bool>(graph), graph ? "" : to_string(graph.error()));
  check(graph->layers.size() == 1, "one layer");
  return graph->layers[0].forward;
}

TEST(Onnx, a_matrix_product_with_a_weight_is_one_product_over_all_tokens) {
  const OpGraph graph = forward(linear());
  ASSERT_EQ(graph.size(), 1U);
  EXPECT_EQ(std::get<Gemm>(graph.op(OpId(0)).work), (Gemm{.m = 16, .n = 32, .k = 16}));
}

TEST(Onnx, products_in_all_their_forms) {
  const auto single = [](OnnxMaker& maker) { return std::get<Gemm>(forward(maker).op(OpId(0)).work); };
  {
    OnnxMaker maker;
    maker.input("x", {8, 16});
    maker.weight("w", {32, 16});
    maker.weight("b", {32});
    OnnxMaker::attribute(maker.node("Gemm", {"x", "w", "b"}, {"y"}), "transB", std::int64_t{1});
    maker.output("y");
    EXPECT_EQ(single(maker), (Gemm{.m = 8, .n = 32, .k = 16}));
  }
  {
    OnnxMaker maker;  // a batched weight
    maker.input("x", {4, 8, 16});
    maker.weight("w", {4, 16, 32});
    maker.node("MatMul", {"x", "w"}, {"y"});
    maker.output("y");
    EXPECT_EQ(single(maker), (Gemm{.batch = 4, .m = 8, .n = 32, .k = 16}));
  }
  {
    OnnxMaker maker;  // the weight on the left changes sides
    maker.input("x", {16, 8});
    maker.weight("w", {32, 16});
    maker.node("MatMul", {"w", "x"}, {"y"});
    maker.output("y");
    EXPECT_EQ(single(maker), (Gemm{.m = 8, .n = 32, .k = 16}));
  }
  {
    OnnxMaker maker;
    maker.input("q", {2, 4, 8, 16});
    maker.weight("w", {2, 4, 8, 16});
    OnnxMaker::attribute(maker.node("Einsum", {"q", "w"}, {"y"}), "equation", "bhqd,bhkd->bhqk");
    maker.output("y");
    EXPECT_EQ(single(maker), (Gemm{.batch = 8, .m = 8, .n = 8, .k = 16}));
  }
  {
    OnnxMaker maker;  // patches that do not overlap
    maker.input("x", {2, 3, 32, 32});
    maker.weight("w", {64, 3, 16, 16});
    OnnxMaker::attribute(maker.node("Conv", {"x", "w"}, {"y"}), "strides", {16, 16});
    maker.output("y");
    EXPECT_EQ(single(maker), (Gemm{.m = 8, .n = 64, .k = 768}));
  }
}

TEST(Onnx, overlapping_patches_are_laid_out_first) {
  OnnxMaker maker;
  maker.input("x", {1, 4, 10});
  maker.weight("w", {8, 4, 3});
  OnnxMaker::attribute(maker.node("Conv", {"x", "w"}, {"y"}), "pads", {1, 1});
  maker.output("y");
  const OpGraph graph = forward(maker);
  ASSERT_EQ(graph.size(), 2U);
  EXPECT_EQ(std::get<Gemm>(graph.op(OpId(1)).work), (Gemm{.m = 10, .n = 8, .k = 12}));
}

TEST(Onnx, shapes_computed_by_operators_are_folded) {
  OnnxMaker maker;
  maker.input("x", {2, 8, 16});
  maker.weight("w", {16, 32});
  maker.node("MatMul", {"x", "w"}, {"y"});
  maker.node("Shape", {"y"}, {"s"});
  maker.integers("zero", {0});
  maker.integers("rest", {-1});
  maker.node("Gather", {"s", "zero"}, {"b"});
  maker.node("Concat", {"b", "rest"}, {"target"});
  maker.node("Reshape", {"y", "target"}, {"z"});
  maker.weight("v", {256, 4});
  maker.node("MatMul", {"z", "v"}, {"out"});
  maker.output("out");
  const OpGraph graph = forward(maker);
  EXPECT_EQ(graph.size(), 3U) << "two products and a view: shape arithmetic is gone";
  EXPECT_EQ(std::get<Gemm>(graph.op(OpId(2)).work), (Gemm{.m = 2, .n = 4, .k = 256}));
}

TEST(Onnx, open_dimensions_are_bound_to_the_options) {
  OnnxMaker maker;
  maker.input("ids", {-1, -1}, TensorProto::INT64);
  auto* shape = maker.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch_size");
  shape->mutable_dim(1)->set_dim_param("sequence_length");
  maker.weight("table", {100, 16});
  maker.node("Gather", {"table", "ids"}, {"x"});
  maker.weight("w", {16, 32});
  maker.node("MatMul", {"x", "w"}, {"y"});
  maker.output("y");
  const auto graph = read(maker, {.sequence = 128, .microbatch = 4});
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->sequence, 128);
  EXPECT_EQ(graph->microbatch, 4);
  EXPECT_EQ(model_flops(*graph).forward.value(), 2 * 4 * 128 * 16 * 32);
  EXPECT_EQ(graph->warnings.size(), 2U);
}

// x·½·(1 + erf(x/√2)), as PyTorch's older exporter writes it.
void add_gelu(OnnxMaker& maker, const std::string& x, const std::string& y) {
  maker.node("Div", {x, "sqrt2"}, {y + "1"});
  maker.node("Erf", {y + "1"}, {y + "2"});
  maker.node("Add", {y + "2", "one"}, {y + "3"});
  maker.node("Mul", {x, y + "3"}, {y + "4"});
  maker.node("Mul", {y + "4", "half"}, {y});
}

void add_numbers(OnnxMaker& maker) {
  maker.number("sqrt2", 1.41421356F);
  maker.number("one", 1);
  maker.number("half", 0.5F);
  maker.number("two", 2);
  maker.number("eps", 1e-5F);
}

// Mean, centre, square, mean, add, root, divide, scale, shift: layer norm before operator set 17.
void add_layer_norm(OnnxMaker& maker, const std::string& x, const std::string& y, const std::string& weight) {
  OnnxMaker::attribute(maker.node("ReduceMean", {x}, {y + "1"}), "axes", {-1});
  maker.node("Sub", {x, y + "1"}, {y + "2"});
  maker.node("Pow", {y + "2", "two"}, {y + "3"});
  OnnxMaker::attribute(maker.node("ReduceMean", {y + "3"}, {y + "4"}), "axes", {-1});
  maker.node("Add", {y + "4", "eps"}, {y + "5"});
  maker.node("Sqrt", {y + "5"}, {y + "6"});
  maker.node("Div", {y + "2", y + "6"}, {y + "7"});
  maker.weight(weight + ".weight", {16});
  maker.weight(weight + ".bias", {16});
  maker.node("Mul", {y + "7", weight + ".weight"}, {y + "8"});
  maker.node("Add", {y + "8", weight + ".bias"}, {y});
}

TEST(Onnx, spelled_out_norms_and_activations_are_recognised) {
  OnnxMaker maker;
  add_numbers(maker);
  maker.input("x", {2, 8, 16});
  add_layer_norm(maker, "x", "n", "norm");
  maker.weight("w", {16, 16});
  maker.weight("b", {16});
  maker.node("MatMul", {"n", "w"}, {"m"});
  maker.node("Add", {"b", "m"}, {"biased"});
  add_gelu(maker, "biased", "g");
  maker.node("Sigmoid", {"g"}, {"s"});
  maker.node("Mul", {"g", "s"}, {"silu"});
  maker.node("Mul", {"silu", "silu"}, {"squared"});
  OnnxMaker::attribute(maker.node("ReduceMean", {"squared"}, {"mean"}), "axes", {-1});
  maker.node("Add", {"mean", "eps"}, {"shifted"});
  maker.node("Sqrt", {"shifted"}, {"root"});
  maker.node("Reciprocal", {"root"}, {"inverse"});
  maker.node("Mul", {"silu", "inverse"}, {"normed"});
  maker.weight("scale", {16});
  maker.node("Mul", {"scale", "normed"}, {"out"});
  maker.output("out");
  const OpGraph graph = forward(maker);
  EXPECT_EQ(graph.size(), 5U);
  for (const VectorOp op : {VectorOp::kLayerNorm, VectorOp::kGelu, VectorOp::kSilu, VectorOp::kRmsNorm})
    EXPECT_EQ(count(graph, op), 1) << to_string(op);
  EXPECT_EQ(graph.inputs(OpId(1)).size(), 3U) << "the bias belongs to the product";
}

TEST(Onnx, a_pattern_whose_middle_is_used_elsewhere_is_left_alone) {
  OnnxMaker maker;
  add_numbers(maker);
  maker.input("x", {2, 8, 16});
  maker.weight("w", {16, 16});
  maker.node("MatMul", {"x", "w"}, {"m"});
  add_gelu(maker, "m", "g");
  maker.node("Add", {"g", "g2"}, {"out"});
  maker.output("out");
  const OpGraph graph = forward(maker);
  EXPECT_EQ(count(graph, VectorOp::kGelu), 0);
  EXPECT_EQ(count(graph, VectorOp::kErf), 1);
}

TEST(Onnx, rotary_positions_are_recognised) {
  OnnxMaker maker;
  maker.input("x", {1, 4, 8, 16});
  maker.input("cos", {1, 1, 8, 16});
  maker.input("sin", {1, 1, 8, 16});
  maker.weight("w", {16, 16});
  maker.node("MatMul", {"x", "w"}, {"q"});
  for (const auto& [name, value] :
       std::vector<std::pair<std::string, std::int64_t>>{{"i0", 0}, {"i8", 8}, {"i16", 16}, {"axis", 3}})
    maker.integers(name, {value});
  maker.node("Slice", {"q", "i0", "i8", "axis"}, {"first"});
  maker.node("Slice", {"q", "i8", "i16", "axis"}, {"second"});
  maker.node("Neg", {"second"}, {"negated"});
  OnnxMaker::attribute(maker.node("Concat", {"negated", "first"}, {"turned"}), "axis", std::int64_t{-1});
  maker.node("Mul", {"q", "cos"}, {"a"});
  maker.node("Mul", {"turned", "sin"}, {"b"});
  maker.node("Add", {"a", "b"}, {"out"});
  maker.output("out");
  const OpGraph graph = forward(maker);
  EXPECT_EQ(graph.size(), 2U);
  EXPECT_EQ(count(graph, VectorOp::kRotary), 1);
}

TEST(Onnx, unknown_operators_are_counted_and_costed_by_their_bytes) {
  OnnxMaker maker;
  maker.input("x", {2, 8, 16});
  maker.weight("w", {16, 16});
  maker.node("MatMul", {"x", "w"}, {"m"});
  maker.node("FancyThing", {"m"}, {"a"}).set_domain("com.example");
  maker.node("FancyThing", {"a"}, {"b"}).set_domain("com.example");
  maker.output("b");
  for (const char* name : {"a", "b"}) {
    auto& info = *maker.model.mutable_graph()->add_value_info();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::BFLOAT16);
    for (const std::int64_t dim : {2, 8, 16})
      info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
  }
  const auto graph = read(maker);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->warnings,
            std::vector<std::string>{
                "operators that are not known are costed by the bytes they move: com.example.FancyThing (2)"});
  EXPECT_EQ(count(graph->layers[0].forward, VectorOp::kOther), 2);
  EXPECT_EQ(graph->layers[0].forward.read_bytes(OpId(1)).value(), 512);
}

TEST(Onnx, local_functions_are_inlined) {
  OnnxMaker maker;
  auto& function = *maker.model.add_functions();
  function.set_name("Twice");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("c");
  for (const auto& [in, out] : std::vector<std::pair<std::string, std::string>>{{"a", "b"}, {"b", "c"}}) {
    auto& node = *function.add_node();
    node.set_op_type("Relu");
    node.add_input(in);
    node.add_output(out);
  }
  maker.input("x", {2, 8, 16});
  maker.weight("w", {16, 16});
  maker.node("MatMul", {"x", "w"}, {"m"});
  maker.node("Twice", {"m"}, {"y"}).set_domain("local");
  maker.output("y");
  EXPECT_EQ(count(forward(maker), VectorOp::kRelu), 2);
}

// A weight [16, 16] under the name "w" that was made in some other way, used in one product.
std::int64_t parameters_with(const std::function<void(OnnxMaker&)>& making) {
  OnnxMaker maker;
  maker.input("x", {2, 8, 16});
  making(maker);
  maker.node("MatMul", {"x", "w"}, {"y"});
  maker.output("y");
  const auto graph = read(maker);
  check(static_cast<bool>(graph), graph ? "" : to_string(graph.error()));
  EXPECT_EQ(model_flops(*graph).backward.value(), 2 * 16 * 16 * 16) << "the weight has a gradient, the input has none";
  return graph->parameters;
}

TEST(Onnx, a_weight_stays_trained_whatever_it_passes_through) {
  EXPECT_EQ(parameters_with([](OnnxMaker& m) {
              m.weight("both", {32, 16});
              m.node("Split", {"both"}, {"w", "other"});
            }),
            512);
  EXPECT_EQ(parameters_with([](OnnxMaker& m) {
              m.weight("long", {64, 16});
              m.integers("zero", {0});
              m.integers("sixteen", {16});
              m.node("Slice", {"long", "zero", "sixteen"}, {"w"});
            }),
            1024);
  EXPECT_EQ(parameters_with([](OnnxMaker& m) {
              m.weight("raw", {16, 16});
              m.number("half", 0.5F);
              m.node("Mul", {"raw", "half"}, {"w"});
            }),
            256);
  EXPECT_EQ(parameters_with([](OnnxMaker& m) {
              m.weight("top", {8, 16});
              m.weight("bottom", {8, 16});
              OnnxMaker::attribute(m.node("Concat", {"top", "bottom"}, {"w"}), "axis", std::int64_t{0});
            }),
            256);
  EXPECT_EQ(parameters_with([](OnnxMaker& m) {
              auto& tensor = *m.node("Constant", {}, {"w"}).add_attribute();
              tensor.set_name("value");
              tensor.mutable_t()->add_dims(16);
              tensor.mutable_t()->add_dims(16);
              tensor.mutable_t()->set_data_type(TensorProto::FLOAT);
            }),
            256)
      << "exporters may write weights as constants";
}

TEST(Onnx, tables_beside_the_weights_are_not_trained) {
  OnnxMaker maker = linear();
  maker.weight("layer.rotary.cos_cached", {8, 16});
  maker.weight("attn.causal_mask", {8, 32});
  maker.node("Add", {"y", "attn.causal_mask"}, {"z"});
  EXPECT_EQ(read(maker)->parameters, 16 * 32);
}

TEST(Onnx, the_body_of_an_if_keeps_what_it_captures) {
  OnnxMaker maker = linear();
  maker.integers("condition", {1});
  maker.weight("inner", {32, 32});
  auto& node = maker.node("If", {"condition"}, {"z"});
  auto& branch = *node.add_attribute();
  branch.set_name("then_branch");
  branch.set_type(::onnx::AttributeProto::GRAPH);
  auto& body = *branch.mutable_g()->add_node();
  body.set_op_type("MatMul");
  body.add_input("y");
  body.add_input("inner");
  body.add_output("result");
  describe(maker, "z", {2, 8, 32});
  maker.weight("w2", {32, 4});
  maker.node("MatMul", {"z", "w2"}, {"out"});
  const auto graph = read(maker);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->parameters, 16 * 32 + 32 * 32 + 32 * 4);
  EXPECT_EQ(products(graph->layers[0].forward), 2) << "before and behind";
  EXPECT_EQ(graph->warnings.size(), 1U) << "the If itself is costed by its bytes, and said to be";
}

TEST(Onnx, operators_of_other_domains_are_not_taken_for_the_standards) {
  OnnxMaker maker = linear();
  maker.node("Softmax", {"y"}, {"z"}).set_domain("com.example");
  describe(maker, "z", {2, 8, 32});
  const auto graph = read(maker);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(count(graph->layers[0].forward, VectorOp::kSoftmax), 0);
  EXPECT_EQ(count(graph->layers[0].forward, VectorOp::kOther), 1);
}

// The names that PyTorch's older exporter writes: module paths on nodes, numbers on folded weights.
TEST(Onnx, the_head_is_found_by_the_paths_of_its_nodes) {
  OnnxMaker maker = small_transformer(4, "model.layers");
  auto& nodes = *maker.model.mutable_graph()->mutable_node();
  for (int i = 0; i < nodes.size(); ++i) {
    const bool inside = i > 0 && i < nodes.size() - 2;
    nodes[i].set_name(inside   ? "/model/layers." + std::to_string((i - 1) / 22) + "/n" + std::to_string(i)
                      : i == 0 ? "/model/embed/Gather"
                               : "/lm_head/n" + std::to_string(i));
  }
  int serial = 0;
  for (auto& tensor : *maker.model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_type() == TensorProto::INT64) continue;
    const std::string fresh = "onnx::MatMul_" + std::to_string(++serial);
    for (auto& node : nodes)
      for (auto& input : *node.mutable_input())
        if (input == tensor.name()) input = fresh;
    tensor.set_name(fresh);
  }
  const auto graph = read(maker);
  ASSERT_TRUE(graph) << to_string(graph.error());
  ASSERT_EQ(graph->layers.size(), 3U);
  EXPECT_EQ(graph->repeat(LayerId(1)), 4);
  EXPECT_EQ(graph->layers[2].name, "head");
}

TEST(Onnx, one_layer_alone_is_found_by_its_name) {
  const auto graph = read(small_transformer(1, "model.layers"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  ASSERT_EQ(graph->layers.size(), 3U);
  EXPECT_EQ(graph->layers[1].name, "model.layers");
}

TEST(Onnx, dropout_of_the_probabilities_reaches_the_fused_attention) {
  OnnxMaker maker = small_transformer(2, "model.layers");
  maker.integers("training", {1});
  for (auto& node : *maker.model.mutable_graph()->mutable_node()) {
    if (node.op_type() != "Softmax") continue;
    const std::string probabilities = node.output(0);
    node.set_output(0, probabilities + "_whole");
  }
  for (const std::string layer : {"0", "1"})
    maker.node("Dropout", {"p_" + layer + "_whole", "", "training"}, {"p_" + layer});
  const auto eager = read(maker);
  const auto flash = read(maker, {.attention = AttentionKind::kFlash});
  ASSERT_TRUE(eager) << to_string(eager.error());
  ASSERT_TRUE(flash) << to_string(flash.error());
  EXPECT_EQ(count(eager->layers[1].forward, VectorOp::kDropout), 1);
  const auto dropping = std::ranges::count_if(flash->layers[1].forward.ops(), [](const Op& op) {
    const auto* attention = std::get_if<Attention>(&op.work);
    return attention != nullptr && attention->dropout;
  });
  EXPECT_EQ(dropping, 1);
}

TEST(Onnx, probabilities_that_the_model_returns_are_not_fused_away) {
  OnnxMaker maker = small_transformer(2, "model.layers");
  maker.output("p_0");
  const auto graph = read(maker, {.attention = AttentionKind::kFlash});
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(count(graph->layers[1].forward, VectorOp::kSoftmax), 1);
}

TEST(Onnx, layers_are_found_by_name_and_equal_ones_shared) {
  const auto graph = read(small_transformer(6, "model.layers"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  ASSERT_EQ(graph->layers.size(), 3U);
  EXPECT_EQ(graph->layers[1].name, "model.layers");
  EXPECT_EQ(graph->repeat(LayerId(1)), 6);
  EXPECT_EQ(products(graph->layers[1].forward), 8);
  EXPECT_EQ(graph->layers[2].name, "head");
  EXPECT_EQ(graph->edges.size(), 7U);
  for (const LayerEdge& edge : graph->edges) EXPECT_EQ(edge.bytes.value(), 8 * 16 * 2);
}

TEST(Onnx, without_names_layers_are_found_by_their_repetition) {
  const auto named = read(small_transformer(6, "model.layers"));
  const auto graph = read(small_transformer(6, ""));
  ASSERT_TRUE(graph) << to_string(graph.error());
  const auto stack = std::ranges::max_element(graph->layers, {}, [&](const Layer& l) {
    return graph->repeat(LayerId(static_cast<std::size_t>(&l - graph->layers.data())));
  });
  const LayerId id(static_cast<std::size_t>(stack - graph->layers.begin()));
  EXPECT_EQ(graph->repeat(id), 6);
  EXPECT_EQ(products(stack->forward), 8);
  EXPECT_EQ(stack->parameters, named->layers[1].parameters);
  EXPECT_EQ(model_flops(*graph).backward, model_flops(*named).backward);
}

TEST(Onnx, tensor_parallelism_is_found_where_the_pattern_is) {
  const OnnxMaker maker = small_transformer(3, "model.layers");
  const auto one = read(maker);
  for (const bool sequence : {false, true}) {
    const auto two = read(maker, {.parallel = {2, sequence}});
    ASSERT_TRUE(two) << to_string(two.error());
    EXPECT_EQ(model_flops(*two).forward, model_flops(*one).forward);
    EXPECT_EQ(two->layers[1].parameters, (one->layers[1].parameters - 64) / 2 + 64) << "norms stay whole";
    const auto reductions = std::ranges::count_if(two->layers[1].forward.ops(), [](const Op& op) {
      const auto* c = std::get_if<Collective>(&op.work);
      return c != nullptr && c->kind != CollectiveKind::kNone;
    });
    EXPECT_EQ(reductions, sequence ? 4 : 2);
  }
  EXPECT_EQ(refusal(linear(), {.parallel = {2, false}}),
            "--tensor-parallel: no product can be split by columns and closed by rows (the column-row pattern of "
            "tensor parallelism is "
            "not in this graph; use width 1)");
}

TEST(Onnx, flash_attention_replaces_the_written_out_core) {
  const auto eager = read(small_transformer(3, "model.layers"));
  const auto flash = read(small_transformer(3, "model.layers"), {.attention = AttentionKind::kFlash});
  ASSERT_TRUE(flash) << to_string(flash.error());
  EXPECT_EQ(model_flops(*flash).forward, model_flops(*eager).forward);
  EXPECT_LT(flash->layers[1].saved.none, eager->layers[1].saved.none);
  const auto fused = std::ranges::count_if(flash->layers[1].forward.ops(),
                                           [](const Op& op) { return std::holds_alternative<Attention>(op.work); });
  EXPECT_EQ(fused, 1);
}

TEST(Onnx, weights_inside_the_file_are_skipped) {
  OnnxMaker maker = linear();
  auto& weight = *maker.model.mutable_graph()->mutable_initializer(0);
  weight.set_dims(1, 1 << 20);
  weight.set_raw_data(std::string((std::size_t{1} << 20) * 16 * 2, 'w'));
  const auto graph = read(maker);
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->parameters, 16 << 20);
}

TEST(Layers, the_first_number_in_a_path_counts_the_layers) {
  EXPECT_EQ(layer_prefix("model.layers.3.mlp.weight"), "model.layers.3");
  EXPECT_EQ(layer_prefix("/model/layers.3/mlp/MatMul"), "model.layers.3");
  EXPECT_EQ(layer_prefix("encoder.block.0.layer.1.wi.weight"), "encoder.block.0");
  EXPECT_EQ(layer_prefix("lm_head.weight"), "");
  EXPECT_EQ(layer_prefix("12.weight"), "") << "a number alone names no stack";
  EXPECT_EQ(layer_prefix("onnx::MatMul_123"), "");
}

TEST(Layers, the_longest_repetition_wins_and_the_shortest_period_among_equals) {
  const auto find = [](std::vector<std::uint64_t> sequence) {
    const Repetition r = longest_repetition(sequence);
    return std::array{r.start, r.period, r.count};
  };
  EXPECT_EQ(find({9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8}), (std::array<std::size_t, 3>{1, 3, 3}));
  EXPECT_EQ(find({1, 1, 1, 1}), (std::array<std::size_t, 3>{0, 1, 4}));
  EXPECT_EQ(find({1, 2, 3, 4}), (std::array<std::size_t, 3>{0, 0, 0}));
  EXPECT_EQ(find({}), (std::array<std::size_t, 3>{0, 0, 0}));
}

}  // namespace
}  // namespace phaze::workload::onnx
