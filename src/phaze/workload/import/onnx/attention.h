// Attention cores in an ONNX graph: scores = Q·Kᵀ, element-wise work, softmax, more element-wise work, times V.
#pragma once

#include <string_view>

#include "phaze/workload/import/onnx/value_graph.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::workload::onnx {

// Set on an Attention node whose probabilities were dropped out.
inline constexpr std::string_view kHasDropout = "phaze_dropout";

// Eager: the nodes of each core are marked (GraphNode::attention_core). Flash: each becomes one Attention node
// (inputs Q, K, V and whatever is added to the scores).
void find_attention(ValueGraph& graph, AttentionKind kind);

}  // namespace phaze::workload::onnx
