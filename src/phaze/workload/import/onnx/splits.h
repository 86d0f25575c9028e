// Megatron's pattern in a graph that says nothing of it: which weights are split by columns and which by rows.
#pragma once

#include <span>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/workload/op_graph.h"

namespace phaze::workload::onnx {

struct Splits {
  std::vector<Split> of_op;      // for products with a weight, and look-ups
  std::vector<bool> is_divided;  // of each tensor, so that a layer knows which of its inputs arrive divided
  std::int64_t left_whole = 0;   // products that every rank computes
};

// Products that read a whole tensor are split by columns, those that read a divided one by rows. Where this leads to a
// contradiction (a norm or a sum of a divided tensor), the column-split products behind it are left whole. An error
// when no consistent assignment divides anything, or a dimension is not a multiple of `width`.
// `heads`: of each operator of an attention core, 0 elsewhere.
Result<Splits> infer_splits(const OpGraph& graph, std::span<const std::int64_t> heads, std::int64_t width);

}  // namespace phaze::workload::onnx
