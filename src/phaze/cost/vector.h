// Vector operators: cycles per element over lanes, or bytes over bandwidth.
//
// Where a chip has units for every function, cycles per element are those of the 2024 tables; operators with statistics
// along a row (norms, softmax, sums) take a pass more, and where a row does not fit the core buffer they read it again
// from the global buffer, or from HBM where not even the rows in work fit that. Where a chip runs kernels of plain
// instructions, a GPU, the count is that of instructions.
#pragma once

#include <cstdint>

#include "phaze/cost/estimate.h"
#include "phaze/hardware/chip.h"
#include "phaze/workload/op.h"

namespace phaze::cost {

enum class VectorUnits : std::uint8_t { kDedicated, kKernels };
VectorUnits vector_units(const hardware::Chip& chip);

double cycles_per_element(const workload::VectorWork& work, VectorUnits units);

// True for operators that need statistics of a whole row before they can finish it.
bool reduces_rows(workload::VectorOp op);

// Seconds that `cores` vector cores compute for, memory aside.
double vector_compute_seconds(const workload::VectorWork& work, const hardware::Chip& chip, std::int64_t cores);

// `hbm_bytes`: what the operator reads and writes once. Without the start cost.
Estimate vector_cost(const workload::VectorWork& work, double hbm_bytes, const hardware::Chip& chip,
                     std::int64_t cores);

// Bytes that the operator moves when each of its tensors passes once, for rows × cols elements of the given size.
double vector_bytes(const workload::VectorWork& work, std::int64_t element_bytes);

}  // namespace phaze::cost
