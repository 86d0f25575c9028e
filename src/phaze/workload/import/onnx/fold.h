// The contents of small constants: what shape arithmetic needs.
#pragma once

#include "phaze/workload/import/onnx/value_graph.h"

namespace phaze::workload::onnx {

// Fills in the data of the node's outputs if it can be computed; leaves them unknown otherwise. Never fails.
void fold(ValueGraph& graph, const GraphNode& node);

}  // namespace phaze::workload::onnx
