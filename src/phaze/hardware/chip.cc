#include "phaze/hardware/chip.h"

#include <algorithm>

namespace phaze::hardware {
namespace {

Bytes buffer_for(std::int64_t units) { return Bytes(std::max<std::int64_t>(1024, 16 * units)); }

}  // namespace

Bytes Chip::tensor_core_buffer() const {
  return core_buffer > Bytes(0) ? core_buffer : buffer_for(tensor_cores.rows * tensor_cores.cols);
}
Bytes Chip::vector_core_buffer() const { return buffer_for(vector_cores.lanes); }

}  // namespace phaze::hardware
