#include "phaze/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "phaze/base/check.h"

namespace phaze::report {
namespace {

// Letters beyond ASCII take several bytes but one column: count the bytes that start a character.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string pad(std::string_view text, std::size_t to, Table::Align align) {
  const std::string space(to - std::min(to, width(text)), ' ');
  return align == Table::Align::kRight ? space + std::string(text) : std::string(text) + space;
}

std::string with_unit(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{:.3g} {}", value, units[unit]);
}

}  // namespace

void Table::row(std::vector<std::string> cells) {
  check(cells.size() == columns_.size(), "a row has one cell per column");
  rows_.push_back(std::move(cells));
}

std::string Table::to_string() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t widest = width(columns_[c].title);
    for (const auto& row : rows_) widest = std::max(widest, width(row[c]));
    widths.push_back(widest);
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      text += (c == 0 ? "" : "  ") + pad(cell(c), widths[c], columns_[c].align);
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line([&](std::size_t c) { return columns_[c].title; });
  line([&](std::size_t c) { return std::string(widths[c], '-'); });
  for (const auto& row : rows_) line([&](std::size_t c) { return row[c]; });
  return out;
}

std::string readable_count(double value) {
  constexpr std::array kUnits = {"", "k", "M", "B", "T"};
  std::string text = with_unit(value, kUnits);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string readable_flops(double value) {
  constexpr std::array kUnits = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
  return with_unit(value, kUnits);
}

std::string readable_seconds(double seconds) {
  struct Unit {
    double size;
    const char* name;
  };
  for (const Unit& unit : {Unit{1, "s"}, Unit{1e-3, "ms"}, Unit{1e-6, "us"}})
    // Sums of durations may fall a rounding error short of a round number.
    if (seconds >= unit.size * (1 - 1e-9)) return fmt::format("{:.4g} {}", seconds / unit.size, unit.name);
  return seconds > 0 ? fmt::format("{:.4g} ns", seconds / 1e-9) : "0 s";
}

std::string readable_bytes(double value) {
  constexpr std::array kUnits = {"B", "KB", "MB", "GB", "TB", "PB"};
  return with_unit(value, kUnits);
}

}  // namespace phaze::report
