#include "phaze/hardware/area.h"

#include "phaze/hardware/sram.h"

namespace phaze::hardware {

Area area_phaze22(const Chip& chip) {
  // Square micrometres. A multiply-accumulate unit: half of 3632 at 45 nm, times 0.41833. The sums keep the order of
  // the published tool, because published areas are compared to the last bit.
  constexpr double kMac = 759.693333;
  constexpr double kTensorRegisters = 0.348053;
  constexpr double kVectorRegisters = 0.13052;
  const auto macs = static_cast<double>(chip.macs());
  const auto lanes = static_cast<double>(chip.lanes());
  Area area;
  area.tensor_cores = kTensorRegisters * macs + kMac * macs +
                      static_cast<double>(chip.tensor_cores.count) * sram_22nm(chip.tensor_core_buffer()).area_um2;
  area.vector_cores = kVectorRegisters * lanes + kMac * lanes +
                      static_cast<double>(chip.vector_cores.count) * sram_22nm(chip.vector_core_buffer()).area_um2;
  area.global_buffer = sram_22nm(chip.global_buffer).area_um2;
  area.total = area.tensor_cores + (area.vector_cores + area.global_buffer);
  return area;
}

}  // namespace phaze::hardware
