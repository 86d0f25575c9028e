// The schedules of the layers on the best chip, for the run database: a report must not need the models again.
#pragma once

#include <vector>

#include "phaze/report/search_report.h"
#include "phaze/run_db/rows.h"

namespace phaze::cli {

// One document per model, of the search over all models.
std::vector<run_db::Artefact> schedule_documents(const report::SearchAnswer& answer, const search::Problem& problem);

}  // namespace phaze::cli
