// The optimum of a chain by the method of the 2024 study: a table over first node, devices and stages left. Slow, but
// plain, and good for chains that are too long for brute force.
#pragma once

#include <optional>

#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

// The least time per batch of an instance whose nodes form a chain, with or without skip edges.
std::optional<double> device_table(const Instance& instance);

}  // namespace phaze::placement::phaze2024
