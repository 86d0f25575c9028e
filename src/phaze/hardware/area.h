// Silicon area of a chip.
#pragma once

#include "phaze/hardware/chip.h"

namespace phaze::hardware {

// Square micrometres by part.
struct Area {
  double tensor_cores = 0;
  double vector_cores = 0;
  double global_buffer = 0;
  double total = 0;
};

// The model of the 2024 study at 22 nm, bit for bit: half of a 32-bit integer multiply-accumulate unit and a register
// file per unit, and CACTI's memories. It charges nothing for bandwidth, the network on chip, controllers, HBM or
// links.
Area area_phaze22(const Chip& chip);

}  // namespace phaze::hardware
