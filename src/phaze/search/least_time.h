// A time that is worked out once for all who want to know whether it stays below a limit of theirs.
#pragma once

#include <functional>
#include <limits>
#include <mutex>

namespace phaze::search {

// May be used by several threads at once: who asks what another is about to work out waits for it.
class LeastTime {
 public:
  explicit LeastTime(double at_least = 0) : at_least_(at_least) {}

  // The time if it is less than `limit`, infinite otherwise. `work_out` answers the same question where what is known
  // does not.
  double below(double limit, const std::function<double(double limit)>& work_out) {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    const std::lock_guard lock(mutex_);
    if (at_least_ >= limit) return kNever;
    if (exact_) return at_least_;
    const double found = work_out(limit);
    exact_ = found < kNever;
    at_least_ = exact_ ? found : limit;
    return found;
  }

 private:
  std::mutex mutex_;
  double at_least_;
  bool exact_ = false;  // it is just that
};

}  // namespace phaze::search
