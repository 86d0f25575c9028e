#include "phaze/hardware/calibration_file.h"

#include <fmt/format.h>

#include <array>

#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/hardware/exact_text.h"

namespace phaze::hardware {
namespace {

struct Fraction {
  std::string_view key;
  double Calibration::*member;
};
constexpr std::array<Fraction, 5> kFractions = {{{"compute", &Calibration::compute},
                                                 {"sustained", &Calibration::sustained},
                                                 {"attention", &Calibration::attention},
                                                 {"vector", &Calibration::vector},
                                                 {"hbm", &Calibration::hbm}}};

Status set_tile(Calibration& calibration, std::string_view text) {
  const auto cross = text.find('x');
  const auto rows = parse_count(text.substr(0, cross));
  const auto cols = cross == std::string_view::npos ? rows : parse_count(text.substr(cross + 1));
  if (cross == std::string_view::npos || !rows || !cols || *rows > 65536 || *cols > 65536)
    return Error{"'" + std::string(text) + "' is not a tile of outputs", "", "write it like 128x256"};
  calibration.tile_rows = *rows;
  calibration.tile_cols = *cols;
  return Done{};
}

}  // namespace

std::vector<std::string> calibration_keys() {
  std::vector<std::string> keys;
  keys.reserve(kFractions.size());
  for (const Fraction& fraction : kFractions) keys.emplace_back(fraction.key);
  keys.insert(keys.end(), {"start", "dispatch", "tile", "serial"});
  return keys;
}

Status set_calibration(Calibration& calibration, std::string_view key, std::string_view text) {
  for (const Fraction& fraction : kFractions) {
    if (fraction.key != key) continue;
    const auto value = parse_positive(text);
    if (!value) return value.error();
    if (*value > 1) return Error{"'" + std::string(text) + "' is more than 1", "", "it is a fraction of the peak"};
    calibration.*fraction.member = *value;
    return Done{};
  }
  if (key == "start" || key == "dispatch") {
    const auto value = parse_seconds(text);
    if (!value) return value.error();
    (key == "start" ? calibration.start_seconds : calibration.dispatch_seconds) = *value;
    return Done{};
  }
  if (key == "tile") return set_tile(calibration, text);
  if (key == "serial") {
    if (text != "true" && text != "false") return Error{"'" + std::string(text) + "' is neither true nor false"};
    calibration.serial = text == "true";
    return Done{};
  }
  return Error{"unknown key 'calibration." + std::string(key) + "'", "", suggest(key, calibration_keys())};
}

std::string calibration_text(const Calibration& calibration) {
  std::string text = "calibration:\n";
  for (const Fraction& fraction : kFractions)
    if (calibration.*fraction.member != 1)
      text += fmt::format("  {}: {}\n", fraction.key, calibration.*fraction.member);
  const auto microseconds = [](double seconds) { return exact_text(seconds, 1e-6, "us", "s"); };
  if (calibration.start_seconds > 0) text += "  start: " + microseconds(calibration.start_seconds) + "\n";
  if (calibration.dispatch_seconds > 0) text += "  dispatch: " + microseconds(calibration.dispatch_seconds) + "\n";
  if (calibration.tile_rows > 0) text += fmt::format("  tile: {}x{}\n", calibration.tile_rows, calibration.tile_cols);
  if (calibration.serial) text += "  serial: true\n";
  return text;
}

}  // namespace phaze::hardware
