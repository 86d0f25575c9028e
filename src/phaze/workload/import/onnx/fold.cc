#include "phaze/workload/import/onnx/fold.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_map>

namespace phaze::workload::onnx {
namespace {

using Data = std::vector<double>;

const Data* data_of(const ValueGraph& graph, const GraphNode& node, std::size_t i) {
  if (i >= node.inputs.size() || !node.inputs[i].valid() || !graph[node.inputs[i]].data) return nullptr;
  return &*graph[node.inputs[i]].data;
}

using Binary = double (*)(double, double);

// Equal shapes, or one side a single number.
std::optional<Data> apply(const Data& a, const Data& b, Binary function) {
  if (a.size() != b.size() && a.size() != 1 && b.size() != 1) return std::nullopt;
  const std::size_t n = a.empty() || b.empty() ? 0 : std::max(a.size(), b.size());
  Data out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = function(a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]);
  return out;
}

const std::unordered_map<std::string_view, Binary>& binary_functions() {
  static const std::unordered_map<std::string_view, Binary> kFunctions = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Mod", [](double a, double b) { return b == 0 ? 0.0 : a - b * std::floor(a / b); }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
  };
  return kFunctions;
}

std::optional<Data> unary(std::string_view op, const Data& x) {
  using Unary = double (*)(double);
  static const std::unordered_map<std::string_view, Unary> kFunctions = {
      {"Neg", [](double a) { return -a; }},
      {"Abs", [](double a) { return std::fabs(a); }},
      {"Sqrt", [](double a) { return std::sqrt(a); }},
      {"Floor", [](double a) { return std::floor(a); }},
      {"Ceil", [](double a) { return std::ceil(a); }},
      {"Reciprocal", [](double a) { return 1 / a; }},
      {"Not", [](double a) { return a == 0 ? 1.0 : 0.0; }},
  };
  const auto function = kFunctions.find(op);
  if (function == kFunctions.end()) return std::nullopt;
  Data out(x.size());
  std::ranges::transform(x, out.begin(), function->second);
  return out;
}

std::optional<Data> divide(const Data& a, const Data& b, bool integer) {
  if (std::ranges::any_of(b, [](double d) { return d == 0; })) return std::nullopt;
  return integer ? apply(a, b, [](double x, double y) { return std::trunc(x / y); })
                 : apply(a, b, [](double x, double y) { return x / y; });
}

std::optional<Data> gather(const ValueGraph& graph, const GraphNode& node) {
  const Data* x = data_of(graph, node, 0);
  const Data* indices = data_of(graph, node, 1);
  if (x == nullptr || indices == nullptr || graph[node.inputs[0]].shape->size() != 1) return std::nullopt;
  Data out;
  for (double at : *indices) {
    if (at < 0) at += static_cast<double>(x->size());
    if (at < 0 || at >= static_cast<double>(x->size())) return std::nullopt;
    out.push_back((*x)[static_cast<std::size_t>(at)]);
  }
  return out;
}

std::optional<Data> slice(const ValueGraph& graph, const GraphNode& node) {
  const Data* x = data_of(graph, node, 0);
  const Data* starts = data_of(graph, node, 1);
  const Data* ends = data_of(graph, node, 2);
  if (x == nullptr || starts == nullptr || ends == nullptr || starts->size() != 1 ||
      graph[node.inputs[0]].shape->size() != 1)
    return std::nullopt;
  const Data* steps = data_of(graph, node, 4);
  if (steps != nullptr && (steps->size() != 1 || steps->front() != 1)) return std::nullopt;
  const auto size = static_cast<double>(x->size());
  const auto place = [&](double at) {
    return static_cast<std::size_t>(std::clamp(at < 0 ? at + size : at, 0.0, size));
  };
  const std::size_t from = place(starts->front());
  const std::size_t to = std::max(from, place(ends->front()));
  return Data(x->begin() + static_cast<std::ptrdiff_t>(from), x->begin() + static_cast<std::ptrdiff_t>(to));
}

std::optional<Data> constant(const GraphNode& node) {
  if (const Attribute* value = node.find("value")) return value->tensor;
  if (const Attribute* value = node.find("value_int")) return Data{static_cast<double>(value->integer)};
  if (const Attribute* value = node.find("value_float")) return Data{value->number};
  if (const Attribute* value = node.find("value_ints")) return Data(value->integers.begin(), value->integers.end());
  if (const Attribute* value = node.find("value_floats")) return value->numbers;
  return std::nullopt;
}

std::optional<Data> shape_of(const ValueGraph& graph, const GraphNode& node) {
  if (node.inputs.empty() || !node.inputs[0].valid() || !graph[node.inputs[0]].shape) return std::nullopt;
  const Shape& shape = *graph[node.inputs[0]].shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const std::int64_t from = place(node.integer("start", 0));
  const std::int64_t to = std::max(from, place(node.integer("end", rank)));
  return Data(shape.begin() + from, shape.begin() + to);
}

std::optional<Data> repeated(double value, std::int64_t count) {
  if (count < 0 || count > kMostContents) return std::nullopt;
  return Data(static_cast<std::size_t>(count), value);
}

std::optional<Data> range(const ValueGraph& graph, const GraphNode& node, std::int64_t count) {
  const Data* start = data_of(graph, node, 0);
  const Data* delta = data_of(graph, node, 2);
  if (start == nullptr || delta == nullptr || start->size() != 1 || delta->size() != 1 || count > kMostContents)
    return std::nullopt;
  Data out(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = start->front() + delta->front() * static_cast<double>(i);
  return out;
}

std::optional<Data> compute(const ValueGraph& graph, const GraphNode& node) {
  const Value& output = graph[node.outputs[0]];
  const std::int64_t count = output.elements();
  if (node.op == "Constant") return constant(node);
  if (node.op == "Shape") return shape_of(graph, node);
  if (node.op == "Size") return Data{static_cast<double>(graph[node.inputs[0]].elements())};
  if (node.op == "Gather") return gather(graph, node);
  if (node.op == "Slice") return slice(graph, node);
  if (node.op == "Range") return range(graph, node, count);
  if (node.op == "ConstantOfShape") {
    const Attribute* value = node.find("value");
    return repeated(value != nullptr && value->tensor && value->tensor->size() == 1 ? value->tensor->front() : 0,
                    count);
  }
  if (node.op == "Concat") {
    if (!output.shape || output.shape->size() != 1) return std::nullopt;
    Data out;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Data* part = data_of(graph, node, i);
      if (part == nullptr) return std::nullopt;
      out.insert(out.end(), part->begin(), part->end());
    }
    return out;
  }
  const Data* x = data_of(graph, node, 0);
  if (x == nullptr) return std::nullopt;
  if (node.op == "Expand" && x->size() == 1) return repeated(x->front(), count);
  if (node.op == "ReduceProd") {
    double product = 1;
    for (const double factor : *x) product *= factor;
    return count == 1 ? std::optional(Data{product}) : std::nullopt;
  }
  if (node.op == "Cast" || node.op == "CastLike") {
    Data out = *x;
    if (!is_floating(output.type)) std::ranges::for_each(out, [](double& value) { value = std::trunc(value); });
    return out;
  }
  // Same contents in another shape; a transpose of one dimension changes nothing.
  const bool flat = node.op == "Transpose" && output.shape && output.shape->size() <= 1;
  if (node.op == "Identity" || node.op == "Reshape" || node.op == "Unsqueeze" || node.op == "Squeeze" ||
      node.op == "Flatten" || flat)
    return *x;
  if (auto result = unary(node.op, *x)) return result;
  const Data* y = data_of(graph, node, 1);
  if (y == nullptr) return std::nullopt;
  if (node.op == "Where" && x->size() == 1) {
    const Data* otherwise = data_of(graph, node, 2);
    if (otherwise == nullptr) return std::nullopt;
    return x->front() != 0 ? *y : *otherwise;
  }
  if (node.op == "Where") {
    const Data* otherwise = data_of(graph, node, 2);
    if (otherwise == nullptr || y->size() != x->size() || otherwise->size() != x->size()) return std::nullopt;
    Data out(x->size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (*x)[i] != 0 ? (*y)[i] : (*otherwise)[i];
    return out;
  }
  if (node.op == "Div") return divide(*x, *y, !is_floating(output.type));
  if (const auto function = binary_functions().find(node.op); function != binary_functions().end())
    return apply(*x, *y, function->second);
  return std::nullopt;
}

}  // namespace

void fold(ValueGraph& graph, const GraphNode& node) {
  if (node.outputs.empty() || !node.outputs[0].valid()) return;
  auto data = compute(graph, node);
  Value& output = graph[node.outputs[0]];
  if (!data || static_cast<std::int64_t>(data->size()) > kMostContents) return;
  if (!output.shape) output.shape = Shape{static_cast<std::int64_t>(data->size())};
  // Contents that contradict the shape are worth nothing.
  if (output.elements() == static_cast<std::int64_t>(data->size())) output.data = std::move(*data);
}

}  // namespace phaze::workload::onnx
