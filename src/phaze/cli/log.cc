#include "phaze/cli/log.h"

#include <cstdio>
#include <string>

namespace phaze::cli {

void Log::write(LogLevel level, std::string_view label, std::string_view text) const {
  if (!shows(level)) return;
  const std::string line = "phaze: " + std::string(label) + ": " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace phaze::cli
