// Stop: when long work should end early. A deadline, a budget of work units and a request from outside (Ctrl-C) in one.
//
// Solvers spend() a unit per step and return what they have when it says no. Work units repeat from run to run, seconds
// do not: give a budget where answers must be reproducible, a deadline where a person waits.
//
//   Stop stop({.seconds = 1.0, .work = 100'000});
//   while (stop.spend()) step();
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>

namespace phaze {

class Stop {
 public:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

  struct Limits {
    std::optional<double> seconds = {};  // from construction
    std::uint64_t work = kUnlimited;     // units
    bool (*requested)() = nullptr;       // asked from time to time; true means stop
  };
  enum class Reason : std::uint8_t { kNone, kDeadline, kWork, kRequested };

  Stop() : Stop(Limits()) {}
  explicit Stop(const Limits& limits);

  // Counts `units` of work; false once the work should end, and from then on.
  bool spend(std::uint64_t units = 1) {
    spent_ += units;
    if (spent_ < next_look_ && reason_ == Reason::kNone) [[likely]]
      return true;
    return !look();
  }
  // One like this with no more than so many units left. What it spends is for the caller to add here.
  Stop part(std::uint64_t work) const { return with(std::min(work, work_left())); }
  // One like this with so many units left, be it more than are left here.
  Stop with(std::uint64_t work) const;
  // Looks at the clock and the outside at once, whatever was spent.
  bool reached() { return look(); }

  std::uint64_t spent() const { return spent_; }
  // Units left of the budget; kUnlimited without one.
  std::uint64_t work_left() const {
    if (limits_.work == kUnlimited) return kUnlimited;
    return limits_.work - std::min(spent_, limits_.work);
  }
  Reason reason() const { return reason_; }
  // Seconds left until the deadline; infinite without one.
  double seconds_left() const;

 private:
  bool look();

  Limits limits_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::uint64_t spent_ = 0;
  std::uint64_t next_look_ = 0;
  Reason reason_ = Reason::kNone;
};

}  // namespace phaze
