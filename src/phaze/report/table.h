// Plain-text tables and numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phaze::report {

// Columns as wide as their longest cell; numbers look best to the right.
class Table {
 public:
  enum class Align : std::uint8_t { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void row(std::vector<std::string> cells);
  std::string to_string() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

using Align = Table::Align;

// "6.74 B", "345 M": three significant digits with the usual letter.
std::string readable_count(double value);

// "1.23 TFLOP", "4.5 PFLOP".
std::string readable_flops(double value);

// "18.3 us", "1.2 s".
std::string readable_seconds(double seconds);

// "33.6 MB", "1.2 GB": powers of ten.
std::string readable_bytes(double value);

}  // namespace phaze::report
