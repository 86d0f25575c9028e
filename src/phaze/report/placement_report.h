// Plans for the 2024 placement problem: JSON for programs, tables for people.
#pragma once

#include <string>

#include "phaze/placement/phaze2024/solve.h"

namespace phaze::report {

std::string placement_json(const placement::phaze2024::Instance& instance,
                           const placement::phaze2024::Solution& solution);
// The same for a model: `figures` are per batch.
struct ModelFigures {
  std::string model;
  double samples = 0;
  double tokens = 0;
  double flops = 0;       // matrix products, without recompute
  double peak_flops = 0;  // of all devices
  std::int64_t microbatch = 1;
};
std::string placement_json(const placement::phaze2024::Instance& instance,
                           const placement::phaze2024::Solution& solution, const ModelFigures& figures);
std::string placement_text(const placement::phaze2024::Instance& instance,
                           const placement::phaze2024::Solution& solution);

}  // namespace phaze::report
