// Why this chip: JSON for programs, tables for people.
#pragma once

#include <string>

#include "phaze/insight/insight.h"

namespace phaze::report {

std::string insight_json(const insight::Insight& insight);
std::string insight_text(const insight::Insight& insight);

}  // namespace phaze::report
