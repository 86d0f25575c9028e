// The phaze command: a thin shell over the library.
#pragma once

namespace phaze::cli {

// Exit codes that programs may rely on.
enum ExitCode : int { kAnswered = 0, kBadInput = 2, kInfeasible = 3, kInterrupted = 130 };

int run(int argc, const char* const* argv);

}  // namespace phaze::cli
