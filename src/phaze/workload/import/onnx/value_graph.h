// The nodes and values of an ONNX graph in index form, with what is known of each value: shape, type, contents.
//
// This is the importer's working representation. Each pass (infer, patterns, layers) reads and refines it; lower.h
// turns it into an OpGraph.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/ids.h"
#include "phaze/base/result.h"
#include "phaze/workload/element_type.h"
#include "phaze/workload/transformer/build.h"

namespace onnx {
class ModelProto;
class AttributeProto;
class TensorProto;
}  // namespace onnx

namespace phaze::workload::onnx {

using ValueId = Id<struct ValueTag>;
using GraphNodeId = Id<struct GraphNodeTag>;
using Shape = std::vector<std::int64_t>;

// Constants of more elements are known by their shape alone.
inline constexpr std::int64_t kMostContents = 1 << 14;

enum class ValueKind : std::uint8_t {
  kRuntime,    // depends on the graph's inputs
  kConstant,   // follows from the file alone; no gradient
  kParameter,  // a float initializer, or a view or cast of one
};

struct Value {
  std::string name;
  ValueKind kind = ValueKind::kRuntime;
  ElementType type = ElementType::kF32;
  std::optional<Shape> shape;
  std::optional<Shape> file_shape;          // as the file gives it, where it leaves nothing open
  std::optional<std::vector<double>> data;  // contents of small constants
  GraphNodeId producer = {};
  ValueId parameter = {};    // for a view of a parameter: the initializer itself
  std::string storage = {};  // where the weights lie; equal places are tied parameters
  bool graph_output = false;

  std::int64_t elements() const;
};

struct Attribute {
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  std::optional<Shape> tensor_shape;
  std::optional<std::vector<double>> tensor;
  ElementType tensor_type = ElementType::kF32;
};

struct GraphNode {
  std::string name, op, domain;
  std::vector<ValueId> inputs;  // none() where an optional input is left out
  std::vector<ValueId> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  bool removed = false;
  bool has_subgraph = false;  // If, Loop, Scan: captured values are among the inputs
  bool attention_core = false;

  const Attribute* find(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t otherwise) const;
};

class ValueGraph {
 public:
  std::vector<GraphNode> nodes;  // topological order
  std::vector<Value> values;
  std::int64_t opset = 0;

  Value& operator[](ValueId id) { return values[id.index()]; }
  const Value& operator[](ValueId id) const { return values[id.index()]; }
  GraphNode& operator[](GraphNodeId id) { return nodes[id.index()]; }
  const GraphNode& operator[](GraphNodeId id) const { return nodes[id.index()]; }

  ValueId add(Value value);
  // The nodes that read each value, removed ones left out.
  std::vector<std::vector<GraphNodeId>> consumers() const;
  // Identity nodes that depend on the graph's inputs disappear; whoever read their result reads their input.
  void drop_identities();
  // The node that made it, if it is there and of that kind.
  const GraphNode* maker(ValueId id, std::string_view op = {}) const;
};

// Which dimensions were left open in the file, and what they became.
struct BoundDimensions {
  std::int64_t batch = 1;
  std::int64_t sequence = 0;  // 0: the first input is no sequence
  std::vector<std::string> notes;
};

// Checks the file's structure, sorts its nodes, inlines its local functions and binds open dimensions to the options.
Result<ValueGraph> make_value_graph(const ::onnx::ModelProto& model, const WorkloadOptions& options,
                                    BoundDimensions& bound);

}  // namespace phaze::workload::onnx
