// Strong index types: an OpId cannot be used where a TensorId is meant, and both are plain 32-bit numbers underneath.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace phaze {

template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t index) : value_(static_cast<std::uint32_t>(index)) {}

  static constexpr Id none() { return Id(); }
  constexpr bool valid() const { return value_ != kNone; }
  constexpr std::size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t value_ = kNone;
};

}  // namespace phaze
