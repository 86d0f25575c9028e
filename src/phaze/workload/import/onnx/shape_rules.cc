#include "phaze/workload/import/onnx/shape_rules.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "phaze/workload/import/onnx/layout_rules.h"

namespace phaze::workload::onnx {
namespace {

Shapes same_as_first(const NodeInputs& in) {
  return in.shape(0) != nullptr ? all_outputs(in, *in.shape(0)) : unknown(in);
}

Shapes first_like_input(const NodeInputs& in) {
  Shapes shapes = unknown(in);
  if (in.shape(0) != nullptr && !shapes.empty()) shapes[0] = *in.shape(0);
  return shapes;
}

Shapes broadcast_all(const NodeInputs& in) {
  std::optional<Shape> result = Shape{};
  for (std::size_t i = 0; i < in.size() && result; ++i) {
    if (in.shape(i) == nullptr) return unknown(in);
    result = broadcast(*result, *in.shape(i));
  }
  return all_outputs(in, result);
}

Shapes matmul(const NodeInputs& in) {
  const Shape* a = in.shape(0);
  const Shape* b = in.shape(1);
  if (a == nullptr || b == nullptr || a->empty() || b->empty()) return unknown(in);
  Shape left = *a;
  Shape right = *b;
  if (left.size() == 1) left.insert(left.begin(), 1);
  if (right.size() == 1) right.push_back(1);
  if (left.back() != right[right.size() - 2]) return unknown(in);
  auto batch = broadcast(Shape(left.begin(), left.end() - 2), Shape(right.begin(), right.end() - 2));
  if (!batch) return unknown(in);
  if (a->size() > 1) batch->push_back(left[left.size() - 2]);
  if (b->size() > 1) batch->push_back(right.back());
  return all_outputs(in, *batch);
}

Shapes gemm(const NodeInputs& in) {
  const Shape* a = in.shape(0);
  const Shape* b = in.shape(1);
  if (a == nullptr || b == nullptr || a->size() != 2 || b->size() != 2) return unknown(in);
  const bool ta = in.node().integer("transA", 0) != 0;
  const bool tb = in.node().integer("transB", 0) != 0;
  if ((*a)[ta ? 0 : 1] != (*b)[tb ? 1 : 0]) return unknown(in);
  return all_outputs(in, Shape{(*a)[ta ? 1 : 0], (*b)[tb ? 0 : 1]});
}

Shapes conv(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const Shape* w = in.shape(1);
  if (x == nullptr || w == nullptr || x->size() < 3 || w->size() != x->size()) return unknown(in);
  const Attribute* strides = in.node().find("strides");
  const Attribute* pads = in.node().find("pads");
  const Attribute* dilations = in.node().find("dilations");
  const std::int64_t groups = in.node().integer("group", 1);
  if (groups < 1 || (*x)[1] != saturating_multiply((*w)[1], groups)) return unknown(in);
  const Attribute* automatic = in.node().find("auto_pad");
  const bool same = automatic != nullptr && automatic->text.starts_with("SAME");
  if (automatic != nullptr && automatic->text == "VALID") pads = nullptr;
  Shape out = {(*x)[0], (*w)[0]};
  const std::size_t spatial = x->size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    const auto at = [&](const Attribute* attribute, std::size_t index, std::int64_t otherwise) {
      return attribute != nullptr && index < attribute->integers.size() ? attribute->integers[index] : otherwise;
    };
    const std::int64_t stride = at(strides, i, 1);
    const std::int64_t padding = saturating_add(at(pads, i, 0), at(pads, i + spatial, 0));
    const std::int64_t reach = saturating_add(saturating_multiply(at(dilations, i, 1), (*w)[i + 2] - 1), 1);
    const std::int64_t room = (*x)[i + 2] + std::clamp<std::int64_t>(padding, 0, kLargestDimension) - reach;
    if (stride < 1 || (room < 0 && !same)) return unknown(in);
    out.push_back(same ? ceil_divide((*x)[i + 2], stride) : room / stride + 1);
  }
  return all_outputs(in, out);
}

Shapes reduce(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  if (x == nullptr) return unknown(in);
  const bool keep = in.node().integer("keepdims", 1) != 0;
  std::set<std::size_t> over;
  const auto axes = in.axes(1);
  if (axes && !axes->empty()) {
    for (const std::int64_t given : *axes) {
      const auto axis = axis_of(given, x->size());
      if (!axis) return unknown(in);
      over.insert(*axis);
    }
  } else {
    if (!axes && in.has(1)) return unknown(in);
    if (in.node().integer("noop_with_empty_axes", 0) == 0)
      for (std::size_t i = 0; i < x->size(); ++i) over.insert(i);
  }
  Shape out;
  for (std::size_t i = 0; i < x->size(); ++i) {
    if (!over.contains(i))
      out.push_back((*x)[i]);
    else if (keep)
      out.push_back(1);
  }
  return all_outputs(in, out);
}

Shapes arg_reduce(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  if (x == nullptr) return unknown(in);
  const auto axis = axis_of(in.node().integer("axis", 0), x->size());
  if (!axis) return unknown(in);
  Shape out = *x;
  if (in.node().integer("keepdims", 1) != 0)
    out[*axis] = 1;
  else
    out.erase(out.begin() + static_cast<std::ptrdiff_t>(*axis));
  return all_outputs(in, out);
}

Shapes shape_of(const NodeInputs& in) {
  if (in.shape(0) == nullptr) return unknown(in);
  const auto rank = static_cast<std::int64_t>(in.shape(0)->size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  return all_outputs(in, Shape{std::max<std::int64_t>(
                             0, place(in.node().integer("end", rank)) - place(in.node().integer("start", 0)))});
}

Shapes scalar(const NodeInputs& in) { return all_outputs(in, Shape{}); }

Shapes from_contents(const NodeInputs& in) {
  const auto target = in.integers(0);
  return target ? all_outputs(in, *target) : unknown(in);
}

Shapes flatten(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  if (x == nullptr) return unknown(in);
  std::int64_t axis = in.node().integer("axis", 1);
  if (axis < 0) axis += static_cast<std::int64_t>(x->size());
  if (axis < 0 || axis > static_cast<std::int64_t>(x->size())) return unknown(in);
  return all_outputs(in, Shape{count(Shape(x->begin(), x->begin() + axis)), count(Shape(x->begin() + axis, x->end()))});
}

Shapes pad(const NodeInputs& in) {
  const Shape* x = in.shape(0);
  const auto pads = in.integers(1);
  if (x == nullptr || !pads || pads->size() != 2 * x->size() || in.has(3)) return unknown(in);
  Shape out = *x;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = std::max<std::int64_t>(0, saturating_add(out[i], saturating_add((*pads)[i], (*pads)[i + out.size()])));
  return all_outputs(in, out);
}

Shapes constant(const NodeInputs& in) {
  const GraphNode& node = in.node();
  if (const Attribute* value = node.find("value")) return all_outputs(in, value->tensor_shape);
  if (const Attribute* list = node.find("value_ints"))
    return all_outputs(in, Shape{static_cast<std::int64_t>(list->integers.size())});
  if (const Attribute* list = node.find("value_floats"))
    return all_outputs(in, Shape{static_cast<std::int64_t>(list->numbers.size())});
  if (node.find("value_int") != nullptr || node.find("value_float") != nullptr) return scalar(in);
  return unknown(in);
}

Shapes range(const NodeInputs& in) {
  const auto start = in.integers(0);
  const auto limit = in.integers(1);
  const auto delta = in.integers(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1 ||
      delta->front() == 0)
    return unknown(in);
  const double steps = std::ceil((static_cast<double>(limit->front()) - static_cast<double>(start->front())) /
                                 static_cast<double>(delta->front()));
  return all_outputs(in,
                     Shape{static_cast<std::int64_t>(std::clamp(steps, 0.0, static_cast<double>(kLargestDimension)))});
}

// Two operands, each letter a dimension: "bhqd,bhkd->bhqk".
Shapes einsum(const NodeInputs& in) {
  const Attribute* equation = in.node().find("equation");
  if (equation == nullptr) return unknown(in);
  std::string text = equation->text;
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  if (arrow == std::string::npos) return unknown(in);
  std::unordered_map<char, std::int64_t> sizes;
  std::size_t operand = 0, position = 0;
  for (const char letter : text.substr(0, arrow)) {
    if (letter == ',') {
      ++operand;
      position = 0;
      continue;
    }
    const Shape* shape = in.shape(operand);
    if (shape == nullptr || position >= shape->size() || letter == '.') return unknown(in);
    sizes[letter] = (*shape)[position++];
  }
  Shape out;
  for (const char letter : text.substr(arrow + 2)) {
    if (!sizes.contains(letter)) return unknown(in);
    out.push_back(sizes[letter]);
  }
  return all_outputs(in, out);
}

// Q [b, heads, s, d] or [b, s, heads·d]; the result is shaped like the queries with the values' head size.
Shapes attention(const NodeInputs& in) {
  const Shape* q = in.shape(0);
  const Shape* v = in.shape(2);
  Shapes shapes = unknown(in);
  if (q == nullptr || v == nullptr || shapes.empty() || q->size() != v->size()) return shapes;
  Shape out = *q;
  if (q->size() == 4) out.back() = v->back();
  shapes[0] = out;
  return shapes;
}

using Rule = Shapes (*)(const NodeInputs&);

const std::unordered_map<std::string_view, Rule>& rules() {
  static const std::unordered_map<std::string_view, Rule> kRules = [] {
    std::unordered_map<std::string_view, Rule> table = {{"MatMul", matmul},
                                                        {"Gemm", gemm},
                                                        {"Conv", conv},
                                                        {"Reshape", reshape},
                                                        {"Transpose", transpose},
                                                        {"Concat", concat},
                                                        {"Split", split},
                                                        {"SplitToSequence", split_to_sequence},
                                                        {"SequenceAt", first_like_input},
                                                        {"Slice", slice},
                                                        {"Gather", gather},
                                                        {"GatherND", gather_nd},
                                                        {"GatherElements", second_shape},
                                                        {"Unsqueeze", unsqueeze},
                                                        {"Squeeze", squeeze},
                                                        {"Expand", expand},
                                                        {"Tile", tile},
                                                        {"Shape", shape_of},
                                                        {"Size", scalar},
                                                        {"ConstantOfShape", from_contents},
                                                        {"Flatten", flatten},
                                                        {"Pad", pad},
                                                        {"Constant", constant},
                                                        {"Range", range},
                                                        {"Einsum", einsum},
                                                        {"Attention", attention},
                                                        {"ArgMax", arg_reduce},
                                                        {"ArgMin", arg_reduce},
                                                        {"RandomNormal", unknown},
                                                        {"LayerNormalization", first_like_input},
                                                        {"RMSNormalization", first_like_input},
                                                        {"SimplifiedLayerNormalization", first_like_input},
                                                        {"BatchNormalization", first_like_input},
                                                        {"Dropout", same_as_first},
                                                        {"CumSum", first_like_input},
                                                        {"RotaryEmbedding", first_like_input},
                                                        {"CastLike", first_like_input},
                                                        {"Clip", first_like_input},
                                                        {"Trilu", first_like_input},
                                                        {"ScatterND", first_like_input},
                                                        {"ScatterElements", first_like_input},
                                                        {"QuantizeLinear", first_like_input}};
    for (const std::string_view unary :
         {"Identity", "Cast",       "Relu",       "Gelu",      "Tanh",      "Sigmoid",     "Erf",
          "Sqrt",     "Reciprocal", "Exp",        "Log",       "Neg",       "Abs",         "Sin",
          "Cos",      "Softmax",    "LogSoftmax", "Not",       "Floor",     "Ceil",        "Round",
          "Sign",     "IsNaN",      "IsInf",      "LeakyRelu", "HardSwish", "HardSigmoid", "Softplus",
          "Elu",      "Selu",       "Mish",       "QuickGelu", "FastGelu",  "BiasGelu",    "InstanceNormalization",
          "Swish"})
      table.emplace(unary, first_like_input);
    for (const std::string_view binary :
         {"Add", "Sub",  "Mul",   "Div",   "Pow",        "Mod",         "Min",     "Max",
          "Sum", "Mean", "Where", "Equal", "Less",       "LessOrEqual", "Greater", "GreaterOrEqual",
          "And", "Or",   "Xor",   "PRelu", "BitwiseAnd", "BitwiseOr"})
      table.emplace(binary, broadcast_all);
    for (const std::string_view reduction : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd",
                                             "ReduceL2", "ReduceSumSquare", "ReduceL1", "ReduceLogSumExp"})
      table.emplace(reduction, reduce);
    return table;
  }();
  return kRules;
}

}  // namespace

std::optional<Shape> broadcast(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape out(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[rank - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

std::size_t required_inputs(std::string_view op) {
  static const std::set<std::string_view> kNone = {"Constant", "RandomNormal"};
  static const std::set<std::string_view> kThree = {"Where",     "Slice",     "Range",
                                                    "Attention", "ScatterND", "ScatterElements"};
  static const std::set<std::string_view> kTwo = {"Add",
                                                  "Sub",
                                                  "Mul",
                                                  "Div",
                                                  "Pow",
                                                  "Mod",
                                                  "Equal",
                                                  "Less",
                                                  "LessOrEqual",
                                                  "Greater",
                                                  "GreaterOrEqual",
                                                  "And",
                                                  "Or",
                                                  "Xor",
                                                  "MatMul",
                                                  "Gemm",
                                                  "Conv",
                                                  "Reshape",
                                                  "Gather",
                                                  "GatherND",
                                                  "GatherElements",
                                                  "Expand",
                                                  "Tile",
                                                  "CastLike",
                                                  "LayerNormalization",
                                                  "RMSNormalization",
                                                  "SequenceAt",
                                                  "PRelu",
                                                  "BitwiseAnd",
                                                  "BitwiseOr",
                                                  "CumSum"};
  if (!rules().contains(op) || kNone.contains(op)) return 0;
  return kThree.contains(op) ? 3 : kTwo.contains(op) ? 2 : 1;
}

Shapes infer_shapes(const ValueGraph& graph, const GraphNode& node) {
  const NodeInputs in(graph, node);
  const auto rule = rules().find(node.op);
  return rule != rules().end() ? rule->second(in) : unknown(in);
}

}  // namespace phaze::workload::onnx
