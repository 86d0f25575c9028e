#include "phaze/hardware/parameter.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/hardware/exact_text.h"

namespace phaze::hardware {
namespace {

constexpr double kLargestCount = 1 << 20;

Result<double> count(std::string_view text) {
  const auto value = parse_count(text);
  if (!value) return value.error();
  if (static_cast<double>(*value) > kLargestCount) return Error{"'" + std::string(text) + "' is more than 1048576"};
  return static_cast<double>(*value);
}

Result<double> bytes(std::string_view text) {
  const auto value = parse_bytes(text);
  if (!value) return value.error();
  return static_cast<double>(value->value());
}

Result<double> nanometres(std::string_view text) {
  if (!text.ends_with("nm")) return Error{"'" + std::string(text) + "' does not end in nm", "", "write it like 7nm"};
  text.remove_suffix(2);
  const auto value = parse_count(text);
  if (!value) return value.error();
  if (*value < 2 || *value > 90) return Error{"'" + std::string(text) + "nm' is not between 2nm and 90nm"};
  return static_cast<double>(*value);
}

std::string plain(double value) { return fmt::format("{}", value); }
std::string hertz_text(double value) { return exact_text(value, 1e9, "GHz", "Hz"); }
std::string rate_text(double value) { return exact_text(value, 1e9, "GB/s", "B/s"); }
std::string nanometre_text(double value) { return fmt::format("{:.0f}nm", value); }

// The largest unit that leaves a whole number.
std::string byte_text(double value) {
  const auto bytes = static_cast<std::int64_t>(value);
  struct Unit {
    std::int64_t size;
    const char* name;
  };
  constexpr std::array<Unit, 5> kUnits = {
      {{1 << 30, "GiB"}, {1'000'000'000, "GB"}, {1 << 20, "MiB"}, {1'000'000, "MB"}, {1 << 10, "KiB"}}};
  for (const Unit& unit : kUnits)
    if (bytes % unit.size == 0) return fmt::format("{}{}", bytes / unit.size, unit.name);
  return fmt::format("{}B", bytes);
}

std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

constexpr std::array<Parameter, 13> kParameters = {{
    {"tensor_cores", count, plain, [](const Chip& c) { return static_cast<double>(c.tensor_cores.count); },
     [](Chip& c, double v) { c.tensor_cores.count = whole(v); }},
    {"rows", count, plain, [](const Chip& c) { return static_cast<double>(c.tensor_cores.rows); },
     [](Chip& c, double v) { c.tensor_cores.rows = whole(v); }},
    {"cols", count, plain, [](const Chip& c) { return static_cast<double>(c.tensor_cores.cols); },
     [](Chip& c, double v) { c.tensor_cores.cols = whole(v); }},
    {"vector_cores", count, plain, [](const Chip& c) { return static_cast<double>(c.vector_cores.count); },
     [](Chip& c, double v) { c.vector_cores.count = whole(v); }},
    {"lanes", count, plain, [](const Chip& c) { return static_cast<double>(c.vector_cores.lanes); },
     [](Chip& c, double v) { c.vector_cores.lanes = whole(v); }},
    {"glb", bytes, byte_text, [](const Chip& c) { return static_cast<double>(c.global_buffer.value()); },
     [](Chip& c, double v) { c.global_buffer = Bytes(whole(v)); }},
    {"glb_bytes_per_cycle", count, plain, [](const Chip& c) { return c.global_buffer_bytes_per_cycle; },
     [](Chip& c, double v) { c.global_buffer_bytes_per_cycle = v; }},
    {"core_buffer", bytes, byte_text, [](const Chip& c) { return static_cast<double>(c.core_buffer.value()); },
     [](Chip& c, double v) { c.core_buffer = Bytes(whole(v)); }},
    {"hbm", bytes, byte_text, [](const Chip& c) { return static_cast<double>(c.hbm.value()); },
     [](Chip& c, double v) { c.hbm = Bytes(whole(v)); }},
    {"hbm_bandwidth", parse_bytes_per_second, rate_text, [](const Chip& c) { return c.hbm_bandwidth; },
     [](Chip& c, double v) { c.hbm_bandwidth = v; }},
    {"links", parse_bytes_per_second, rate_text, [](const Chip& c) { return c.link_bandwidth; },
     [](Chip& c, double v) { c.link_bandwidth = v; }},
    {"clock", parse_hertz, hertz_text, [](const Chip& c) { return c.clock_hz; },
     [](Chip& c, double v) { c.clock_hz = v; }},
    {"process", nanometres, nanometre_text, [](const Chip& c) { return c.process_nm; },
     [](Chip& c, double v) { c.process_nm = v; }},
}};

}  // namespace

std::span<const Parameter> parameters() { return kParameters; }

Result<const Parameter*> find_parameter(std::string_view name) {
  std::vector<std::string> known;
  for (const Parameter& parameter : kParameters) {
    if (parameter.name == name) return &parameter;
    known.emplace_back(parameter.name);
  }
  return Error{"unknown key '" + std::string(name) + "'", "", suggest(name, known)};
}

}  // namespace phaze::hardware
