// The shape of each operator's results from the shapes, and where needed the contents, of its inputs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "phaze/workload/import/onnx/value_graph.h"

namespace phaze::workload::onnx {

// No dimension may be larger; products of a few of them still fit 64 bits.
inline constexpr std::int64_t kLargestDimension = std::int64_t{1} << 40;

// One per output; nothing where the operator is unknown or its inputs do not determine it.
using Shapes = std::vector<std::optional<Shape>>;

Shapes infer_shapes(const ValueGraph& graph, const GraphNode& node);

// How many inputs an operator cannot do without; zero for operators that are not known.
std::size_t required_inputs(std::string_view op);

// Right-aligned broadcasting; nothing when the shapes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace phaze::workload::onnx
