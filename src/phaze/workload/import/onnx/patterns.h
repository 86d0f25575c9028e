// Groups of primitive nodes that are one operator to people: norms, activations, rotary positions, biases, attention.
//
// Exporters spell these out in five to ten nodes each. Recognised groups become one node with one of the operator names
// below; everything else stays as it is. Recognition looks at structure alone, never at names.
#pragma once

#include <string_view>

#include "phaze/workload/import/onnx/value_graph.h"

namespace phaze::workload::onnx {

// The domain of recognised operators.
inline constexpr std::string_view kPhazeDomain = "phaze";
// Inputs: x, weight, [bias].
inline constexpr std::string_view kRmsNorm = "RmsNorm";
inline constexpr std::string_view kLayerNorm = "LayerNorm";
// Input: x.
inline constexpr std::string_view kGelu = "Gelu";
inline constexpr std::string_view kSilu = "Silu";
// Inputs: x, cosines, sines.
inline constexpr std::string_view kRotary = "Rotary";
// Inputs: a, b, bias; the attributes are those of the product it came from.
inline constexpr std::string_view kBiasedMatMul = "BiasedMatMul";
// SplitToSequence and its SequenceAt nodes: one input, the parts.
inline constexpr std::string_view kSplitParts = "SplitParts";

void recognise_patterns(ValueGraph& graph);

}  // namespace phaze::workload::onnx
