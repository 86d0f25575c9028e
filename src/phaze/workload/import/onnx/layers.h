// Which layer of the model each operator belongs to.
//
// Names first: exporters keep the module path in the names of weights ("model.layers.3.mlp.up_proj.weight") or of nodes
// ("/model/layers.3/mlp/..."). The first number in a path counts the layers. An operator without such a name goes with
// the latest layer that feeds it.
//
// Without names, structure: the sequence of operators (kinds and sizes) of a deep model repeats with some period; the
// longest repetition is the stack of layers, and where to cut within a period is chosen so that the least bytes cross.
#pragma once

#include <string>
#include <vector>

#include "phaze/workload/import/onnx/lower.h"

namespace phaze::workload::onnx {

struct Stages {
  std::vector<std::string> names;        // in order; equal layers are found later, by comparing them
  std::vector<std::size_t> stage_of_op;  // never decreases along an edge
};

Stages find_layers(const ValueGraph& values, const Lowered& lowered);

// "model.layers.3" from "model.layers.3.mlp.weight", or "" when the path has no number.
std::string layer_prefix(std::string_view path);

// A repetition in a sequence of signatures: `count` ≥ 2 copies of `period` entries from `start`; count 0 when there is
// none.
struct Repetition {
  std::size_t start = 0, period = 0, count = 0;
};
Repetition longest_repetition(std::span<const std::uint64_t> signatures);

}  // namespace phaze::workload::onnx
