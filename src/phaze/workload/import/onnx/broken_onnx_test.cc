// ONNX files that cannot be read, and what is said of them.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "phaze/workload/import/onnx/read_onnx.h"
#include "phaze/workload/import/onnx/testing/onnx_maker.h"
#include "phaze/workload/import/onnx/testing/small_transformer.h"

namespace phaze::workload::onnx {
namespace {

using testing::describe;
using testing::linear;
using testing::OnnxMaker;
using testing::small_transformer;

std::string refusal(const OnnxMaker& maker, const WorkloadOptions& options = {}) {
  const auto graph = parse_onnx(maker.bytes(), "m", options);
  return graph ? "accepted" : to_string(graph.error());
}

struct Broken {
  const char* what;
  OnnxMaker maker;
  std::string message;
};

TEST(Onnx, broken_models_are_refused_by_place) {
  std::vector<Broken> cases;
  const auto add = [&](const char* what, std::string message, const std::function<void(OnnxMaker&)>& breaking) {
    OnnxMaker maker = linear();
    breaking(maker);
    cases.push_back({what, std::move(maker), std::move(message)});
  };
  add("old operator set",
      "opset_import: uses operator set 11; 13 is the oldest supported (export again with opset_version=13 or later)",
      [](OnnxMaker& m) { m.model.mutable_opset_import(0)->set_version(11); });
  add("no operator set", "opset_import: does not say which operator set it uses",
      [](OnnxMaker& m) { m.model.clear_opset_import(); });
  add("no nodes", "has no nodes (it is not an ONNX model, or an empty one)",
      [](OnnxMaker& m) { m.model.mutable_graph()->clear_node(); });
  add("dangling input", "node 'n1' (MatMul): reads 'ghost', which nothing makes",
      [](OnnxMaker& m) { m.model.mutable_graph()->mutable_node(0)->set_input(0, "ghost"); });
  add("made twice", "node 'n2' (Relu): makes 'y', which is made already",
      [](OnnxMaker& m) { m.node("Relu", {"x"}, {"y"}); });
  add("cycle", "node 'n2' (Add): lies on a cycle", [](OnnxMaker& m) {
    m.node("Add", {"y", "b"}, {"a"});
    m.node("Relu", {"a"}, {"b"});
  });
  add("shapes that do not fit",
      "node 'n1' (MatMul): the shape of 'y' is not in the file and does not follow from the node's inputs (run ONNX "
      "shape inference on the file before importing it)",
      [](OnnxMaker& m) { m.model.mutable_graph()->mutable_initializer(0)->set_dims(0, 17); });
  add("negative dimension", "tensor 'w': has a dimension of -5, which is not between 0 and 2^40",
      [](OnnxMaker& m) { m.model.mutable_graph()->mutable_initializer(0)->set_dims(0, -5); });
  add("absurd dimension", "tensor 'w': has a dimension of 4611686018427387904, which is not between 0 and 2^40",
      [](OnnxMaker& m) { m.model.mutable_graph()->mutable_initializer(0)->set_dims(1, std::int64_t{1} << 62); });
  add("product of dimensions overflows", "node 'n1' (MatMul): gives 'y' more than 2^59 elements", [](OnnxMaker& m) {
    auto* shape = m.model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_value(std::int64_t{1} << 40);
    m.model.mutable_graph()->mutable_initializer(0)->set_dims(1, std::int64_t{1} << 20);
  });
  add("zero input", "input 'x': has a dimension of 0, which is not between 1 and 2^40", [](OnnxMaker& m) {
    m.model.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(0)
        ->set_dim_value(0);
  });
  add("no input shape", "input 'x': has no shape (export with the inputs' shapes)",
      [](OnnxMaker& m) { m.model.mutable_graph()->mutable_input(0)->clear_type(); });
  add("unknown weight type", "tensor 'w': has the unknown element type 99",
      [](OnnxMaker& m) { m.model.mutable_graph()->mutable_initializer(0)->set_data_type(99); });
  add("unknown operator without a shape",
      "node 'n2' (Mystery): the shape of 'z' is not in the file and does not follow from the node's inputs (run ONNX "
      "shape inference on the file before importing it)",
      [](OnnxMaker& m) { m.node("Mystery", {"y"}, {"z"}); });
  add("functions without end", "node '' (Loop1): its functions call each other without end", [](OnnxMaker& m) {
    auto& function = *m.model.add_functions();
    function.set_name("Loop1");
    function.set_domain("local");
    function.add_output("c");
    auto& node = *function.add_node();
    node.set_op_type("Loop1");
    node.set_domain("local");
    node.add_output("c");
    m.node("Loop1", {"y"}, {"z"}).set_domain("local");
  });
  add("a product of nothing", "node 'n2' (Gemm): needs 2 inputs and has 1",
      [](OnnxMaker& m) { m.node("Gemm", {"y"}, {"z"}); });
  add("an optional input that is not", "node 'n2' (Where): needs 3 inputs and has 2", [](OnnxMaker& m) {
    m.node("Where", {"y", "", "y"}, {"z"});
  });
  add("no output", "node 'n2' (Relu): has no output", [](OnnxMaker& m) { m.node("Relu", {"y"}, {}); });
  add("quantised weights",
      "node 'n2' (DequantizeLinear): works on quantised weights, which cannot be trained (export the model before "
      "quantising it)",
      [](OnnxMaker& m) {
        m.node("DequantizeLinear", {"y", "y"}, {"z"});
      });
  add("a shape that contradicts the operators",
      "node 'n1' (MatMul): gives 'y' the shape [2, 8, 32], but the file says [2, 8, 31]", [](OnnxMaker& m) {
        describe(m, "y", {2, 8, 31});
      });
  add("parts that do not fit together",
      "node 'n2' (Concat): the shape of 'z' is not in the file and does not follow from the node's inputs (run ONNX "
      "shape inference on the file before importing it)",
      [](OnnxMaker& m) {
        OnnxMaker::attribute(m.node("Concat", {"x", "y"}, {"z"}), "axis", std::int64_t{1});
      });
  add("open image", "input 'pixels': dimension 2 ('height') is open (export with a fixed image size)",
      [](OnnxMaker& m) {
        m.input("pixels", {1, 3, -1, -1});
        m.model.mutable_graph()
            ->mutable_input(1)
            ->mutable_type()
            ->mutable_tensor_type()
            ->mutable_shape()
            ->mutable_dim(2)
            ->set_dim_param("height");
      });
  for (const Broken& broken : cases) EXPECT_EQ(refusal(broken.maker), broken.message) << broken.what;
}

TEST(Onnx, what_the_file_fixes_the_options_cannot_change) {
  OnnxMaker maker = small_transformer(2, "model.layers");
  EXPECT_EQ(
      refusal(maker, {.microbatch = 4}),
      "input 'ids': the file fixes the batch at 1, not 4 (leave --microbatch out, or export with a dynamic batch)");
  EXPECT_EQ(
      refusal(maker, {.sequence = 64}),
      "input 'ids': the file fixes the sequence at 8, not 64 (leave --seq out, or export with a dynamic sequence)");
}

TEST(Onnx, tensor_parallelism_is_bounded_by_heads_and_tokens) {
  const OnnxMaker maker = small_transformer(2, "model.layers");
  EXPECT_EQ(refusal(maker, {.parallel = {8, false}}),
            "--tensor-parallel: width 8 does not divide the 4 attention heads");
  EXPECT_EQ(refusal(maker, {.parallel = {8, false}, .attention = AttentionKind::kFlash}),
            "--tensor-parallel: width 8 does not divide the 4 attention heads");
}

TEST(Onnx, truncated_and_foreign_files_are_refused_at_every_length) {
  const std::string whole = small_transformer(2, "model.layers").bytes();
  const auto refuse = [](std::string_view bytes) {
    const auto graph = parse_onnx(bytes, "m", {});
    return graph ? std::string() : to_string(graph.error());
  };
  EXPECT_EQ(refuse(""), "is empty");
  EXPECT_EQ(refuse("this is not an ONNX file"), "byte 1: a field has the unknown wire type 4 (it is not an ONNX file)");
  EXPECT_EQ(refuse(whole.substr(0, whole.size() / 2)),
            "byte 5: a field reaches beyond the message that holds it (it is truncated or not an ONNX file)");
  for (std::size_t length = 1; length < whole.size(); length += 7) static_cast<void>(refuse(whole.substr(0, length)));
}

TEST(Onnx, nested_functions_cannot_exhaust_the_machine) {
  OnnxMaker maker = linear();
  for (int level = 0; level < 12; ++level) {
    auto& function = *maker.model.add_functions();
    function.set_name("f" + std::to_string(level));
    function.set_domain("local");
    for (int call = 0; call < 20 && level < 11; ++call) {
      auto& node = *function.add_node();
      node.set_op_type("f" + std::to_string(level + 1));
      node.set_domain("local");
    }
  }
  maker.node("f0", {"y"}, {"z"}).set_domain("local");
  EXPECT_NE(refusal(maker).find("its functions are called more than 100000 times"), std::string::npos);
}

}  // namespace
}  // namespace phaze::workload::onnx
