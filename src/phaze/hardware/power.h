// Energy per event and thermal design power.
#pragma once

#include "phaze/hardware/chip.h"

namespace phaze::hardware {

// Picojoules per event at the chip's process.
struct EventEnergy {
  double mac = 0;              // one 16-bit multiply-accumulate
  double tensor_register = 0;  // one 16-bit read of a register file beside a multiply-accumulate unit
  double vector_read = 0;      // the same in a vector lane
  double vector_write = 0;
  double tensor_buffer = 0;  // one 8-byte word of a tensor core's buffer
  double global_buffer = 0;  // one 8-byte word of the global buffer
  double hbm_bit = 0;
};
EventEnergy event_energy(const Chip& chip);

// Watts by part; the sum is what cooling must carry off when everything runs at once.
struct Power {
  double idle = 0;
  double tensor_cores = 0;
  double vector_cores = 0;
  double global_buffer = 0;
  double hbm = 0;
  double leakage = 0;
  double total = 0;
};

// Calibrated at one point, TPUv4 (90 W idle, 192 W at most): it validates nothing, it fixes the scale.
Power thermal_design_power(const Chip& chip);

}  // namespace phaze::hardware
