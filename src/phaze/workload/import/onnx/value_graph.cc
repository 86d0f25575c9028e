#include "phaze/workload/import/onnx/value_graph.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <unordered_map>

#include "phaze/workload/import/onnx/element_types.h"
#include "phaze/workload/import/onnx/shape_rules.h"

namespace phaze::workload::onnx {
namespace {

constexpr std::int64_t kOldestOpset = 13;
constexpr std::size_t kMostNodes = 1U << 20U;
constexpr int kDeepestInlining = 16;
constexpr int kMostInlinedCalls = 100'000;
constexpr std::int64_t kDefaultSequence = 512;

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16U;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

double from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const double mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0) return sign * std::ldexp(mantissa, -24);
  if (exponent == 31) return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

template <typename T>
void append_raw(const std::string& raw, std::vector<double>& out) {
  for (std::size_t at = 0; at + sizeof(T) <= raw.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, raw.data() + at, sizeof(T));
    out.push_back(static_cast<double>(value));
  }
}

// The contents of a small tensor; nothing when they are elsewhere, too long, or do not match the shape.
std::optional<std::vector<double>> contents(const ::onnx::TensorProto& tensor, std::int64_t elements) {
  if (elements > kMostContents || tensor.data_location() == ::onnx::TensorProto::EXTERNAL) return std::nullopt;
  std::vector<double> out;
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    std::vector<double> halves;
    switch (tensor.data_type()) {
      case ::onnx::TensorProto::FLOAT: append_raw<float>(raw, out); break;
      case ::onnx::TensorProto::DOUBLE: append_raw<double>(raw, out); break;
      case ::onnx::TensorProto::INT64: append_raw<std::int64_t>(raw, out); break;
      case ::onnx::TensorProto::UINT64: append_raw<std::uint64_t>(raw, out); break;
      case ::onnx::TensorProto::INT32: append_raw<std::int32_t>(raw, out); break;
      case ::onnx::TensorProto::BOOL:
      case ::onnx::TensorProto::UINT8: append_raw<std::uint8_t>(raw, out); break;
      case ::onnx::TensorProto::INT8: append_raw<std::int8_t>(raw, out); break;
      case ::onnx::TensorProto::BFLOAT16:
        append_raw<std::uint16_t>(raw, halves);
        for (const double bits : halves)
          out.push_back(static_cast<double>(from_bf16(static_cast<std::uint16_t>(bits))));
        break;
      case ::onnx::TensorProto::FLOAT16:
        append_raw<std::uint16_t>(raw, halves);
        for (const double bits : halves) out.push_back(from_f16(static_cast<std::uint16_t>(bits)));
        break;
      default: return std::nullopt;
    }
  } else {
    for (const float value : tensor.float_data()) out.push_back(static_cast<double>(value));
    for (const double value : tensor.double_data()) out.push_back(value);
    for (const std::int64_t value : tensor.int64_data()) out.push_back(static_cast<double>(value));
    for (const std::int32_t value : tensor.int32_data()) out.push_back(static_cast<double>(value));
  }
  if (static_cast<std::int64_t>(out.size()) != elements) return std::nullopt;
  return out;
}

Result<Shape> checked_shape(const google::protobuf::RepeatedField<std::int64_t>& dims, std::string_view what) {
  Shape shape(dims.begin(), dims.end());
  for (const std::int64_t dim : shape)
    if (dim < 0 || dim > kLargestDimension)
      return Error{fmt::format("has a dimension of {}, which is not between 0 and 2^40", dim),
                   fmt::format("tensor '{}'", what)};
  return shape;
}

std::int64_t product(const Shape& shape) {
  std::int64_t product = 1;
  bool zero = false;
  for (const std::int64_t dim : shape) {
    zero = zero || dim == 0;
    product = saturating_multiply(product, std::max<std::int64_t>(dim, 1));
  }
  return zero ? 0 : product;
}

Result<Attribute> convert(const ::onnx::AttributeProto& proto) {
  Attribute out{.integer = proto.i(), .number = static_cast<double>(proto.f()), .text = proto.s()};
  out.integers.assign(proto.ints().begin(), proto.ints().end());
  out.numbers.assign(proto.floats().begin(), proto.floats().end());
  if (proto.has_t()) {
    auto shape = checked_shape(proto.t().dims(), proto.name());
    if (!shape) return shape.error();
    out.tensor = contents(proto.t(), product(*shape));
    out.tensor_shape = std::move(*shape);
    out.tensor_type = element_type(proto.t().data_type()).value_or(ElementType::kF32);
  }
  return out;
}

// Tables that modules register beside their weights: rotary frequencies, cached tables, masks.
bool is_buffer_name(std::string_view name) {
  for (const std::string_view part : {"inv_freq", "cos_cache", "sin_cache", "freqs_c", "mask"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

class Importer {
 public:
  Importer(const ::onnx::ModelProto& model, const WorkloadOptions& options, BoundDimensions& bound)
      : model_(model), options_(options), bound_(bound) {}

  Result<ValueGraph> run() {
    if (!model_.has_graph() || model_.graph().node_size() == 0)
      return Error{"has no nodes", "", "it is not an ONNX model, or an empty one"};
    for (const auto step : {&Importer::read_opset, &Importer::read_functions, &Importer::read_initializers,
                            &Importer::read_inputs, &Importer::read_nodes, &Importer::read_shapes})
      if (auto status = (this->*step)(); !status) return status.error();
    for (const auto& output : model_.graph().output())
      if (const auto found = names_.find(output.name()); found != names_.end())
        graph_[found->second].graph_output = true;
    if (auto status = sort_nodes(); !status) return status.error();
    return std::move(graph_);
  }

 private:
  Status read_opset() {
    for (const auto& import : model_.opset_import())
      if (import.domain().empty() || import.domain() == "ai.onnx") graph_.opset = import.version();
    if (graph_.opset == 0) return Error{"does not say which operator set it uses", "opset_import"};
    if (graph_.opset < kOldestOpset)
      return Error{fmt::format("uses operator set {}; {} is the oldest supported", graph_.opset, kOldestOpset),
                   "opset_import", fmt::format("export again with opset_version={} or later", kOldestOpset)};
    return Done{};
  }

  Status read_functions() {
    for (const auto& function : model_.functions()) functions_[function.domain() + "::" + function.name()] = &function;
    return Done{};
  }

  ValueId value(const std::string& name) {
    const auto [found, fresh] = names_.try_emplace(name, ValueId::none());
    if (fresh) found->second = graph_.add({.name = name});
    return found->second;
  }

  Status read_initializers() {
    for (const auto& tensor : model_.graph().initializer()) {
      auto shape = checked_shape(tensor.dims(), tensor.name());
      if (!shape) return shape.error();
      const auto type = element_type(tensor.data_type());
      if (!type)
        return Error{fmt::format("has the unknown element type {}", tensor.data_type()),
                     fmt::format("tensor '{}'", tensor.name())};
      Value& made = graph_[value(tensor.name())];
      made.type = *type;
      const std::int64_t elements = product(*shape);
      const bool buffer = elements <= 1 || is_buffer_name(tensor.name());
      made.kind = is_floating(*type) && !buffer ? ValueKind::kParameter : ValueKind::kConstant;
      made.data = contents(tensor, elements);
      made.shape = std::move(*shape);
      for (const auto& entry : tensor.external_data())
        if (entry.key() == "location" || entry.key() == "offset") made.storage += entry.value() + "@";
      made.parameter = names_[tensor.name()];
    }
    return Done{};
  }

  // Open dimensions: the first of a tensor is the batch, others the sequence, unless their names say otherwise. One
  // name is one size wherever it stands.
  std::int64_t bind(const std::string& symbol, int axis) {
    if (const auto known = symbols_.find(symbol); !symbol.empty() && known != symbols_.end()) return known->second;
    const auto has = [&](std::string_view part) { return symbol.find(part) != std::string::npos; };
    const bool batch = has("batch") || (!has("seq") && !has("len") && axis == 0);
    std::int64_t size = batch ? options_.microbatch : options_.sequence;
    if (size == 0) size = batch ? 1 : kDefaultSequence;
    if (!symbol.empty()) symbols_[symbol] = size;
    const std::string note = fmt::format("open dimension '{}' taken as the {} of {}", symbol.empty() ? "?" : symbol,
                                         batch ? "microbatch" : "sequence", size);
    if (std::ranges::find(bound_.notes, note) == bound_.notes.end()) bound_.notes.push_back(note);
    return size;
  }

  Status read_inputs() {
    bool first = true;
    for (const auto& input : model_.graph().input()) {
      if (names_.contains(input.name())) continue;  // an initializer listed as input too
      Value& made = graph_[value(input.name())];
      const auto& tensor = input.type().tensor_type();
      if (!input.type().has_tensor_type() || !tensor.has_shape())
        return Error{"has no shape", fmt::format("input '{}'", input.name()), "export with the inputs' shapes"};
      made.type = element_type(tensor.elem_type()).value_or(ElementType::kI64);
      Shape shape;
      for (int axis = 0; axis < tensor.shape().dim_size(); ++axis) {
        const auto& dim = tensor.shape().dim(axis);
        if (!dim.has_dim_value() && axis > 0 && tensor.shape().dim_size() >= 4)
          return Error{fmt::format("dimension {} ('{}') is open", axis, dim.dim_param()),
                       fmt::format("input '{}'", input.name()), "export with a fixed image size"};
        shape.push_back(dim.has_dim_value() ? dim.dim_value() : bind(dim.dim_param(), axis));
        if (shape.back() < 1 || shape.back() > kLargestDimension)
          return Error{fmt::format("has a dimension of {}, which is not between 1 and 2^40", shape.back()),
                       fmt::format("input '{}'", input.name())};
      }
      if (first && !shape.empty()) {
        bound_.batch = shape[0];
        bound_.sequence = shape.size() == 2 || shape.size() == 3 ? shape[1] : 0;
        if (auto status = check_against_options(input.name()); !status) return status;
        first = false;
      }
      made.shape = std::move(shape);
    }
    return Done{};
  }

  // What was asked for is what the file has, or could be made to have.
  Status check_against_options(const std::string& name) const {
    const std::string where = fmt::format("input '{}'", name);
    if (options_.microbatch != 0 && options_.microbatch != bound_.batch)
      return Error{fmt::format("the file fixes the batch at {}, not {}", bound_.batch, options_.microbatch), where,
                   "leave --microbatch out, or export with a dynamic batch"};
    if (options_.sequence != 0 && bound_.sequence == 0)
      return Error{"the first input is no sequence", where, "leave --seq out"};
    if (options_.sequence != 0 && options_.sequence != bound_.sequence)
      return Error{fmt::format("the file fixes the sequence at {}, not {}", bound_.sequence, options_.sequence), where,
                   "leave --seq out, or export with a dynamic sequence"};
    return Done{};
  }

  Status read_nodes() {
    for (const auto& node : model_.graph().node())
      if (auto status = add_node(node, {}, 0); !status) return status;
    return Done{};
  }

  // `renamed` maps the names inside a function body to values of the caller.
  Status add_node(const ::onnx::NodeProto& node, const std::unordered_map<std::string, ValueId>& renamed, int depth,
                  const std::string& scope = {}) {
    if (graph_.nodes.size() >= kMostNodes) return Error{fmt::format("has more than {} nodes", kMostNodes)};
    const auto resolve = [&](const std::string& name) {
      if (name.empty()) return ValueId::none();
      if (const auto found = renamed.find(name); found != renamed.end()) return found->second;
      return value(scope + name);
    };
    const auto function = functions_.find(node.domain() + "::" + node.op_type());
    if (function != functions_.end()) return inline_function(*function->second, node, resolve, depth);
    if (is_quantised(node.op_type()))
      return Error{"works on quantised weights, which cannot be trained", place(node),
                   "export the model before quantising it"};
    GraphNode made{
        .name = node.name(), .op = node.op_type(), .domain = node.domain() == "ai.onnx" ? "" : node.domain()};
    // Operators of other domains share names with the standard's but not their meaning.
    if (!made.domain.empty()) made.op = made.domain + "." + made.op;
    for (const auto& input : node.input()) made.inputs.push_back(resolve(input));
    for (const auto& output : node.output()) {
      const ValueId id = resolve(output);
      if (id.valid()) {
        if (graph_[id].producer.valid() || graph_[id].shape)
          return Error{fmt::format("makes '{}', which is made already", output), place(node)};
        graph_[id].producer = GraphNodeId(graph_.nodes.size());
      }
      made.outputs.push_back(id);
    }
    for (const auto& proto : node.attribute()) {
      if (proto.has_g()) capture(proto.g(), resolve, made, 0);
      for (const auto& graph : proto.graphs()) capture(graph, resolve, made, 0);
      auto attribute = convert(proto);
      if (!attribute) return within(place(node), attribute.error());
      made.attributes[proto.name()] = std::move(*attribute);
    }
    graph_.nodes.push_back(std::move(made));
    return Done{};
  }

  static bool is_quantised(const std::string& op) {
    return op.starts_with("QLinear") || op == "DequantizeLinear" || op == "DynamicQuantizeLinear" ||
           op == "MatMulInteger" || op == "ConvInteger" || op == "MatMulNBits";
  }

  // Values of the outer graph that the body of an If or a Loop reads: the node depends on them as on its inputs.
  template <typename Resolve>
  void capture(const ::onnx::GraphProto& body, const Resolve& resolve, GraphNode& into, int depth) {
    into.has_subgraph = true;
    if (depth > kDeepestInlining) return;
    std::set<std::string> inside;
    for (const auto& input : body.input()) inside.insert(input.name());
    for (const auto& tensor : body.initializer()) inside.insert(tensor.name());
    for (const auto& node : body.node())
      for (const auto& output : node.output()) inside.insert(output);
    for (const auto& node : body.node()) {
      for (const auto& input : node.input()) {
        if (input.empty() || inside.contains(input) || !names_.contains(input)) continue;
        const ValueId id = resolve(input);
        if (std::ranges::find(into.inputs, id) == into.inputs.end()) into.inputs.push_back(id);
      }
      for (const auto& attribute : node.attribute())
        if (attribute.has_g()) capture(attribute.g(), resolve, into, depth + 1);
    }
  }

  static std::string place(const ::onnx::NodeProto& node) {
    return fmt::format("node '{}' ({})", node.name(), node.op_type());
  }

  template <typename Resolve>
  Status inline_function(const ::onnx::FunctionProto& function, const ::onnx::NodeProto& call, const Resolve& resolve,
                         int depth) {
    if (depth >= kDeepestInlining) return Error{"its functions call each other without end", place(call)};
    if (++inlined_ > kMostInlinedCalls)
      return Error{fmt::format("its functions are called more than {} times", kMostInlinedCalls), place(call)};
    std::unordered_map<std::string, ValueId> renamed;
    for (int i = 0; i < function.input_size() && i < call.input_size(); ++i)
      renamed[function.input(i)] = resolve(call.input(i));
    for (int i = 0; i < function.output_size() && i < call.output_size(); ++i)
      renamed[function.output(i)] = resolve(call.output(i));
    const std::string scope = fmt::format("{}#{}/", function.name(), inlined_);
    for (const auto& node : function.node()) {
      ::onnx::NodeProto bound = node;
      bound.clear_attribute();
      for (const auto& attribute : node.attribute()) {
        if (attribute.ref_attr_name().empty()) {
          *bound.add_attribute() = attribute;
          continue;
        }
        // A reference takes the caller's value; where the caller gives none, the operator's own default holds.
        for (const auto& given : call.attribute()) {
          if (given.name() != attribute.ref_attr_name()) continue;
          *bound.add_attribute() = given;
          bound.mutable_attribute(bound.attribute_size() - 1)->set_name(attribute.name());
        }
      }
      if (auto status = add_node(bound, renamed, depth + 1, scope); !status) return status;
    }
    return Done{};
  }

  // Shapes the file gives for intermediate values, where every dimension is known.
  Status read_shapes() {
    const auto read = [&](const ::onnx::ValueInfoProto& info) {
      const auto found = names_.find(info.name());
      if (found == names_.end() || !info.type().has_tensor_type()) return;
      Value& known = graph_[found->second];
      if (known.shape) return;
      const auto& tensor = info.type().tensor_type();
      known.type = element_type(tensor.elem_type()).value_or(known.type);
      if (!tensor.has_shape()) return;
      Shape shape;
      bool literal = true;
      for (const auto& dim : tensor.shape().dim()) {
        const auto symbol = symbols_.find(dim.dim_param());
        literal = literal && dim.has_dim_value();
        if (dim.has_dim_value() && dim.dim_value() >= 0 && dim.dim_value() <= kLargestDimension)
          shape.push_back(dim.dim_value());
        else if (symbol != symbols_.end())
          shape.push_back(symbol->second);
        else
          return;
      }
      if (literal) known.file_shape = shape;
      known.shape = std::move(shape);
    };
    for (const auto& info : model_.graph().value_info()) read(info);
    for (const auto& info : model_.graph().output()) read(info);
    return Done{};
  }

  // Producers before consumers, otherwise in the order of the file.
  Status sort_nodes() {
    const auto readers = graph_.consumers();
    std::vector<std::size_t> waiting(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const ValueId input : graph_.nodes[i].inputs) {
        if (!input.valid()) continue;
        if (graph_[input].producer.valid())
          ++waiting[i];
        else if (graph_[input].kind == ValueKind::kRuntime && !graph_[input].shape)
          return Error{fmt::format("reads '{}', which nothing makes", graph_[input].name),
                       fmt::format("node '{}' ({})", graph_.nodes[i].name, graph_.nodes[i].op)};
      }
    std::vector<GraphNode> sorted;
    std::vector<std::size_t> ready;  // a heap with the earliest node of the file on top
    const auto later = std::greater<>();
    for (std::size_t i = waiting.size(); i-- > 0;)
      if (waiting[i] == 0) ready.push_back(i);
    std::ranges::make_heap(ready, later);
    std::vector<bool> done(graph_.nodes.size());
    while (!ready.empty()) {
      std::ranges::pop_heap(ready, later);
      const std::size_t next = ready.back();
      ready.pop_back();
      done[next] = true;
      for (const ValueId output : graph_.nodes[next].outputs) {
        if (!output.valid()) continue;
        graph_[output].producer = GraphNodeId(sorted.size());
        for (const GraphNodeId reader : readers[output.index()]) {
          const auto uses = std::ranges::count(graph_[reader].inputs, output);
          waiting[reader.index()] -= static_cast<std::size_t>(uses);
          if (waiting[reader.index()] != 0) continue;
          ready.push_back(reader.index());
          std::ranges::push_heap(ready, later);
        }
      }
      sorted.push_back(graph_.nodes[next]);
    }
    for (std::size_t i = 0; i < done.size(); ++i)
      if (!done[i])
        return Error{"lies on a cycle", fmt::format("node '{}' ({})", graph_.nodes[i].name, graph_.nodes[i].op)};
    graph_.nodes = std::move(sorted);
    return Done{};
  }

  const ::onnx::ModelProto& model_;
  const WorkloadOptions& options_;
  BoundDimensions& bound_;
  ValueGraph graph_;
  std::unordered_map<std::string, ValueId> names_;
  std::unordered_map<std::string, const ::onnx::FunctionProto*> functions_;
  std::unordered_map<std::string, std::int64_t> symbols_;
  int inlined_ = 0;
};

}  // namespace

std::int64_t Value::elements() const { return shape ? product(*shape) : 0; }

const Attribute* GraphNode::find(std::string_view key) const {
  const auto found = attributes.find(key);
  return found == attributes.end() ? nullptr : &found->second;
}

std::int64_t GraphNode::integer(std::string_view key, std::int64_t otherwise) const {
  const Attribute* attribute = find(key);
  return attribute == nullptr ? otherwise : attribute->integer;
}

ValueId ValueGraph::add(Value value) {
  values.push_back(std::move(value));
  return ValueId(values.size() - 1);
}

std::vector<std::vector<GraphNodeId>> ValueGraph::consumers() const {
  std::vector<std::vector<GraphNodeId>> readers(values.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].removed) continue;
    for (const ValueId input : nodes[i].inputs) {
      if (!input.valid()) continue;
      auto& list = readers[input.index()];
      if (list.empty() || list.back() != GraphNodeId(i)) list.emplace_back(i);
    }
  }
  return readers;
}

void ValueGraph::drop_identities() {
  std::vector<ValueId> same(values.size());
  for (GraphNode& node : nodes) {
    for (ValueId& input : node.inputs)
      if (input.valid() && same[input.index()].valid()) input = same[input.index()];
    if (node.removed || node.op != "Identity" || node.inputs.size() != 1 || !node.inputs[0].valid()) continue;
    const Value& output = (*this)[node.outputs[0]];
    same[node.outputs[0].index()] = node.inputs[0];
    (*this)[node.inputs[0]].graph_output = (*this)[node.inputs[0]].graph_output || output.graph_output;
    node.removed = true;
  }
}

const GraphNode* ValueGraph::maker(ValueId id, std::string_view op) const {
  if (!id.valid() || !(*this)[id].producer.valid()) return nullptr;
  const GraphNode& node = (*this)[(*this)[id].producer];
  return node.removed || (!op.empty() && node.op != op) ? nullptr : &node;
}

Result<ValueGraph> make_value_graph(const ::onnx::ModelProto& model, const WorkloadOptions& options,
                                    BoundDimensions& bound) {
  return Importer(model, options, bound).run();
}

}  // namespace phaze::workload::onnx
