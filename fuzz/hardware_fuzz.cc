// Chip, network and space files. Clusters are left out: they name other files.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phaze/base/check.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/hardware/group.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phaze::hardware;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto chip = parse_chip_file(text)) {
    const auto again = parse_chip_file(chip_file_text(*chip));
    phaze::check(again && again->tensor_cores == chip->tensor_cores && again->calibration == chip->calibration,
                 "a written chip reads back");
  }
  if (const auto network = parse_network_file(text)) (void)spanned(*network, {.size = 64, .stride = 3});
  (void)parse_inline_network(text);
  (void)parse_inline_chip(text);
  if (const auto space = parse_space_file(text)) (void)space->points();
  return 0;
}
