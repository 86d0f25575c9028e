// The placement problem of 2024 for a model and a cluster: layers as the real problem has them, everything else as in
// that study: one flat bandwidth (that of the outermost level), 16-bit states, recompute everywhere or nowhere.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "phaze/placement/phaze2024/evaluate.h"
#include "phaze/placement/phaze2024/instance.h"
#include "phaze/placement/training.h"

namespace phaze::layer_times {

struct StudyCase {
  std::int64_t microbatch = 1;
  placement::phaze2024::Instance instance;
};

// One instance for each microbatch and each kind of recompute that the request allows. Selective recompute, ZeRO,
// interleaving and sequence parallelism did not exist there and are left out.
std::vector<StudyCase> study_cases(const placement::Request& request);

struct StudyPlan {
  StudyCase of;
  placement::phaze2024::Plan plan;
  placement::phaze2024::Evaluation evaluation;  // by the checker

  double seconds() const { return evaluation.time_per_batch; }
  double peak_memory() const;
};

// The best plan over all cases, the earliest of equals, if it takes less than `below` seconds. A request that fixes
// stages, replicas and cuts (an expert's) has one plan per width and case; it counts where it can be run.
std::optional<StudyPlan> best_study_plan(const placement::Request& request,
                                         double below = std::numeric_limits<double>::infinity());

}  // namespace phaze::layer_times
