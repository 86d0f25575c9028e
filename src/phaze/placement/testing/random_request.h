// Random placement problems, small enough for brute force.
#pragma once

#include <cstdint>
#include <random>

#include "phaze/placement/training.h"

namespace phaze::placement::testing {

struct Shape {
  std::size_t most_layers = 5;
  std::int64_t most_devices = 8;
};

Request random_request(std::mt19937_64& random, const Shape& shape);

}  // namespace phaze::placement::testing
