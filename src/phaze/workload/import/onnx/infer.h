// Shapes of all values, and the contents of those that follow from the file alone.
//
// Exporters compute shapes with operators (Shape, Gather, Concat, ...). Walking the nodes in order with the contents of
// small constants at hand settles these; a value that does not depend on the graph's inputs becomes a constant, and the
// nodes that made it disappear. Shapes given in the file fill in for operators that are not known here.
#pragma once

#include "phaze/base/result.h"
#include "phaze/workload/import/onnx/value_graph.h"

namespace phaze::workload::onnx {

Status infer(ValueGraph& graph);

}  // namespace phaze::workload::onnx
