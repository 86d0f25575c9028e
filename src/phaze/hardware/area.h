// Silicon area of a chip.
#pragma once

#include <cstdint>

#include "phaze/hardware/chip.h"

namespace phaze::hardware {

// Square micrometres by part.
struct Area {
  double tensor_cores = 0;
  double vector_cores = 0;
  double global_buffer = 0;
  double wiring = 0;  // network on chip and control
  double hbm = 0;     // interfaces to off-chip memory
  double links = 0;   // interfaces to other chips
  double total = 0;
};

enum class AreaModel : std::uint8_t { kPhaze22, kPhysical };

// The model of the 2024 study at 22 nm, bit for bit: half of a 32-bit integer multiply-accumulate unit and a register
// file per unit, and CACTI's memories. It charges nothing for bandwidth, the network on chip, controllers, HBM or
// links.
Area area_phaze22(const Chip& chip);

// What the chip would take at its own process: bf16 multipliers with 32-bit accumulation, lanes with an exponential and
// a divider, memories of as many 32 KiB banks as hold and deliver what they must, wiring, HBM and link interfaces. The
// constants and their sources are beside the code; the last three are estimates from published dies.
Area area_physical(const Chip& chip);

Area area(const Chip& chip, AreaModel model);

}  // namespace phaze::hardware
