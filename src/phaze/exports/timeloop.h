// A chip as an architecture file for Timeloop and Accelergy (format 0.4).
#pragma once

#include "phaze/exports/exported.h"
#include "phaze/hardware/chip.h"

namespace phaze::exports {

Exported timeloop_yaml(const hardware::Chip& chip);

}  // namespace phaze::exports
