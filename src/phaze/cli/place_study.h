// phaze place MODEL --options phaze: the placement problem of 2024 for a model.
#pragma once

#include "phaze/base/result.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/request.h"

namespace CLI {
class App;
}

namespace phaze::cli {

struct Session;

// That nothing was asked for which that problem does not have.
Status check_study_flags(const CLI::App& place);

// The best over microbatches and recompute everywhere or nowhere.
void place_as_in_2024(const layer_times::PlanProblem& problem, const hardware::Cluster& cluster,
                      std::size_t stage_limit, Session& session);

}  // namespace phaze::cli
