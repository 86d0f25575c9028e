#include "phaze/workload/import/onnx/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <unordered_map>

#include "phaze/workload/import/onnx/attention.h"
#include "phaze/workload/import/onnx/patterns.h"

namespace phaze::workload::onnx {
namespace {

std::int64_t count(std::span<const std::int64_t> dims) {
  std::int64_t product = 1;
  for (const std::int64_t dim : dims) product = dim == 0 ? 0 : saturating_multiply(product, dim);
  return product;
}

const std::unordered_map<std::string_view, VectorOp>& vector_operators() {
  using enum VectorOp;
  static const std::unordered_map<std::string_view, VectorOp> kTable = {
      {"Add", kAdd},
      {"Sum", kAdd},
      {"Sub", kSub},
      {"Mul", kMul},
      {"Div", kDiv},
      {"Pow", kPow},
      {"Neg", kNeg},
      {"Cast", kCast},
      {"CastLike", kCast},
      {"Relu", kRelu},
      {"LeakyRelu", kRelu},
      {"PRelu", kRelu},
      {"Gelu", kGelu},
      {"FastGelu", kGelu},
      {"QuickGelu", kGelu},
      {"BiasGelu", kGelu},
      {"Silu", kSilu},
      {"Swish", kSilu},
      {"HardSwish", kSilu},
      {"Mish", kSilu},
      {"Tanh", kTanh},
      {"Sigmoid", kSigmoid},
      {"HardSigmoid", kSigmoid},
      {"Softplus", kLog},
      {"Elu", kExp},
      {"Selu", kExp},
      {"Exp", kExp},
      {"Log", kLog},
      {"Sqrt", kSqrt},
      {"Reciprocal", kReciprocal},
      {"Erf", kErf},
      {"Sin", kSin},
      {"Cos", kCos},
      {"Abs", kAbs},
      {"Sign", kCompare},
      {"Floor", kCompare},
      {"Ceil", kCompare},
      {"Round", kCompare},
      {"Clip", kClip},
      {"Min", kClip},
      {"Max", kClip},
      {"Mod", kCompare},
      {"Where", kWhere},
      {"Equal", kCompare},
      {"Less", kCompare},
      {"LessOrEqual", kCompare},
      {"Greater", kCompare},
      {"GreaterOrEqual", kCompare},
      {"And", kCompare},
      {"Or", kCompare},
      {"Xor", kCompare},
      {"Not", kCompare},
      {"IsNaN", kCompare},
      {"IsInf", kCompare},
      {"BitwiseAnd", kCompare},
      {"BitwiseOr", kCompare},
      {"Trilu", kMask},
      {"Softmax", kSoftmax},
      {"LogSoftmax", kLogSoftmax},
      {"LayerNormalization", kLayerNorm},
      {"LayerNorm", kLayerNorm},
      {"RMSNormalization", kRmsNorm},
      {"SimplifiedLayerNormalization", kRmsNorm},
      {"RmsNorm", kRmsNorm},
      {"Rotary", kRotary},
      {"RotaryEmbedding", kRotary},
      {"ReduceSum", kReduceSum},
      {"ReduceMean", kReduceMean},
      {"ReduceMax", kReduceMax},
      {"ReduceMin", kReduceMax},
      {"ArgMax", kCompare},
      {"ArgMin", kCompare},
      {"CumSum", kCumSum},
      {"Concat", kConcat},
      {"Expand", kExpand},
      {"Tile", kExpand},
      {"Pad", kPad},
      {"Gather", kGather},
      {"GatherND", kGather},
      {"GatherElements", kGather},
      {"ScatterND", kScatter},
      {"ScatterElements", kScatter},
      {"Range", kRange},
      {"ConstantOfShape", kRange},
      {"MaxPool", kPool},
      {"AveragePool", kPool},
      {"GlobalAveragePool", kPool},
  };
  return kTable;
}

bool is_view(const GraphNode& node) {
  static const std::set<std::string_view> kViews = {"Reshape",    "Transpose",       "Squeeze",  "Unsqueeze",
                                                    "Identity",   "Flatten",         "Slice",    "Split",
                                                    "SequenceAt", "SplitToSequence", kSplitParts};
  return kViews.contains(node.op);
}

class Lowering {
 public:
  explicit Lowering(const ValueGraph& graph) : graph_(graph), tensors_(graph.values.size()) {}

  Result<Lowered> run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].removed) continue;
      current_ = GraphNodeId(i);
      if (auto status = node(graph_.nodes[i]); !status)
        return within(fmt::format("node '{}' ({})", graph_.nodes[i].name, graph_.nodes[i].op), status.error());
      result_.origin.resize(builder_.size(), current_);
      result_.heads.resize(builder_.size(), heads_of(graph_.nodes[i]));
    }
    if (builder_.size() == 0) return Error{"nothing in the graph depends on its inputs"};
    result_.graph = std::move(builder_).build();
    result_.parameters.resize(result_.graph.tensor_count());
    return std::move(result_);
  }

 private:
  // [batch, heads, rows, columns] of a product inside attention.
  std::int64_t heads_of(const GraphNode& node) const {
    if (!node.attention_core || node.op != "MatMul") return 0;
    const Shape& dims = shape(node.outputs[0]);
    return dims.size() == 4 ? dims[1] : 0;
  }

  // ---- tensors ----

  TensorId tensor(ValueId id) {
    if (graph_[id].kind == ValueKind::kParameter) id = graph_[id].parameter;
    if (tensors_[id.index()].valid()) return tensors_[id.index()];
    const Value& value = graph_[id];
    Tensor made{.elements = value.elements(), .type = value.type, .role = TensorRole::kConstant};
    if (value.kind == ValueKind::kParameter) {
      made.role = TensorRole::kParameter;
      // Two initializers that lie at the same place in the side file are one weight.
      made.tied = !value.storage.empty() && !storages_.insert(value.storage).second;
    } else if (value.producer.valid() && value.kind == ValueKind::kRuntime) {
      made.role = TensorRole::kActivation;
      made.output = value.graph_output;
    }
    tensors_[id.index()] = builder_.tensor(made);
    result_.parameters.resize(tensors_[id.index()].index() + 1);
    if (made.role == TensorRole::kParameter) result_.parameters.back() = id;
    return tensors_[id.index()];
  }

  TensorId scratch(std::int64_t elements, ElementType type) {
    const TensorId id = builder_.tensor({.elements = elements, .type = type});
    result_.parameters.resize(id.index() + 1);
    return id;
  }

  const Shape& shape(ValueId id) const { return *graph_[id].shape; }

  static bool given(const GraphNode& node, std::size_t i) { return i < node.inputs.size() && node.inputs[i].valid(); }

  void emit(std::string_view suffix, const Work& work, std::span<const TensorId> inputs,
            std::span<const TensorId> outputs) {
    const GraphNode& node = graph_[current_];
    builder_.op(node.name + std::string(suffix),
                Op{.work = work, .type = builder_.look(outputs[0]).type, .attention_core = node.attention_core}, inputs,
                outputs);
  }

  // ---- nodes ----

  Status node(const GraphNode& node) {
    if (node.outputs.empty() || !node.outputs[0].valid()) return Error{"has no output"};
    for (const ValueId input : node.inputs)
      if (input.valid() && !graph_[input].shape)
        return Error{fmt::format("the shape of '{}' is not known", graph_[input].name)};
    if (is_view(node)) return view(node);
    if (node.op == "MatMul" || node.op == kBiasedMatMul) return matmul(node);
    if (node.op == "Gemm") return gemm(node);
    if (node.op == "Conv") return conv(node);
    if (node.op == "Einsum") return einsum(node);
    if (node.op == "Attention") return attention(node);
    if (node.op == "Dropout") return dropout(node);
    return vector(node);
  }

  Status view(const GraphNode& node) {
    if (!given(node, 0)) return Error{"has no input"};
    const TensorId input = tensor(node.inputs[0]);
    std::vector<TensorId> outputs;
    for (const ValueId output : node.outputs) {
      if (!output.valid()) continue;
      outputs.push_back(tensor(output));
      builder_.edit(outputs.back()).view_of = input;
    }
    emit("", View{}, std::array{input}, outputs);
    return Done{};
  }

  Status matmul(const GraphNode& node) {
    if (!given(node, 0) || !given(node, 1)) return Error{"needs two operands"};
    Shape a = shape(node.inputs[0]);
    Shape b = shape(node.inputs[1]);
    if (a.empty() || b.empty()) return Error{"multiplies a scalar"};
    if (a.size() == 1) a.insert(a.begin(), 1);
    if (b.size() == 1) b.push_back(1);
    if (a.back() != b[b.size() - 2])
      return Error{fmt::format("multiplies {} columns by {} rows", a.back(), b[b.size() - 2])};
    const std::int64_t m = a[a.size() - 2];
    const std::int64_t k = a.back();
    const std::int64_t n = b.back();
    const std::int64_t total = graph_[node.outputs[0]].elements();
    const std::int64_t square = saturating_multiply(m, n);
    const std::int64_t batch = square > 0 ? total / square : 0;
    return product(node, {.batch = batch, .m = m, .n = n, .k = k}, node.inputs[0], node.inputs[1],
                   given(node, 2) ? node.inputs[2] : ValueId());
  }

  Status gemm(const GraphNode& node) {
    if (!given(node, 0) || !given(node, 1)) return Error{"needs two operands"};
    const Shape& a = shape(node.inputs[0]);
    const Shape& b = shape(node.inputs[1]);
    if (a.size() != 2 || b.size() != 2) return Error{"needs matrices"};
    const bool ta = node.integer("transA", 0) != 0;
    const bool tb = node.integer("transB", 0) != 0;
    if (a[ta ? 0 : 1] != b[tb ? 1 : 0])
      return Error{fmt::format("multiplies {} columns by {} rows", a[ta ? 0 : 1], b[tb ? 1 : 0])};
    return product(node, {.m = a[ta ? 1 : 0], .n = b[tb ? 0 : 1], .k = a[ta ? 0 : 1]}, node.inputs[0], node.inputs[1],
                   given(node, 2) ? node.inputs[2] : ValueId());
  }

  // A weight stands on the right and is shared by the batch; a left operand that the batch shares changes sides with
  // it.
  Status product(const GraphNode& node, Gemm gemm, ValueId left, ValueId right, ValueId bias) {
    if (gemm.batch < 1 || gemm.m < 1 || gemm.n < 1 || gemm.k < 1) return Error{"multiplies an empty matrix"};
    const auto elements = [&](ValueId id) { return graph_[id].elements(); };
    const bool left_is_weight =
        graph_[left].kind == ValueKind::kParameter && graph_[right].kind != ValueKind::kParameter;
    if (left_is_weight || (elements(left) == saturating_multiply(gemm.m, gemm.k) && gemm.batch > 1 &&
                           elements(right) == saturating_product({gemm.batch, gemm.k, gemm.n}))) {
      std::swap(left, right);
      std::swap(gemm.m, gemm.n);
    }
    const std::int64_t shared = saturating_multiply(gemm.k, gemm.n);
    if (elements(right) == shared && gemm.batch > 1 &&
        elements(left) == saturating_product({gemm.batch, gemm.m, gemm.k})) {
      gemm.m = saturating_multiply(gemm.batch, gemm.m);
      gemm.batch = 1;
    }
    std::vector<TensorId> inputs = {
        operand(left, saturating_product({gemm.batch, gemm.m, gemm.k})),
        operand(right, gemm.batch > 1 ? saturating_product({gemm.batch, gemm.k, gemm.n}) : shared)};
    if (bias.valid()) inputs.push_back(tensor(bias));
    emit("", gemm, inputs, std::array{tensor(node.outputs[0])});
    return Done{};
  }

  // An operand that is broadcast over a part of the batch is written out first.
  TensorId operand(ValueId id, std::int64_t wanted) {
    const TensorId given = tensor(id);
    const Tensor& known = builder_.look(given);
    if (known.elements == wanted) return given;
    const TensorId whole = scratch(wanted, known.type);
    emit(".expand", VectorWork{.op = VectorOp::kExpand, .rows = 1, .cols = wanted}, std::array{given},
         std::array{whole});
    return whole;
  }

  // As a product of patches and filters; patches that overlap are written out first.
  Status conv(const GraphNode& node) {
    if (!given(node, 0) || !given(node, 1)) return Error{"needs an input and filters"};
    const Shape& w = shape(node.inputs[1]);
    const Shape& y = shape(node.outputs[0]);
    if (w.size() < 3 || y.size() != w.size()) return Error{"needs filters of three or more dimensions"};
    const std::int64_t groups = node.integer("group", 1);
    if (groups < 1 || w[0] % groups != 0) return Error{fmt::format("{} filters do not form {} groups", w[0], groups)};
    const Gemm gemm{.batch = groups,
                    .m = saturating_multiply(y[0], count(std::span(y).subspan(2))),
                    .n = w[0] / groups,
                    .k = count(std::span(w).subspan(1))};
    if (gemm.m < 1 || gemm.n < 1 || gemm.k < 1) return Error{"works on an empty tensor"};
    const std::int64_t patches = saturating_product({groups, gemm.m, gemm.k});
    TensorId x = tensor(node.inputs[0]);
    if (builder_.look(x).elements != patches) {
      const TensorId laid_out = scratch(patches, builder_.look(x).type);
      emit(".patches", VectorWork{.op = VectorOp::kGather, .rows = gemm.m, .cols = patches / gemm.m}, std::array{x},
           std::array{laid_out});
      x = laid_out;
    }
    std::vector<TensorId> inputs = {x, tensor(node.inputs[1])};
    if (given(node, 2)) inputs.push_back(tensor(node.inputs[2]));
    emit("", gemm, inputs, std::array{tensor(node.outputs[0])});
    return Done{};
  }

  // Letters in both operands and the result are batch, in both operands alone the contraction, in one operand rows or
  // columns.
  Status einsum(const GraphNode& node) {
    const Attribute* equation = node.find("equation");
    std::string text = equation == nullptr ? "" : equation->text;
    std::erase(text, ' ');
    const auto arrow = text.find("->");
    const auto comma = text.find(',');
    if (arrow == std::string::npos || comma == std::string::npos || text.find(',', comma + 1) != std::string::npos ||
        text.find('.') != std::string::npos || !given(node, 1))
      return vector(node);
    const std::string a = text.substr(0, comma);
    const std::string b = text.substr(comma + 1, arrow - comma - 1);
    const std::string c = text.substr(arrow + 2);
    Gemm gemm{.batch = 1, .m = 1, .n = 1, .k = 1};
    if (a.size() != shape(node.inputs[0]).size() || b.size() != shape(node.inputs[1]).size())
      return Error{fmt::format("'{}' does not fit its operands", text)};
    for (std::size_t i = 0; i < a.size(); ++i) {
      const bool in_b = b.find(a[i]) != std::string::npos;
      const bool in_c = c.find(a[i]) != std::string::npos;
      std::int64_t& size = in_b ? (in_c ? gemm.batch : gemm.k) : gemm.m;
      if (!in_b && !in_c) return vector(node);
      size = saturating_multiply(size, shape(node.inputs[0])[i]);
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (a.find(b[i]) != std::string::npos) continue;
      if (c.find(b[i]) == std::string::npos) return vector(node);
      gemm.n = saturating_multiply(gemm.n, shape(node.inputs[1])[i]);
    }
    return product(node, gemm, node.inputs[0], node.inputs[1], {});
  }

  // Q, K, V as [b, heads, s, d], or [b, s, heads·d] with the counts as attributes.
  Status attention(const GraphNode& node) {
    if (!given(node, 0) || !given(node, 1) || !given(node, 2)) return Error{"needs queries, keys and values"};
    const Shape& q = shape(node.inputs[0]);
    const Shape& v = shape(node.inputs[2]);
    const bool with_heads = q.size() == 4 && v.size() == 4;
    const std::int64_t heads = with_heads ? q[1] : node.integer("q_num_heads", 0);
    const std::int64_t kv_heads = with_heads ? v[1] : node.integer("kv_num_heads", heads);
    if ((!with_heads && (q.size() != 3 || v.size() != 3)) || heads < 1 || kv_heads < 1)
      return Error{"the number of heads is not known"};
    const std::int64_t length = with_heads ? q[2] : q[1];
    const std::int64_t keys = with_heads ? v[2] : v[1];
    const std::int64_t width = with_heads ? q[3] : q[2] / heads;
    const Attention work{.batch = q[0],
                         .heads = heads,
                         .kv_heads = kv_heads,
                         .query_length = length,
                         .key_length = keys,
                         .head_dim = width,
                         .causal = node.integer("is_causal", 0) != 0,
                         .dropout = node.integer(kHasDropout, 0) != 0};
    std::vector<TensorId> inputs;
    for (const ValueId input : node.inputs)
      if (input.valid()) inputs.push_back(tensor(input));
    const TensorId result = tensor(node.outputs[0]);
    const TensorId sums = scratch(saturating_product({q[0], heads, length}), ElementType::kF32);
    const Op op{.work = work, .type = builder_.look(result).type, .attention_core = true};
    builder_.op(node.name, op, inputs, std::array{result, sums});
    return Done{};
  }

  // Exported for inference it does nothing.
  Status dropout(const GraphNode& node) {
    const bool training = given(node, 2) && graph_[node.inputs[2]].data && graph_[node.inputs[2]].data->size() == 1 &&
                          graph_[node.inputs[2]].data->front() != 0;
    if (!training) {
      GraphNode identity = node;
      identity.inputs.resize(1);
      identity.outputs.resize(1);
      return view(identity);
    }
    const std::int64_t elements = graph_[node.outputs[0]].elements();
    const TensorId mask = node.outputs.size() > 1 && node.outputs[1].valid() ? tensor(node.outputs[1])
                                                                             : scratch(elements, ElementType::kBool);
    emit("", rows_and_columns(VectorOp::kDropout, node.outputs[0]), std::array{tensor(node.inputs[0])},
         std::array{tensor(node.outputs[0]), mask});
    return Done{};
  }

  VectorWork rows_and_columns(VectorOp op, ValueId id) const {
    const std::int64_t elements = graph_[id].elements();
    const std::int64_t cols = shape(id).empty() ? 1 : shape(id).back();
    return {.op = op, .rows = cols > 0 ? elements / cols : 0, .cols = cols};
  }

  Status vector(const GraphNode& node) {
    const auto known = vector_operators().find(node.op);
    VectorOp op = known != vector_operators().end() ? known->second : VectorOp::kOther;
    if (known == vector_operators().end()) ++result_.unknown[node.op];
    std::vector<TensorId> inputs;
    for (const ValueId input : node.inputs)
      if (input.valid() && keep_operand(node, input)) inputs.push_back(tensor(input));
    if ((op == VectorOp::kMul || op == VectorOp::kDiv) && inputs.size() == 1) op = VectorOp::kScale;
    const std::int64_t made = graph_[node.outputs[0]].elements();
    VectorWork work = rows_and_columns(op, node.outputs[0]);
    switch (op) {
      case VectorOp::kReduceSum:
      case VectorOp::kReduceMean:
      case VectorOp::kReduceMax: {
        const std::int64_t read = graph_[node.inputs[0]].elements();
        work.rows = made;
        work.cols = made > 0 ? read / made : 0;
        break;
      }
      case VectorOp::kSoftmax:
      case VectorOp::kLogSoftmax: {
        const Shape& dims = shape(node.inputs[0]);
        std::int64_t axis = node.integer("axis", -1);
        if (axis < 0) axis += static_cast<std::int64_t>(dims.size());
        if (axis < 0 || axis >= static_cast<std::int64_t>(dims.size()))
          return Error{fmt::format("has no axis {}", node.integer("axis", -1))};
        work.cols = dims[static_cast<std::size_t>(axis)];
        work.rows = work.cols > 0 ? made / work.cols : 0;
        break;
      }
      case VectorOp::kGather:
        if (given(node, 0) && graph_[node.inputs[0]].kind == ValueKind::kParameter && given(node, 1)) {
          work.op = VectorOp::kEmbedding;
          work.rows = graph_[node.inputs[1]].elements();
          work.cols = work.rows > 0 ? made / work.rows : 0;
        }
        break;
      case VectorOp::kOther: {
        std::int64_t most = made;
        for (const TensorId input : inputs) most = std::max(most, builder_.look(input).elements);
        work.rows = 1;
        work.cols = most;
        break;
      }
      default: break;
    }
    std::vector<TensorId> outputs = {tensor(node.outputs[0])};
    for (std::size_t i = 1; i < node.outputs.size(); ++i)
      if (op == VectorOp::kOther && node.outputs[i].valid() && graph_[node.outputs[i]].shape)
        outputs.push_back(tensor(node.outputs[i]));
    emit("", work, inputs, outputs);
    return Done{};
  }

  // Numbers beside a tensor (scales, exponents, axes, epsilons) are part of the operator, not data that it reads.
  bool keep_operand(const GraphNode& node, ValueId input) const {
    const Value& value = graph_[input];
    if (value.kind == ValueKind::kRuntime || value.kind == ValueKind::kParameter) return true;
    return node.op == "Gather" || (value.elements() > 1 && (is_floating(value.type) || node.op == "Where"));
  }

  const ValueGraph& graph_;
  OpGraphBuilder builder_;
  std::vector<TensorId> tensors_;
  std::set<std::string> storages_;
  GraphNodeId current_;
  Lowered result_;
};

}  // namespace

Result<Lowered> lower(const ValueGraph& graph) { return Lowering(graph).run(); }

}  // namespace phaze::workload::onnx
