// Random placement instances whose constraints bind about as often as not.
#pragma once

#include <cstdint>
#include <random>

#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

enum class Shape : std::uint8_t {
  kChain,   // each node feeds the next
  kSkips,   // and some also feed later ones
  kTowers,  // two chains that meet
  kAnyDag,
};

// Ids are shuffled and may be negative; sizes are whole numbers now and then, so that ties and exact fits occur.
Instance random_instance(std::mt19937_64& random, Shape shape, std::size_t nodes);

}  // namespace phaze::placement::phaze2024
