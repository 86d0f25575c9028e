// The keys of a chip file's map 'calibration'. Private to the readers and writers of chip files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/hardware/chip.h"

namespace phaze::hardware {

std::vector<std::string> calibration_keys();

Status set_calibration(Calibration& calibration, std::string_view key, std::string_view text);

// "calibration:" and its keys as YAML, those that differ from an ideal chip.
std::string calibration_text(const Calibration& calibration);

}  // namespace phaze::hardware
