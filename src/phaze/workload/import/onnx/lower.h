// From ONNX nodes to operators with sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/workload/import/onnx/value_graph.h"
#include "phaze/workload/op_graph.h"

namespace phaze::workload::onnx {

struct Lowered {
  OpGraph graph;                                // the whole forward pass
  std::vector<GraphNodeId> origin;              // of each operator
  std::vector<ValueId> parameters;              // the initializer behind each tensor, or none
  std::vector<std::int64_t> heads;              // of each operator of an attention core; 0 elsewhere
  std::map<std::string, std::int64_t> unknown;  // operators costed by their bytes, with counts
};

Result<Lowered> lower(const ValueGraph& graph);

}  // namespace phaze::workload::onnx
