// Chips and design spaces, as JSON, CSV and text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/hardware/design_space.h"

namespace phaze::report {

std::string chip_json(const hardware::Chip& chip);
std::string chip_text(const hardware::Chip& chip);

std::string chips_json(const std::vector<hardware::Chip>& chips);
std::string chips_text(const std::vector<hardware::Chip>& chips);

// `kept` is how many chips are within the limits of the space.
std::string space_json(const hardware::DesignSpace& space, std::int64_t kept);
std::string space_text(const hardware::DesignSpace& space, std::int64_t kept);

// tensor_cores,vector_cores,rows,cols,lanes,glb_bytes,area_um2, areas by the model of the space's limits and with as
// many digits as it takes to read them back exactly.
inline constexpr const char* kSpaceCsvHeader = "tensor_cores,vector_cores,rows,cols,lanes,glb_bytes,area_um2\n";
std::string space_csv_row(const hardware::Chip& chip, hardware::AreaModel model);

}  // namespace phaze::report
