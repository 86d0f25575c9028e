#include "phaze/cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>

namespace phaze::cli {
namespace {

// Only a lock-free flag may be touched by a signal handler, and a handler can reach nothing but a global.
volatile std::sig_atomic_t interrupt_requested = 0;

extern "C" void on_interrupt(int signal) {
  interrupt_requested = 1;
  std::signal(signal, SIG_DFL);
}

std::size_t columns() {
  winsize size = {};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return known ? size.ws_col : 80;
}

}  // namespace

void listen_for_interrupt() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);  // what batch systems and mpirun send
}

bool interrupted() { return interrupt_requested != 0; }

TerminalProgress::TerminalProgress() : visible_(isatty(STDERR_FILENO) == 1) {}

bool TerminalProgress::advance(std::string_view what, std::int64_t done, std::int64_t total) {
  const Clock::time_point now = Clock::now();
  // Short work shows nothing, and the screen is redrawn ten times a second at most.
  if (visible_ && now - started_ > std::chrono::milliseconds(300) && now >= next_) {
    next_ = now + std::chrono::milliseconds(100);
    const double fraction =
        total > 0 ? std::clamp(static_cast<double>(done) / static_cast<double>(total), 0.0, 1.0) : 0.0;
    const double elapsed = std::chrono::duration<double>(now - started_).count();
    constexpr std::size_t kWidth = 30;
    const auto filled = static_cast<std::size_t>(fraction * kWidth);
    const std::string bar = std::string(filled, '#') + std::string(kWidth - filled, '.');
    const std::string left = fraction > 0.01 ? fmt::format(", {:.0f} s left", elapsed * (1 - fraction) / fraction) : "";
    // A line that is too long would wrap, and its first half stay on the screen.
    const std::size_t width = columns() - 1;
    std::string line = fmt::format("{} [{}] {:3.0f} %{}", what, bar, 100 * fraction, left);
    if (line.size() > width) line = fmt::format("{}, {:.0f} %{}", what, 100 * fraction, left);
    fmt::print(stderr, "\r\033[K{}", std::string_view(line).substr(0, width));
    std::fflush(stderr);
    drawn_ = true;
  }
  return !interrupted();
}

void TerminalProgress::clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace phaze::cli
