// What every command shares: how to answer, where to log, and the exit code to leave with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/cli/app.h"
#include "phaze/cli/log.h"
#include "phaze/cli/terminal.h"

namespace phaze::cli {

struct Session {
  bool json = false;
  bool silent = false;                 // another process of the same job speaks
  std::vector<std::string> arguments;  // the command line
  Log log;
  TerminalProgress progress;
  int exit_code = kAnswered;

  // Writes a finished answer to standard output.
  void answer(std::string_view text);
  // Reports bad input, or the user's Ctrl-C, and sets the exit code.
  void fail(const Error& error);
};

}  // namespace phaze::cli
