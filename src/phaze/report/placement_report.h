// Plans for the 2024 placement problem: JSON for programs, tables for people.
#pragma once

#include <string>

#include "phaze/placement/phaze2024/solve.h"

namespace phaze::report {

std::string placement_json(const placement::phaze2024::Instance& instance,
                           const placement::phaze2024::Solution& solution);
std::string placement_text(const placement::phaze2024::Instance& instance,
                           const placement::phaze2024::Solution& solution);

}  // namespace phaze::report
