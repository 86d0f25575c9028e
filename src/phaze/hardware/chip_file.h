// CHIP as people name it: a preset, a YAML file, or an inline specification such as
//   tc=8x128x128,vc=2x128,glb=128MiB,hbm=32GiB@1200GB/s,clock=1.05GHz
// in which every part is optional and the defaults are those of the preset tpuv4-phaze.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/hardware/chip.h"

namespace phaze::hardware {

Result<Chip> load_chip(std::string_view chip);

std::vector<std::string> chip_presets();

// The YAML text of a chip file; its schema is in docs/hardware.md. Reads no other file: the bandwidth of links is left
// to load_chip() where the text names a network alone.
Result<Chip> parse_chip_file(std::string_view text);

// A chip as YAML text that reads back as the same chip.
std::string chip_file_text(const Chip& chip);

Result<Chip> parse_inline_chip(std::string_view text);

}  // namespace phaze::hardware
