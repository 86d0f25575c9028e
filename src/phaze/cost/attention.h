// Fused, tiled attention: scores are made, normalised and used without leaving the chip.
//
// Forward multiplies twice per visible score (queries by keys, weights by values), backward five times, because scores
// are made again. The products run on tensor cores, the exponentials on vector cores, beside each other; queries, keys,
// values, outputs and their gradients pass HBM once. Causal masks and windows leave out whole tiles, so only visible
// scores count.
#pragma once

#include <cstdint>

#include "phaze/cost/estimate.h"
#include "phaze/hardware/chip.h"
#include "phaze/workload/op.h"

namespace phaze::cost {

// `hbm_bytes`: its tensors once. Without the start cost.
Estimate attention_cost(const workload::Attention& attention, double hbm_bytes, const hardware::Chip& chip,
                        std::int64_t tensor_cores, std::int64_t vector_cores);

}  // namespace phaze::cost
