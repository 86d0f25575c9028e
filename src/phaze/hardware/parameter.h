// The figures of a chip that files, inline specifications and design spaces can set, by name.
//
// One table says of each parameter how it is written and where it lives, so that a new one is one row.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "phaze/base/result.h"
#include "phaze/hardware/chip.h"

namespace phaze::hardware {

struct Parameter {
  std::string_view name;
  Result<double> (*parse)(std::string_view text);
  std::string (*format)(double value);  // what parse reads back
  double (*get)(const Chip& chip);
  void (*set)(Chip& chip, double value);
};

std::span<const Parameter> parameters();

// Unknown names are an error that proposes the nearest.
Result<const Parameter*> find_parameter(std::string_view name);

}  // namespace phaze::hardware
