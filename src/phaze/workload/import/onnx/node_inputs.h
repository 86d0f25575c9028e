// What shape rules ask of a node: shapes and contents of its inputs, and results of the simplest kinds.
#pragma once

#include <limits>
#include <optional>

#include "phaze/base/units.h"
#include "phaze/workload/import/onnx/shape_rules.h"

namespace phaze::workload::onnx {

inline std::int64_t count(const Shape& shape) {
  std::int64_t product = 1;
  for (const std::int64_t dim : shape) {
    if (dim == 0) return 0;
    product = saturating_multiply(product, dim);
  }
  return product;
}

inline std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  if (axis < 0) axis += static_cast<std::int64_t>(rank);
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(axis);
}

// One node's view of the graph: shapes and contents of its inputs.
class NodeInputs {
 public:
  NodeInputs(const ValueGraph& graph, const GraphNode& node) : graph_(graph), node_(node) {}

  const GraphNode& node() const { return node_; }
  std::int64_t opset() const { return graph_.opset; }
  std::size_t size() const { return node_.inputs.size(); }
  bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i].valid(); }
  const Shape* shape(std::size_t i) const {
    return has(i) && graph_[node_.inputs[i]].shape ? &*graph_[node_.inputs[i]].shape : nullptr;
  }
  // Contents as integers.
  std::optional<Shape> integers(std::size_t i) const {
    if (!has(i) || !graph_[node_.inputs[i]].data) return std::nullopt;
    Shape out;
    for (const double value : *graph_[node_.inputs[i]].data)
      out.push_back(value >= 9.2e18    ? std::numeric_limits<std::int64_t>::max()
                    : value <= -9.2e18 ? std::numeric_limits<std::int64_t>::min()
                                       : static_cast<std::int64_t>(value));
    return out;
  }
  // Axes come as an attribute in older operator sets and as an input in newer ones.
  std::optional<Shape> axes(std::size_t input) const {
    if (const Attribute* attribute = node_.find("axes")) return attribute->integers;
    return integers(input);
  }

 private:
  const ValueGraph& graph_;
  const GraphNode& node_;
};

inline Shapes unknown(const NodeInputs& in) { return Shapes(in.node().outputs.size()); }

inline Shapes all_outputs(const NodeInputs& in, const std::optional<Shape>& shape) {
  return Shapes(in.node().outputs.size(), shape);
}

}  // namespace phaze::workload::onnx
