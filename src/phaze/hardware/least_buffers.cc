#include "phaze/hardware/least_buffers.h"

#include <algorithm>

namespace phaze::hardware {
namespace {

Bytes two_of_each_tile(std::int64_t m, std::int64_t n, std::int64_t k) { return Bytes(4 * (m * k + k * n + m * n)); }

}  // namespace

std::int64_t block_side(std::int64_t array_side, std::int64_t tile_side) {
  return ceil_divide(std::max<std::int64_t>(tile_side, 1), array_side) * array_side;
}

LeastBuffers least_buffers(const Chip& chip) {
  const TensorCores& array = chip.tensor_cores;
  // What runs in time does so for as long as the array takes to swap what stands in it.
  return {
      .core = two_of_each_tile(block_side(array.rows, chip.calibration.tile_rows),
                               block_side(array.cols, chip.calibration.tile_cols), std::min(array.rows, array.cols)),
      .global = two_of_each_tile(1, 1, 1)};
}

bool holds_products(const Chip& chip) {
  const LeastBuffers least = least_buffers(chip);
  return chip.tensor_core_buffer() >= least.core && chip.global_buffer >= least.global;
}

}  // namespace phaze::hardware
