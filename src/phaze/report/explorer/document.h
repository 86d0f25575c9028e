// The document that the explorer shows (docs/report.md): a plan, or a whole search from its database.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/hardware/chip.h"
#include "phaze/report/plan_report.h"

namespace phaze::run_db {
class Reader;
}

namespace phaze::report {

struct PlanDocument {
  const PlanAnswer* answer = nullptr;
  const hardware::Chip* chip = nullptr;
  std::int64_t devices = 1;
  double parameters = 0;  // of the model
  std::size_t top = 1;
  std::string layer_schedules;  // layer_schedules_json(); empty: none
  std::string phaze_version;
  std::string command;
};

// A command line as it would be typed.
std::string command_text(const std::vector<std::string>& arguments);

// JSON, in one line.
std::string plan_document(const PlanDocument& plan);

// Everything from the database alone.
Result<std::string> run_document(run_db::Reader& run);

}  // namespace phaze::report
