#include "phaze/base/stop.h"

#include <algorithm>

namespace phaze {
namespace {

// The clock costs more than a step, so it is asked once in so many units.
constexpr std::uint64_t kBetweenLooks = 256;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Stop::Stop(const Limits& limits) : limits_(limits), next_look_(std::min(kBetweenLooks, limits.work)) {}

Stop Stop::with(std::uint64_t work) const {
  Stop other = *this;
  other.limits_.work = work < kUnlimited - spent_ ? spent_ + work : kUnlimited;
  other.next_look_ = std::min(next_look_, other.limits_.work);
  if (other.reason_ == Reason::kWork && work > 0) other.reason_ = Reason::kNone;
  return other;
}

double Stop::seconds_left() const {
  if (!limits_.seconds) return std::numeric_limits<double>::infinity();
  return *limits_.seconds - seconds_since(started_);
}

bool Stop::look() {
  if (reason_ != Reason::kNone) return true;
  next_look_ = std::min(spent_ < kUnlimited - kBetweenLooks ? spent_ + kBetweenLooks : kUnlimited, limits_.work);
  if (spent_ >= limits_.work)
    reason_ = Reason::kWork;
  else if (limits_.requested != nullptr && limits_.requested())
    reason_ = Reason::kRequested;
  else if (limits_.seconds && seconds_left() <= 0)
    reason_ = Reason::kDeadline;
  return reason_ != Reason::kNone;
}

}  // namespace phaze
