// Co-search beside its baselines: JSON for programs, tables for people.
#pragma once

#include <string>

#include "phaze/baselines/compare.h"
#include "phaze/hardware/design_space.h"

namespace phaze::report {

struct CompareAnswer {
  const baselines::Comparison* comparison = nullptr;
  const search::Problem* problem = nullptr;
  std::string reference;               // the known chip's name
  std::optional<double> largest_area;  // of the space, in square micrometres
  double seconds = 0;
};

// One object per model, under its name, and a "summary".
std::string compare_json(const CompareAnswer& answer);
std::string compare_text(const CompareAnswer& answer);

}  // namespace phaze::report
