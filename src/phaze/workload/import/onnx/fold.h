// The contents of small constants: what shape arithmetic needs.
#pragma once

#include "phaze/workload/import/onnx/value_graph.h"

namespace phaze::workload::onnx {

// Fills in the data of the node's outputs if it can be computed; leaves them unknown otherwise. Never fails.
void fold(ValueGraph& graph, const GraphNode& node);

// The element type behind the "to" attribute of Cast.
ElementType cast_target(std::int64_t to);

}  // namespace phaze::workload::onnx
