#include "phaze/cost/optimizer.h"

#include <algorithm>

#include "phaze/hardware/power.h"

namespace phaze::cost {

double step_bytes_per_parameter(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd: return 2 + 2 + 2;
    case Optimizer::kAdam: return 2 + 2 + 2 + 2 + 2;
    // Gradients are read for their norm, scaled in place where it is clipped, and set to zero for the next batch; the
    // step itself reads a gradient, and master and moments in and out; masters are copied to 16-bit parameters.
    case Optimizer::kAdamMixed: return 4 + (4 + 4) + 4 + (4 + 12 + 12) + (4 + 2);
  }
  return 0;
}

Estimate optimizer_step_cost(double parameters, Optimizer optimizer, const hardware::Chip& chip) {
  // Moments, a root and a quotient, or a plain update.
  const double operations = parameters * (optimizer == Optimizer::kSgd ? 2 : 30);
  const double bytes = parameters * step_bytes_per_parameter(optimizer);
  const double compute = operations / (static_cast<double>(chip.lanes()) * chip.clock_hz * chip.calibration.vector);
  const double hbm = bytes / (chip.hbm_bandwidth * chip.calibration.hbm);
  const hardware::EventEnergy energy = hardware::event_energy(chip);
  return {.seconds = std::max(compute, hbm),
          .joules = 1e-12 * (operations * (energy.mac + 2 * energy.vector_read + energy.vector_write) +
                             bytes * 8 * energy.hbm_bit),
          .hbm_bytes = bytes,
          .bound_by = hbm >= compute ? Bound::kHbm : Bound::kVector};
}

}  // namespace phaze::cost
