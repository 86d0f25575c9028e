// Fusion: element-wise operators join the operator that feeds them.
//
// An element-wise operator fuses into the matrix product, attention or element-wise operator whose result it reads when
// it is the only reader of that operator: then everything behind the product is behind the fused operator too, so
// reachability among the remaining operators is unchanged. Tensors that were only passed between fused operators no
// longer reach memory, unless the backward pass keeps them. A fused product holds a tensor core and a vector core.
#pragma once

#include <span>

#include "phaze/workload/op_graph.h"

namespace phaze::workload {

// `kept`: tensors that must be written whatever reads them (saved for the backward pass).
OpGraph fuse(const OpGraph& graph, std::span<const TensorId> kept = {});

}  // namespace phaze::workload
