// A whole decoder as an exporter writes it, small enough for tests, seeds and benchmarks.
#pragma once

#include <string>

#include "phaze/workload/import/onnx/testing/onnx_maker.h"

namespace phaze::workload::onnx::testing {

// `prefix`: the path of the layers in the weights' names; empty for weights with meaningless names.
// Norm, attention, residuals, feed-forward: 22 nodes a layer.
inline OnnxMaker small_transformer(int layers, const std::string& prefix, std::int64_t hidden = 16) {
  OnnxMaker maker;
  const std::int64_t heads = 4, width = hidden / heads, s = 8;
  maker.input("ids", {1, s}, ::onnx::TensorProto::INT64);
  maker.weight(prefix.empty() ? "t" : "embed.weight", {4096, hidden});
  maker.node("Gather", {prefix.empty() ? "t" : "embed.weight", "ids"}, {"h0"});
  maker.integers("split_heads", {1, s, heads, width});
  maker.integers("merge_heads", {1, s, hidden});
  int serial = 0;
  const auto weight = [&](const std::string& name, std::initializer_list<std::int64_t> dims) {
    std::string full = prefix.empty() ? "c" + std::to_string(serial++) : name;
    maker.weight(full, dims);
    return full;
  };
  for (int i = 0; i < layers; ++i) {
    const std::string n = std::to_string(i);
    const std::string p = prefix + "." + n + ".";
    const std::string x = "h" + n;
    const auto named = [&](const std::string& name) { return name + "_" + n; };
    maker.node("LayerNormalization", {x, weight(p + "norm1.weight", {hidden}), weight(p + "norm1.bias", {hidden})},
               {named("n1")});
    for (const std::string part : {"q", "k", "v"}) {
      maker.node("MatMul", {named("n1"), weight(p + part + ".weight", {hidden, hidden})}, {named(part)});
      maker.node("Reshape", {named(part), "split_heads"}, {named(part + "r")});
      OnnxMaker::attribute(maker.node("Transpose", {named(part + "r")}, {named(part + "t")}), "perm",
                           part == "k" ? std::initializer_list<std::int64_t>{0, 2, 3, 1}
                                       : std::initializer_list<std::int64_t>{0, 2, 1, 3});
    }
    maker.node("MatMul", {named("qt"), named("kt")}, {named("scores")});
    maker.node("Softmax", {named("scores")}, {named("p")});
    maker.node("MatMul", {named("p"), named("vt")}, {named("c")});
    OnnxMaker::attribute(maker.node("Transpose", {named("c")}, {named("ct")}), "perm", {0, 2, 1, 3});
    maker.node("Reshape", {named("ct"), "merge_heads"}, {named("m")});
    maker.node("MatMul", {named("m"), weight(p + "o.weight", {hidden, hidden})}, {named("o")});
    maker.node("Add", {x, named("o")}, {named("r1")});
    maker.node("LayerNormalization",
               {named("r1"), weight(p + "norm2.weight", {hidden}), weight(p + "norm2.bias", {hidden})}, {named("n2")});
    maker.node("MatMul", {named("n2"), weight(p + "up.weight", {hidden, 4 * hidden})}, {named("u")});
    maker.node("Relu", {named("u")}, {named("ur")});
    maker.node("MatMul", {named("ur"), weight(p + "down.weight", {4 * hidden, hidden})}, {named("d")});
    maker.node("Add", {named("r1"), named("d")}, {"h" + std::to_string(i + 1)});
  }
  const std::string last = "h" + std::to_string(layers);
  maker.node("LayerNormalization", {last, weight("final.weight", {hidden}), weight("final.bias", {hidden})}, {"f"});
  maker.node("MatMul", {"f", weight("head.weight", {hidden, 4096})}, {"logits"});
  maker.output("logits");
  return maker;
}

// One product of 16 tokens with a weight: y = x·w.
inline OnnxMaker linear() {
  OnnxMaker maker;
  maker.input("x", {2, 8, 16});
  maker.weight("w", {16, 32});
  maker.node("MatMul", {"x", "w"}, {"y"});
  maker.output("y");
  return maker;
}

}  // namespace phaze::workload::onnx::testing
