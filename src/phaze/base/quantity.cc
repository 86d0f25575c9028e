#include "phaze/base/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace phaze {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array<Unit, 9> kByteUnits = {{{"B", 1},
                                             {"KiB", 1024.0},
                                             {"MiB", 1048576.0},
                                             {"GiB", 1073741824.0},
                                             {"TiB", 1099511627776.0},
                                             {"KB", 1e3},
                                             {"MB", 1e6},
                                             {"GB", 1e9},
                                             {"TB", 1e12}}};
constexpr std::array<Unit, 4> kHertzUnits = {{{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}};
constexpr std::array<Unit, 4> kSecondUnits = {{{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}};
constexpr std::array<Unit, 2> kWattUnits = {{{"W", 1}, {"kW", 1e3}}};

struct Parts {
  double number;
  std::string_view unit;
};

// The number and what follows it, with or without a space between.
Result<Parts> cut(std::string_view text, std::string_view example) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc::result_out_of_range && !text.starts_with('-'))
    return Error{"'" + std::string(text) + "' is beyond what a computer can tell from infinity or 0", "",
                 "write it like " + std::string(example)};
  if (failure != std::errc() || !std::isfinite(number) || number <= 0)
    return Error{"'" + std::string(text) + "' does not start with a positive number", "",
                 "write it like " + std::string(example)};
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  return Parts{number, unit};
}

Result<double> parse(std::string_view text, std::span<const Unit> units, std::string_view example) {
  const auto parts = cut(text, example);
  if (!parts) return parts.error();
  std::string known;
  for (const Unit& unit : units) {
    if (unit.name == parts->unit) {
      const double value = parts->number * unit.factor;
      if (std::isfinite(value) && value > 0) return value;
      return Error{
          "'" + std::string(text) + "' is beyond what a computer can tell from " + (value > 0 ? "infinity" : "0"), "",
          "write it like " + std::string(example)};
    }
    known += (known.empty() ? "" : ", ") + std::string(unit.name);
  }
  const std::string what =
      parts->unit.empty() ? "has no unit" : "has the unknown unit '" + std::string(parts->unit) + "'";
  return Error{"'" + std::string(text) + "' " + what, "",
               "write it like " + std::string(example) + "; units: " + known};
}

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  const auto value = parse(text, kByteUnits, "128MiB");
  if (!value) return value.error();
  if (*value != std::floor(*value) || *value >= static_cast<double>(kSaturated))
    return Error{"'" + std::string(text) + "' is not a whole number of bytes below 2^62"};
  return Bytes(static_cast<std::int64_t>(*value));
}

Result<double> parse_bytes_per_second(std::string_view text) {
  constexpr std::string_view kExample = "1200GB/s";
  if (!text.ends_with("/s"))
    return Error{"'" + std::string(text) + "' does not end in /s", "", "write it like " + std::string(kExample)};
  return parse(text.substr(0, text.size() - 2), kByteUnits, kExample);
}

Result<double> parse_hertz(std::string_view text) { return parse(text, kHertzUnits, "1.05GHz"); }
Result<double> parse_seconds(std::string_view text) { return parse(text, kSecondUnits, "2us"); }
Result<double> parse_watts(std::string_view text) { return parse(text, kWattUnits, "192W"); }

Result<double> parse_positive(std::string_view text) {
  const auto parts = cut(text, "0.5");
  if (!parts) return parts.error();
  if (!parts->unit.empty()) return Error{"'" + std::string(text) + "' is not a plain number"};
  return parts->number;
}

Result<std::int64_t> parse_count(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end == text.data() + text.size() && failure == std::errc::result_out_of_range && !text.starts_with('-'))
    return Error{"'" + std::string(text) + "' is more than " +
                 std::to_string(std::numeric_limits<std::int64_t>::max())};
  if (failure != std::errc() || end != text.data() + text.size() || number < 1)
    return Error{"'" + std::string(text) + "' is not a positive whole number"};
  return number;
}

}  // namespace phaze
