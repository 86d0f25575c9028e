// The optimizer step on one device: streams parameters, gradients and states once.
#pragma once

#include <cstdint>

#include "phaze/cost/estimate.h"
#include "phaze/hardware/chip.h"

namespace phaze::cost {

enum class Optimizer : std::uint8_t {
  kSgd,        // 16-bit parameters and gradients, as in 2024
  kAdam,       // and one 16-bit state more, as in 2024
  kAdamMixed,  // 32-bit parameters and two 32-bit moments beside the 16-bit parameters, 32-bit gradients
};

// Bytes that one step moves per parameter.
double step_bytes_per_parameter(Optimizer optimizer);

Estimate optimizer_step_cost(double parameters, Optimizer optimizer, const hardware::Chip& chip);

}  // namespace phaze::cost
