#include "phaze/workload/import/onnx/infer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <set>

#include "phaze/workload/import/onnx/element_types.h"
#include "phaze/workload/import/onnx/fold.h"
#include "phaze/workload/import/onnx/shape_rules.h"

namespace phaze::workload::onnx {
namespace {

ElementType result_type(const ValueGraph& graph, const GraphNode& node, std::size_t output) {
  static const std::set<std::string_view> kBoolean = {
      "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not", "IsNaN", "IsInf"};
  if (kBoolean.contains(node.op)) return ElementType::kBool;
  if (node.op == "Shape" || node.op == "Size" || node.op == "ArgMax" || node.op == "ArgMin") return ElementType::kI64;
  if (node.op == "Dropout" && output == 1) return ElementType::kBool;
  if (node.op == "Cast") return element_type(node.integer("to", 1)).value_or(ElementType::kF32);
  if (node.op == "Constant") {
    if (const Attribute* value = node.find("value")) return value->tensor_type;
    return node.find("value_float") != nullptr || node.find("value_floats") != nullptr ? ElementType::kF32
                                                                                       : ElementType::kI64;
  }
  const std::size_t from = node.op == "Where" || node.op == "CastLike" ? 1 : 0;
  if (from < node.inputs.size() && node.inputs[from].valid()) return graph[node.inputs[from]].type;
  return ElementType::kF32;
}

// A view or cast of a parameter is the parameter; anything else made of one is computed, and trained, like any
// activation.
ValueKind result_kind(const ValueGraph& graph, const GraphNode& node) {
  static const std::set<std::string_view> kParameterViews = {"Identity",  "Transpose", "Reshape",  "Cast",  "Squeeze",
                                                             "Unsqueeze", "Flatten",   "CastLike", "Expand"};
  static const std::set<std::string_view> kRandom = {"RandomNormal", "RandomUniform", "RandomNormalLike",
                                                     "RandomUniformLike", "Bernoulli"};
  if (node.op == "Shape" || node.op == "Size") return ValueKind::kConstant;
  if (node.has_subgraph || kRandom.contains(node.op)) return ValueKind::kRuntime;
  if (node.op == "Constant") {
    // Some exporters write weights as constants; masks have more dimensions, and scales fewer elements.
    const Attribute* value = node.find("value");
    const bool matrix =
        value != nullptr && value->tensor_shape && value->tensor_shape->size() == 2 && is_floating(value->tensor_type);
    return matrix && (*value->tensor_shape)[0] > 1 && (*value->tensor_shape)[1] > 1 ? ValueKind::kParameter
                                                                                    : ValueKind::kConstant;
  }
  bool parameter = false;
  for (const ValueId input : node.inputs) {
    if (!input.valid()) continue;
    if (graph[input].kind == ValueKind::kRuntime) return ValueKind::kRuntime;
    parameter = parameter || graph[input].kind == ValueKind::kParameter;
  }
  if (!parameter) return ValueKind::kConstant;
  // Gemma's norms multiply by 1 + weight.
  const bool shifted =
      node.op == "Add" && std::ranges::any_of(node.inputs, [&](ValueId input) { return graph[input].elements() == 1; });
  return kParameterViews.contains(node.op) || shifted ? ValueKind::kParameter : ValueKind::kRuntime;
}

std::int64_t count(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) product = saturating_multiply(product, dim);
  return product;
}

Status check_arity(const GraphNode& node) {
  const std::string place = fmt::format("node '{}' ({})", node.name, node.op);
  const std::size_t needed = required_inputs(node.op);
  const auto given =
      static_cast<std::size_t>(std::ranges::count_if(node.inputs, [](ValueId input) { return input.valid(); }));
  const bool first_ones =
      std::ranges::all_of(node.inputs | std::views::take(needed), [](ValueId input) { return input.valid(); });
  if (given < needed || !first_ones) return Error{fmt::format("needs {} inputs and has {}", needed, given), place};
  if (node.outputs.empty() || !node.outputs[0].valid()) return Error{"has no output", place};
  return Done{};
}

}  // namespace

Status infer(ValueGraph& graph) {
  for (GraphNode& node : graph.nodes) {
    if (auto status = check_arity(node); !status) return status;
    Shapes shapes = infer_shapes(graph, node);
    const ValueKind kind = result_kind(graph, node);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].valid()) continue;
      Value& value = graph[node.outputs[i]];
      if (shapes[i]) {
        for (const std::int64_t dim : *shapes[i])
          if (dim < 0 || dim > kLargestDimension)
            return Error{fmt::format("gives '{}' a dimension of {}", value.name, dim),
                         fmt::format("node '{}' ({})", node.name, node.op)};
        value.type = result_type(graph, node, i);
        value.shape = std::move(shapes[i]);
        if (value.elements() >= kSaturated / 8)
          return Error{fmt::format("gives '{}' more than 2^59 elements", value.name),
                       fmt::format("node '{}' ({})", node.name, node.op)};
      }
      value.kind = kind;
      if (value.shape && value.file_shape && count(*value.shape) != count(*value.file_shape))
        return Error{fmt::format("gives '{}' the shape [{}], but the file says [{}]", value.name,
                                 fmt::join(*value.shape, ", "), fmt::join(*value.file_shape, ", ")),
                     fmt::format("node '{}' ({})", node.name, node.op)};
      if (kind == ValueKind::kParameter) value.parameter = node.outputs[i];
      for (const ValueId input : node.inputs)
        if (kind == ValueKind::kParameter && input.valid() && graph[input].kind == ValueKind::kParameter)
          value.parameter = graph[input].parameter;
      if (!value.shape && kind == ValueKind::kRuntime)
        return Error{
            fmt::format("the shape of '{}' is not in the file and does not follow from the node's inputs", value.name),
            fmt::format("node '{}' ({})", node.name, node.op),
            "run ONNX shape inference on the file before importing it"};
    }
    if (kind == ValueKind::kConstant) fold(graph, node);
    if (kind != ValueKind::kRuntime) node.removed = true;
  }
  return Done{};
}

}  // namespace phaze::workload::onnx
