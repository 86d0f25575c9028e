#include "phaze/hardware/exact_text.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace phaze::hardware {

std::string exact_text(double value, double factor, std::string_view unit, std::string_view plain) {
  for (int digits = 1; digits <= std::numeric_limits<double>::max_digits10; ++digits) {
    const std::string rounded = fmt::format("{:.{}g}", value / factor, digits);
    double number = 0;
    std::from_chars(rounded.data(), rounded.data() + rounded.size(), number);
    if (number * factor == value) return fmt::format("{}{}", number, unit);
  }
  return fmt::format("{}{}", value, plain);
}

}  // namespace phaze::hardware
