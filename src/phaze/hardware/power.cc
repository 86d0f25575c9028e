#include "phaze/hardware/power.h"

#include <cmath>

#include "phaze/hardware/sram.h"

namespace phaze::hardware {
namespace {

// Logic energy relative to 45 nm at 0.8 V (Stillmaker and Baas 2017): 22 nm 0.294, 7 nm 0.094; on a power law between
// and beyond.
double logic_scale(double nm) {
  const double exponent = std::log(0.294 / 0.094) / std::log(22.0 / 7.0);
  return 0.294 * std::pow(nm / 22.0, exponent);
}

// Memory energy below 22 nm: √(nm/22).
double sram_scale(double nm) { return nm < 22 ? std::sqrt(nm / 22.0) : 1.0; }

// SRAM access with its periphery, per 8-byte word (the 2024 tool chain).
double word_energy(Bytes capacity) { return 0.5 * sram_22nm(capacity).read_pj + 1.586294; }

constexpr double kIdleWatts = 90;         // TPUv4, as Google documents it
constexpr double kActivityOfTpuV4 = 192;  // its maximum
constexpr double kBanks = 4;

// The terms of the published formula, before the factor that fits them to TPUv4.
Power dynamic_power(const Chip& chip) {
  const EventEnergy e = event_energy(chip);
  constexpr double kPico = 1e-12;
  const double f = chip.clock_hz * kPico;
  const auto macs = static_cast<double>(chip.macs());
  const auto edges = static_cast<double>(chip.tensor_cores.count * (chip.tensor_cores.rows + chip.tensor_cores.cols));
  Power p;
  // A word of 8 bytes holds four elements of 16 bits.
  p.tensor_cores = f * macs * (e.mac + e.tensor_register) + f * edges * e.tensor_buffer / 4;
  p.vector_cores = f * static_cast<double>(chip.lanes()) * (e.mac + 2 * e.vector_read + e.vector_write);
  p.global_buffer = f * (chip.global_buffer_bytes_per_cycle / 2) * e.global_buffer / 4;
  p.hbm = chip.hbm_bandwidth * 8 * e.hbm_bit * kPico;
  return p;
}

double sum(const Power& p) { return p.tensor_cores + p.vector_cores + p.global_buffer + p.hbm; }

double leakage_watts(const Chip& chip) {
  const double scale = chip.process_nm < 22 ? 0.79 * std::sqrt(chip.process_nm / 22.0) : 1.0;
  const double milliwatts =
      kBanks *
      (sram_22nm(chip.global_buffer).leakage_mw_per_bank +
       static_cast<double>(chip.tensor_cores.count) * sram_22nm(chip.tensor_core_buffer()).leakage_mw_per_bank +
       static_cast<double>(chip.vector_cores.count) * sram_22nm(chip.vector_core_buffer()).leakage_mw_per_bank);
  return milliwatts * 1e-3 * scale;
}

// The share of the sum of all peaks that a chip draws at most, from the one chip for which it is documented.
double activity() {
  Chip tpu;
  tpu.process_nm = 7;
  return (kActivityOfTpuV4 - kIdleWatts - leakage_watts(tpu)) / sum(dynamic_power(tpu));
}

}  // namespace

EventEnergy event_energy(const Chip& chip) {
  const double logic = logic_scale(chip.process_nm) / logic_scale(22);
  const double sram = sram_scale(chip.process_nm);
  // Half of a 32-bit multiply-accumulate at 45 nm (3.2 pJ), scaled to 22 nm in the right direction.
  constexpr double kMacAt22 = 1.6 * 0.294;
  return {.mac = kMacAt22 * logic,
          .tensor_register = 0.222334 * logic,
          .vector_read = 0.103455 * logic,
          .vector_write = 0.13794 * logic,
          .tensor_buffer = word_energy(chip.tensor_core_buffer()) * sram,
          .global_buffer = word_energy(chip.global_buffer) * sram,
          .hbm_bit = 3.9};
}

Power thermal_design_power(const Chip& chip) {
  const double factor = activity();
  Power p = dynamic_power(chip);
  p.tensor_cores *= factor;
  p.vector_cores *= factor;
  p.global_buffer *= factor;
  p.hbm *= factor;
  p.idle = kIdleWatts;
  p.leakage = leakage_watts(chip);
  p.total = p.idle + sum(p) + p.leakage;
  return p;
}

}  // namespace phaze::hardware
