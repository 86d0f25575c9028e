// Layer schedules, as JSON, as a chart of characters, and as a trace for Perfetto or chrome://tracing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "phaze/schedule/solve.h"

namespace phaze::report {

struct ScheduleView {
  const schedule::Instance& instance;
  std::span<const std::int64_t> ids;  // of operators, by OpId
  const schedule::Solution& solution;
  std::string title;
};

std::string schedule_json(const ScheduleView& view);

// Operators by start, each with a bar from its start to its finish.
std::string schedule_text(const ScheduleView& view);

// One track per core (per unit of a resource that is counted in whole numbers), a counter for every other resource.
std::string schedule_trace(const ScheduleView& view);

}  // namespace phaze::report
