// Quantities as types, so that bytes are not added to operations by accident.
//
// Values saturate instead of wrapping round: a product of absurd dimensions becomes kSaturated, which the validators at
// the edge turn into an error. Arithmetic below the edge then needs no overflow checks of its own.
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>

namespace phaze {

inline constexpr std::int64_t kSaturated = std::int64_t{1} << 62;

constexpr std::int64_t saturating_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kSaturated) return kSaturated;
  return product;
}

constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum) || sum > kSaturated) return kSaturated;
  return sum;
}

constexpr std::int64_t saturating_product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  bool zero = false;
  for (const std::int64_t factor : factors) {
    zero = zero || factor == 0;
    product = saturating_multiply(product, factor);
  }
  return zero ? 0 : product;
}

// For formulas in which counts meet seconds and bytes per second.
constexpr double real(std::int64_t value) { return static_cast<double>(value); }

constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

template <typename Tag>
class Count {
 public:
  constexpr Count() = default;
  constexpr explicit Count(std::int64_t value) : value_(value) {}

  constexpr std::int64_t value() const { return value_; }
  constexpr bool saturated() const { return value_ >= kSaturated; }
  constexpr auto operator<=>(const Count&) const = default;

  constexpr Count& operator+=(Count other) {
    value_ = saturating_add(value_, other.value_);
    return *this;
  }
  friend constexpr Count operator+(Count a, Count b) { return a += b; }
  friend constexpr Count operator-(Count a, Count b) { return Count(a.value_ - b.value_); }
  friend constexpr Count operator*(Count a, std::int64_t times) { return Count(saturating_multiply(a.value_, times)); }

 private:
  std::int64_t value_ = 0;
};

using Bytes = Count<struct BytesTag>;
using Flops = Count<struct FlopsTag>;  // floating-point operations, two per multiply-accumulate

}  // namespace phaze
