#include "phaze/report/explorer/packed.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace phaze::report {

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> std::uint32_t { return i + at < bytes.size() ? bytes[i + at] : 0U; };
    const std::uint32_t group = byte(0) << 16U | byte(1) << 8U | byte(2);
    const std::size_t left = bytes.size() - i;
    text += kDigits[group >> 18U & 63U];
    text += kDigits[group >> 12U & 63U];
    text += left > 1 ? kDigits[group >> 6U & 63U] : '=';
    text += left > 2 ? kDigits[group & 63U] : '=';
  }
  return text;
}

std::string packed_u8(std::span<const std::uint8_t> values) { return base64(values); }

std::string packed_u16(std::span<const std::uint16_t> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 2);
  for (const std::uint16_t value : values)
    for (const unsigned shift : {0U, 8U}) bytes.push_back(static_cast<std::uint8_t>(value >> shift));
  return base64(bytes);
}

std::string packed_f32(std::span<const double> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 4);
  for (const double value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (const unsigned shift : {0U, 8U, 16U, 24U}) bytes.push_back(static_cast<std::uint8_t>(bits >> shift));
  }
  return base64(bytes);
}

Listed listed(std::span<const double> values) {
  Listed result;
  constexpr std::size_t kMost = 256;
  for (const double value : values) {
    const auto at = std::ranges::lower_bound(result.values, value);
    if (at != result.values.end() && *at == value) continue;
    if (result.values.size() == kMost) return {};
    result.values.insert(at, value);
  }
  result.codes.reserve(values.size());
  for (const double value : values)
    result.codes.push_back(
        static_cast<std::uint8_t>(std::ranges::lower_bound(result.values, value) - result.values.begin()));
  return result;
}

}  // namespace phaze::report
