#include "phaze/hardware/chip.h"

#include <algorithm>

namespace phaze::hardware {
namespace {

Bytes core_buffer(std::int64_t units) { return Bytes(std::max<std::int64_t>(1024, 16 * units)); }

}  // namespace

Bytes Chip::tensor_core_buffer() const { return core_buffer(tensor_cores.rows * tensor_cores.cols); }
Bytes Chip::vector_core_buffer() const { return core_buffer(vector_cores.lanes); }

}  // namespace phaze::hardware
