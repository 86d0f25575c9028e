#include "phaze/cost/vector.h"

#include <algorithm>
#include <cmath>

#include "phaze/hardware/power.h"

namespace phaze::cost {

using workload::VectorOp;
using workload::VectorWork;

namespace {

struct Cycles {
  double forward = 1;
  double backward = 1;
};

// The tables of the 2024 study: a lane with units of its own for every function.
Cycles study_cycles(VectorOp op) {
  switch (op) {
    case VectorOp::kTanh: return {27, 2};
    case VectorOp::kSin:
    case VectorOp::kCos:
    case VectorOp::kErf:
    case VectorOp::kLog:
    case VectorOp::kExp: return {13, 2};
    case VectorOp::kSigmoid:
    case VectorOp::kSilu: return {12, 2};
    case VectorOp::kDiv:
    case VectorOp::kReciprocal:
    case VectorOp::kReduceMean: return {10, 10};
    case VectorOp::kPow:
    case VectorOp::kSqrt: return {15, 16};
    case VectorOp::kDropout: return {2, 1};
    case VectorOp::kSoftmax: return {10, 2};
    case VectorOp::kLogSoftmax:
    case VectorOp::kCrossEntropy: return {13, 2};
    default: return {1, 1};  // norms, relu, gelu, sums, products, moves
  }
}

// Instructions per element that a GPU's kernels issue, one per lane and cycle: address arithmetic, conversions between
// 16 and 32 bits and polynomial approximations included. From PyTorch's kernels on an H200 (2^27 and 2^28 elements, the
// time beyond what memory takes); operators that memory always binds have a nominal count.
Cycles kernel_instructions(VectorOp op, std::int64_t row) {
  switch (op) {
    case VectorOp::kGelu:
    case VectorOp::kErf: return {40, 52};
    case VectorOp::kSilu:
    case VectorOp::kSigmoid:
    case VectorOp::kTanh:
    case VectorOp::kExp:
    case VectorOp::kLog:
    case VectorOp::kPow:
    case VectorOp::kSin:
    case VectorOp::kCos: return {32, 40};
    case VectorOp::kDropout: return {54, 20};  // random numbers
    case VectorOp::kMask: return {75, 20};     // an operand that repeats over heads is not read in whole words
    case VectorOp::kSoftmax:
    case VectorOp::kLogSoftmax:
    case VectorOp::kCrossEntropy: {
      // Rows of up to 1,024 stay in registers; longer ones are read again, from ever farther away.
      const double doublings = std::max(0.0, std::log2(static_cast<double>(row) / 1024));
      return {46 * (1 + 0.5 * doublings), 86};
    }
    // Short rows leave most of a block waiting for their statistics. Backward: and the sums over tokens.
    case VectorOp::kLayerNorm: return {40 + 30000 / static_cast<double>(row), 107};
    case VectorOp::kRmsNorm: return {30 + 30000 / static_cast<double>(row), 103};
    default: return {10, 10};
  }
}

}  // namespace

double cycles_per_element(const VectorWork& work, VectorUnits units) {
  const Cycles cycles = units == VectorUnits::kKernels
                            ? kernel_instructions(work.op, std::max<std::int64_t>(1, work.cols))
                            : study_cycles(work.op);
  return work.backward ? cycles.backward : cycles.forward;
}

VectorUnits vector_units(const hardware::Chip& chip) {
  return chip.calibration.serial ? VectorUnits::kKernels : VectorUnits::kDedicated;
}

bool reduces_rows(VectorOp op) {
  switch (op) {
    case VectorOp::kLayerNorm:
    case VectorOp::kRmsNorm:
    case VectorOp::kSoftmax:
    case VectorOp::kLogSoftmax:
    case VectorOp::kCrossEntropy:
    case VectorOp::kReduceMean:
    case VectorOp::kReduceMax:
    case VectorOp::kReduceSum: return true;
    default: return false;
  }
}

double vector_compute_seconds(const VectorWork& work, const hardware::Chip& chip, std::int64_t cores) {
  const VectorUnits units = vector_units(chip);
  // Dedicated units take their statistics in a pass of their own; instruction counts have it inside.
  const double statistics = units == VectorUnits::kDedicated && reduces_rows(work.op) ? 1 : 0;
  const double per_element = cycles_per_element(work, units) + statistics;
  const double lanes = static_cast<double>(cores * chip.vector_cores.lanes);
  return static_cast<double>(work.elements()) * per_element / (lanes * chip.clock_hz * chip.calibration.vector);
}

Estimate vector_cost(const VectorWork& work, double hbm_bytes, const hardware::Chip& chip, std::int64_t cores) {
  const hardware::Calibration& calibration = chip.calibration;
  const hardware::EventEnergy energy = hardware::event_energy(chip);
  const double compute = vector_compute_seconds(work, chip, cores);
  const double bandwidth = chip.hbm_bandwidth * calibration.hbm;
  double global_bytes = hbm_bytes;
  const double row = 2.0 * static_cast<double>(work.cols);
  if (reduces_rows(work.op) && vector_units(chip) == VectorUnits::kDedicated &&
      row > static_cast<double>(chip.vector_core_buffer().value())) {
    const double again = 2.0 * static_cast<double>(work.elements());
    const double rows_in_work = static_cast<double>(std::min(cores, work.rows));
    global_bytes += again;
    if (row * rows_in_work > static_cast<double>(chip.global_buffer.value())) hbm_bytes += again;
  }
  const double hbm = hbm_bytes / bandwidth;
  const double global = global_bytes / (chip.global_buffer_bytes_per_cycle * chip.clock_hz);
  Estimate estimate;
  estimate.hbm_bytes = hbm_bytes;
  estimate.seconds = std::max({compute, hbm, global});
  estimate.bound_by = hbm >= std::max(compute, global) ? Bound::kHbm
                      : compute >= global              ? Bound::kVector
                                                       : Bound::kGlobalBuffer;
  constexpr double kPico = 1e-12;
  const double operations = static_cast<double>(work.elements()) * cycles_per_element(work, vector_units(chip));
  estimate.joules = kPico * (operations * (energy.mac + 2 * energy.vector_read + energy.vector_write) +
                             global_bytes / 8 * energy.global_buffer + hbm_bytes * 8 * energy.hbm_bit);
  return estimate;
}

double vector_bytes(const VectorWork& work, std::int64_t element_bytes) {
  // Tensors read and written, and whether a byte per element (a dropout mask) comes with them.
  double tensors = 2;
  bool mask = false;
  switch (work.op) {
    case VectorOp::kAdd:
    case VectorOp::kSub: tensors = work.backward ? 0 : 3; break;  // both gradients are the output's own
    case VectorOp::kMul:
    case VectorOp::kDiv: tensors = work.backward ? 6 : 3; break;  // backward: two products of the gradient
    case VectorOp::kDropout: mask = true; break;
    default:
      if (work.backward && workload::traits(work.op).gradient_needs != workload::GradientNeeds::kNothing) tensors = 3;
  }
  const auto elements = static_cast<double>(work.elements());
  return elements * (tensors * static_cast<double>(element_bytes) + (mask ? 1 : 0));
}

}  // namespace phaze::cost
