// Figures as files write them. Private to the writers of this part.
#pragma once

#include <string>
#include <string_view>

namespace phaze::hardware {

// `value` as a reader takes it that multiplies the number by `factor` for `unit`: with the fewest digits that give
// exactly `value`. Where none do, because of rounding, in `plain`, the unit of factor 1.
std::string exact_text(double value, double factor, std::string_view unit, std::string_view plain);

}  // namespace phaze::hardware
