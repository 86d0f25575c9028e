// The answer of a co-search: JSON for programs, a summary for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "phaze/insight/insight.h"
#include "phaze/report/plan_report.h"
#include "phaze/search/search.h"

namespace phaze::report {

// The best chip for some models.
struct FoundChip {
  std::vector<std::string> models;
  search::Outcome outcome;
  std::vector<hardware::Chip> chips;             // those of outcome.best, in that order
  std::vector<std::vector<double>> throughputs;  // of each chip, by model
  std::vector<PlanAnswer> plans;                 // on the best chip, by model; what they point to is the caller's
};

struct SearchAnswer {
  FoundChip common;             // for all models
  std::vector<FoundChip> each;  // with several models: for each alone
  search::Objective objective = search::Objective::kThroughput;
  search::Mean mean = search::Mean::kGeometric;
  std::string baseline;  // with several models
  hardware::AreaModel area_model = hardware::AreaModel::kPhaze22;
  std::optional<insight::Insight> insight;  // about the common chip
  double seconds = 0;
};

std::string search_json(const SearchAnswer& answer);
std::string search_text(const SearchAnswer& answer);

}  // namespace phaze::report
