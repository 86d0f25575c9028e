#include "phaze/exports/timeloop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "phaze/exports/quote.h"

namespace phaze::exports {
namespace {

constexpr std::int64_t kWordBits = 16;  // bf16
constexpr std::int64_t kSumBits = 32;
constexpr double kWordBytes = kWordBits / 8.0;

// A memory of `bytes` that delivers `words_per_cycle`: as wide as one of its accesses.
std::string memory(std::string_view name, std::string_view kind, double bytes, double words_per_cycle) {
  const double width = kWordBits * std::max(1.0, std::round(words_per_cycle));
  const double depth = std::max(1.0, std::floor(8 * bytes / width));
  return fmt::format(
      "  - !Component\n    name: {}\n    class: {}\n    attributes:\n"
      "      depth: {:.0f}\n      width: {:.0f}\n      datawidth: {}\n      shared_bandwidth: {:.6g}\n\n",
      name, kind, depth, width, kWordBits, words_per_cycle);
}

}  // namespace

Exported timeloop_yaml(const hardware::Chip& chip) {
  Exported out;
  out.notes.push_back(fmt::format("Timeloop maps one kind of compute: the {} vector cores of {} lanes are left out.",
                                  chip.vector_cores.count, chip.vector_cores.lanes));
  if (chip.calibration != hardware::Calibration{})
    out.notes.emplace_back("Timeloop models the datasheet: the calibration of this chip is left out.");
  const double hbm_words = chip.hbm_bandwidth / chip.clock_hz / kWordBytes;
  const double core_words = static_cast<double>(chip.tensor_cores.rows + 2 * chip.tensor_cores.cols);

  out.text = fmt::format(
      "# {}. Made by 'phaze export --format timeloop' for Timeloop v4 and Accelergy.\n"
      "# Bandwidths are in words of {} bits per cycle.\n",
      one_line(chip.name), kWordBits);
  for (const std::string& note : out.notes) out.text += "# Note: " + note + "\n";
  out.text += fmt::format(
      "architecture:\n  version: 0.4\n  nodes:\n"
      "  - !Container\n    name: system\n    attributes:\n      technology: \"{:g}nm\"\n"
      "      global_cycle_seconds: {:.6e}\n\n",
      chip.process_nm, 1 / chip.clock_hz);
  out.text += fmt::format(
      "  - !Component\n    name: hbm\n    class: DRAM\n    attributes:\n      type: \"HBM2\"\n"
      "      depth: {:.0f}\n      width: {}\n      datawidth: {}\n      shared_bandwidth: {:.6g}\n\n",
      std::floor(8.0 * static_cast<double>(chip.hbm.value()) / 1024), 1024, kWordBits, hbm_words);
  out.text += memory("global_buffer", "SRAM", static_cast<double>(chip.global_buffer.value()),
                     chip.global_buffer_bytes_per_cycle / kWordBytes);
  out.text +=
      fmt::format("  - !Container\n    name: tensor_core\n    spatial: {{meshX: {}}}\n\n", chip.tensor_cores.count);
  out.text += memory("core_buffer", "SRAM", static_cast<double>(chip.tensor_core_buffer().value()), core_words);
  out.text += fmt::format("  - !Container\n    name: unit\n    spatial: {{meshX: {}, meshY: {}}}\n\n",
                          chip.tensor_cores.cols, chip.tensor_cores.rows);
  out.text += memory("registers", "regfile", 3 * kWordBytes, 1);
  out.text += fmt::format(
      "  - !Component\n    name: mac\n    class: fpmac\n    attributes:\n      exponent: 8\n      mantissa: 7\n"
      "      datawidth: {}\n      multiplier_width: {}\n      adder_width: {}\n\n",
      kWordBits, kWordBits, kSumBits);
  out.text +=
      fmt::format("variables:\n  version: 0.4\n  chip: {}\n  global_cycle_seconds: {:.6e}\n  technology: \"{:g}nm\"\n",
                  quoted_text(chip.name), 1 / chip.clock_hz, chip.process_nm);
  return out;
}

}  // namespace phaze::exports
