// Amounts in files that people write: seconds, bytes, shares of a resource.
#pragma once

#include <string_view>

namespace phaze {

// So far from both ends of floating point that no sum, product or quotient of a problem comes near them.
inline constexpr double kLeastAmount = 1e-30;
inline constexpr double kLargestAmount = 1e30;

// What is_amount() asks for, as messages say it.
inline constexpr std::string_view kAmounts = "0 or from 1e-30 to 1e30";

constexpr bool is_amount(double value) { return value == 0 || (value >= kLeastAmount && value <= kLargestAmount); }

}  // namespace phaze
