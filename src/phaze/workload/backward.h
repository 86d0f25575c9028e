// The backward pass of a forward graph, derived operator by operator as reverse-mode differentiation does.
//
// A product Y = X·W gives two independent products, dX = dY·Wᵀ and dW = Xᵀ·dY; only dX is on the critical path. A
// vector operator gives its own gradient operator; linear ones give none or a sum. A tensor read by several operators
// has its gradients added. A collective gives its adjoint. What the gradients read of the forward pass is what must be
// kept: the saved tensors are found here, not declared.
//
// Under sequence parallelism the gathered input of a column-parallel product is not kept: the kept part is gathered
// again in the backward pass, as Megatron does.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/base/units.h"
#include "phaze/workload/op_graph.h"

namespace phaze::workload {

enum class Recompute : std::uint8_t { kNone, kSelective, kFull };

// Bytes of activations kept from forward to backward, per microbatch, under each policy:
//   none       all that the gradients read;
//   selective  not what lies between queries, keys, values and context, which is computed again;
//   full       the layer's inputs.
// Row statistics of norms (8 bytes per token) are left out, as in the published formulas.
struct SavedBytes {
  Bytes none, selective, full;

  Bytes under(Recompute policy) const {
    return policy == Recompute::kNone ? none : policy == Recompute::kSelective ? selective : full;
  }
  bool operator==(const SavedBytes&) const = default;
};

struct BackwardPass {
  OpGraph graph;
  std::vector<TensorId> saved;            // forward tensors kept under Recompute::kNone
  std::vector<TensorId> saved_selective;  // under Recompute::kSelective
};

BackwardPass derive_backward(const OpGraph& forward);

// `whole`: the forward graph before slicing, whose inputs are what full recompute keeps: published as 2·s·b·h whatever
// the tensor parallelism, the layer's input counts whole on every rank.
SavedBytes saved_bytes(const OpGraph& forward, const BackwardPass& backward, const OpGraph& whole);

// The part of the forward pass that runs again before the backward pass: nothing, the attention core, or all of it.
OpGraph recomputed(const OpGraph& forward, Recompute policy);

}  // namespace phaze::workload
