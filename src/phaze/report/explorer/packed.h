// Many numbers in little text, for the page: little-endian binary in base64 (docs/report.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace phaze::report {

std::string base64(std::span<const std::uint8_t> bytes);

std::string packed_u8(std::span<const std::uint8_t> values);
std::string packed_u16(std::span<const std::uint16_t> values);
// Rounded to 32 bits; NaN stays NaN.
std::string packed_f32(std::span<const double> values);

// Values of which few are distinct: the distinct ones in order, and for each value which of them it is.
struct Listed {
  std::vector<double> values;
  std::vector<std::uint8_t> codes;
};
// Empty values where more than 256 are distinct.
Listed listed(std::span<const double> values);

}  // namespace phaze::report
