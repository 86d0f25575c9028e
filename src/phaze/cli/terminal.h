// A progress bar on a terminal, silence elsewhere, and Ctrl-C as a request to stop.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "phaze/base/progress.h"

namespace phaze::cli {

// From here on Ctrl-C, or SIGTERM, asks the running work to stop at its next step; a second Ctrl-C ends the program at
// once.
void listen_for_interrupt();
bool interrupted();

class TerminalProgress final : public Progress {
 public:
  TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;
  ~TerminalProgress() override { clear(); }

  bool advance(std::string_view what, std::int64_t done, std::int64_t total) override;
  // Takes the bar off the screen, before anything else is written there.
  void clear();
  void hide() { visible_ = false; }

 private:
  using Clock = std::chrono::steady_clock;

  bool visible_;
  bool drawn_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_ = started_;
};

}  // namespace phaze::cli
