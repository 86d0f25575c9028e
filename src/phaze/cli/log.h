// Messages to standard error, by level.
#pragma once

#include <cstdint>
#include <string_view>

namespace phaze::cli {

enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug };

class Log {
 public:
  void set_level(LogLevel level) { level_ = level; }
  bool shows(LogLevel level) const { return level <= level_; }

  void error(std::string_view text) const { write(LogLevel::kError, "error", text); }
  void warning(std::string_view text) const { write(LogLevel::kWarning, "warning", text); }
  void info(std::string_view text) const { write(LogLevel::kInfo, "info", text); }
  void debug(std::string_view text) const { write(LogLevel::kDebug, "debug", text); }

 private:
  void write(LogLevel level, std::string_view label, std::string_view text) const;

  LogLevel level_ = LogLevel::kWarning;
};

}  // namespace phaze::cli
