// The placement problem of 2024 for a model and a cluster: layers as the real problem has them, everything else as in
// that study: one flat bandwidth (that of the outermost level), 16-bit states, recompute everywhere or nowhere.
#pragma once

#include <vector>

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

}  // namespace phaze::layer_times
