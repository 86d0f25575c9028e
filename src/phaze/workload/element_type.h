// Element types of tensors and their sizes.
#pragma once

#include <cstdint>
#include <string_view>

namespace phaze::workload {

enum class ElementType : std::uint8_t { kBf16, kF16, kF32, kF64, kF8, kI8, kI16, kI32, kI64, kBool };

constexpr std::int64_t size_in_bytes(ElementType type) {
  switch (type) {
    case ElementType::kF64:
    case ElementType::kI64: return 8;
    case ElementType::kF32:
    case ElementType::kI32: return 4;
    case ElementType::kBf16:
    case ElementType::kF16:
    case ElementType::kI16: return 2;
    case ElementType::kF8:
    case ElementType::kI8:
    case ElementType::kBool: return 1;
  }
  return 0;
}

// Only floating-point tensors have gradients.
constexpr bool is_floating(ElementType type) { return type <= ElementType::kF8; }

constexpr std::string_view to_string(ElementType type) {
  switch (type) {
    case ElementType::kBf16: return "bf16";
    case ElementType::kF16: return "f16";
    case ElementType::kF32: return "f32";
    case ElementType::kF64: return "f64";
    case ElementType::kF8: return "f8";
    case ElementType::kI8: return "i8";
    case ElementType::kI16: return "i16";
    case ElementType::kI32: return "i32";
    case ElementType::kI64: return "i64";
    case ElementType::kBool: return "bool";
  }
  return "?";
}

}  // namespace phaze::workload
