// Tensor and sequence parallelism: one rank's share of a forward graph, with the collectives that join the ranks.
//
// Builders describe the whole computation and mark each weight as split by columns, by rows, or not at all (Op::Split).
// slice() follows the data: a column-split product turns a whole tensor into one that is divided over the ranks;
// operators on divided tensors do a share of the work; a row-split product sums the shares with an all-reduce. Where a
// whole tensor enters a column-split product, the backward pass has the all-reduce instead.
//
// With sequence parallelism, tensors outside the divided regions hold s/t tokens: an all-gather opens each region and a
// reduce-scatter closes it (Korthikanti et al. 2022).
#pragma once

#include "phaze/base/result.h"
#include "phaze/workload/op_graph.h"

namespace phaze::workload {

struct TensorParallel {
  std::int64_t width = 1;
  bool sequence = false;

  bool operator==(const TensorParallel&) const = default;
};

// The graph of one rank. An operator that mixes divided and whole tensors is an error that names it.
Result<OpGraph> slice(const OpGraph& whole, const TensorParallel& parallel);

}  // namespace phaze::workload
