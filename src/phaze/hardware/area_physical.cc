#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "phaze/hardware/area.h"

namespace phaze::hardware {
namespace {

// Logic area relative to 45 nm (Stillmaker and Baas 2017); 22 nm lies between 32 and 20 nm. Power laws between the
// nodes, and the last one beyond 7 nm.
double logic_scale(double nm) {
  struct Node {
    double nm, scale;
  };
  constexpr std::array<Node, 9> kNodes = {
      {{45, 1}, {32, 0.46}, {22, 0.25167}, {20, 0.21}, {16, 0.19}, {14, 0.17}, {10, 0.10}, {7, 0.059}, {5, 0.036}}};
  std::size_t i = 1;
  while (i + 1 < kNodes.size() && nm < kNodes[i].nm) ++i;
  const Node& from = kNodes[i - 1];
  const Node& to = kNodes[i];
  const double exponent = std::log(from.scale / to.scale) / std::log(from.nm / to.nm);
  return from.scale * std::pow(nm / from.nm, exponent);
}

// Memory shrinks in proportion to the feature size below 22 nm.
double sram_scale(double nm) { return nm < 22 ? nm / 22 : 1; }

// Banks of 32 KiB with one port, as CACTI 7 sees them at 22 nm, by the bytes they deliver per access.
struct Bank {
  double bytes_per_access, area_um2, cycle_ns;
};
constexpr std::array<Bank, 4> kBanks = {
    {{32, 24688.5, 0.830866}, {64, 27582.6, 0.830866}, {128, 43979.9, 0.965968}, {256, 111015.0, 1.90847}}};
constexpr double kBankBytes = 32768;

// The least area of banks that hold `capacity` and deliver `bandwidth`. A small memory is a part of a bank, but no less
// than a quarter, below which periphery takes over.
double sram_area(double capacity, double bytes_per_second) {
  double least = std::numeric_limits<double>::infinity();
  for (const Bank& bank : kBanks) {
    const double for_capacity =
        capacity < kBankBytes ? std::max(0.25, capacity / kBankBytes) : std::ceil(capacity / kBankBytes);
    const double for_bandwidth = bytes_per_second / (bank.bytes_per_access / (bank.cycle_ns * 1e-9));
    least = std::min(least, std::max(for_capacity, for_bandwidth) * bank.area_um2);
  }
  return least;
}

// Square micrometres at 45 nm (Horowitz 2014: 16-bit float multiply 1,640, 32-bit float add 4,184, multiply 7,700).
// A bf16 multiplier is smaller than a 16-bit float one (8 bits of mantissa against 11): half of it.
constexpr double kMac45 = 0.5 * 1640 + 4184;
// A lane has a fused 32-bit multiply-add and half as much again for exponential, division and conversion.
constexpr double kLane45 = 1.5 * (7700 + 4184);
// Network on chip, sequencers and clocking, as a share of cores and buffers: an estimate.
constexpr double kWiringShare = 0.25;
// Interfaces do not shrink with logic. About 12 mm² per HBM2e stack of 460 GB/s and about 5 mm² per 100 GB/s of links
// in both directions together: estimates from published die photographs of A100 and TPUv4.
constexpr double kHbmSquareMicronsPerByte = 12e6 / 460e9;
constexpr double kLinkSquareMicronsPerByte = 5e6 / 100e9;

}  // namespace

Area area_physical(const Chip& chip) {
  const double logic = logic_scale(chip.process_nm);
  const double sram = sram_scale(chip.process_nm);
  const auto tensor_cores = static_cast<double>(chip.tensor_cores.count);
  const auto vector_cores = static_cast<double>(chip.vector_cores.count);
  // Core buffers feed rows + 2·cols elements of 2 bytes per cycle; a vector core reads two and writes one per lane.
  const double tensor_feed =
      2 * static_cast<double>(chip.tensor_cores.rows + 2 * chip.tensor_cores.cols) * chip.clock_hz;
  const double vector_feed = 2 * 3 * static_cast<double>(chip.vector_cores.lanes) * chip.clock_hz;
  Area area;
  area.tensor_cores =
      static_cast<double>(chip.macs()) * kMac45 * logic +
      tensor_cores * sram * sram_area(static_cast<double>(chip.tensor_core_buffer().value()), tensor_feed);
  area.vector_cores =
      static_cast<double>(chip.lanes()) * kLane45 * logic +
      vector_cores * sram * sram_area(static_cast<double>(chip.vector_core_buffer().value()), vector_feed);
  area.global_buffer = sram * sram_area(static_cast<double>(chip.global_buffer.value()),
                                        chip.global_buffer_bytes_per_cycle * chip.clock_hz);
  area.wiring = kWiringShare * (area.tensor_cores + area.vector_cores + area.global_buffer);
  area.hbm = chip.hbm_bandwidth * kHbmSquareMicronsPerByte;
  area.links = chip.link_bandwidth * kLinkSquareMicronsPerByte;
  area.total = area.tensor_cores + area.vector_cores + area.global_buffer + area.wiring + area.hbm + area.links;
  return area;
}

Area area(const Chip& chip, AreaModel model) {
  return model == AreaModel::kPhysical ? area_physical(chip) : area_phaze22(chip);
}

}  // namespace phaze::hardware
