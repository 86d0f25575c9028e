// ONNX's numbers for element types.
#pragma once

#include <cstdint>
#include <optional>

#include "phaze/workload/element_type.h"

namespace phaze::workload::onnx {

// By the numbers of TensorProto.DataType; nothing for strings, complex numbers and what is not known.
constexpr std::optional<ElementType> element_type(std::int64_t number) {
  switch (number) {
    case 1: return ElementType::kF32;
    case 2:
    case 3: return ElementType::kI8;
    case 4:
    case 5: return ElementType::kI16;
    case 6:
    case 12: return ElementType::kI32;
    case 7:
    case 13: return ElementType::kI64;
    case 9: return ElementType::kBool;
    case 10: return ElementType::kF16;
    case 11: return ElementType::kF64;
    case 16: return ElementType::kBf16;
    case 17:
    case 18:
    case 19:
    case 20: return ElementType::kF8;  // the four 8-bit floats of later versions
    default: return std::nullopt;
  }
}

}  // namespace phaze::workload::onnx
