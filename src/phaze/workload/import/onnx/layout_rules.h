// Shape rules of operators that arrange elements anew without computing on them.
#pragma once

#include "phaze/workload/import/onnx/node_inputs.h"

namespace phaze::workload::onnx {

Shapes reshape(const NodeInputs& in);
Shapes transpose(const NodeInputs& in);
Shapes concat(const NodeInputs& in);
Shapes split(const NodeInputs& in);
Shapes split_to_sequence(const NodeInputs& in);
Shapes slice(const NodeInputs& in);
Shapes gather(const NodeInputs& in);
Shapes gather_nd(const NodeInputs& in);
Shapes second_shape(const NodeInputs& in);
Shapes unsqueeze(const NodeInputs& in);
Shapes squeeze(const NodeInputs& in);
Shapes expand(const NodeInputs& in);
Shapes tile(const NodeInputs& in);

}  // namespace phaze::workload::onnx
