// The optimum by trying everything, for small instances: every width, every degree, every way to cut the graph into
// contiguous stages. Plans are judged by the definition of the problem in evaluate.h, by code of its own.
#pragma once

#include <optional>

#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

// The least time per batch; nothing if there is no feasible plan. At most about eight nodes.
std::optional<double> brute_force(const Instance& instance);

}  // namespace phaze::placement::phaze2024
