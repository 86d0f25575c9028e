// The smallest buffers with which a chip can do matrix products at all.
//
// A buffer holds two of each tile of a product, so that one is filled while the other is used: 4·(m·k + k·n + m·n)
// bytes for tiles of m × k, k × n and m × n elements. A core buffer holds one block of the array at least, the global
// buffer one element. Chips with less are refused where they are read, and design spaces leave them out.
#pragma once

#include <cstdint>

#include "phaze/base/units.h"
#include "phaze/hardware/chip.h"

namespace phaze::hardware {

// Along one side of an array, kernels work on whole arrays: as many as cover their tile, or one.
std::int64_t block_side(std::int64_t array_side, std::int64_t tile_side);

struct LeastBuffers {
  Bytes core;
  Bytes global;
  bool operator==(const LeastBuffers&) const = default;
};

LeastBuffers least_buffers(const Chip& chip);

bool holds_products(const Chip& chip);

}  // namespace phaze::hardware
