// What exports take from a run database: the winner's plan for a model, and the table of all chips.
#pragma once

#include <string>

#include "phaze/base/result.h"
#include "phaze/exports/exported.h"
#include "phaze/exports/plan_document.h"
#include "phaze/run_db/reader.h"

namespace phaze::exports {

struct RunPlan {
  PlanDocument plan;
  std::string text;  // the document that it was read from
};

// The plan of the best chip of the search over all models. `model` may be empty where the run has only one.
Result<RunPlan> read_run_plan(run_db::Reader& run, const std::string& model);

// Every chip with its fate in the search over all models, one line for each model that was evaluated on it, for
// spreadsheets, data frames and columnar files.
Result<Exported> evaluations_csv(run_db::Reader& run);

}  // namespace phaze::exports
