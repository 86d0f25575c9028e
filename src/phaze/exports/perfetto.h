// A plan as a trace for Perfetto or chrome://tracing: the pipeline of one iteration, one process per stage, and behind
// it the schedule of every distinct layer, forward and backward, each a process of its own that starts at zero.
#pragma once

#include <string>

#include "phaze/base/result.h"
#include "phaze/exports/exported.h"
#include "phaze/exports/plan_document.h"

namespace phaze::exports {

// `text` is the document that `plan` was read from; it holds the pipeline.
Result<Exported> perfetto_trace(const PlanDocument& plan, const std::string& text);

}  // namespace phaze::exports
