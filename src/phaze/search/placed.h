// The best placement of some layers, worked out once for all chips that ask for it: those that differ in little, in
// their vector cores above all, ask for the same placements by the dozen.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "phaze/base/digest.h"
#include "phaze/placement/plan.h"

namespace phaze::search {

struct Placed {
  double seconds = std::numeric_limits<double>::infinity();  // per batch; infinite where there is none
  placement::Strategy strategy;
  double peak_memory = 0;  // bytes on the fullest device
};

// One placement. May be used by several threads at once: who asks what another is about to work out waits for it.
class PlacedOnce {
 public:
  // The placement if it takes less than `limit`; otherwise none, or one that takes no less by rounding.
  using WorkOut = std::function<Placed(double limit)>;

  explicit PlacedOnce(double at_least = 0) : at_least_(at_least) {}

  // Asks `work_out` where what is known does not answer that.
  Placed below(double limit, const WorkOut& work_out) {
    const std::lock_guard lock(mutex_);
    if (at_least_ >= limit) return {};
    if (known_) return placed_;
    placed_ = work_out(limit);
    known_ = placed_.seconds < limit;
    at_least_ = known_ ? placed_.seconds : limit;
    return known_ ? placed_ : Placed{};
  }

 private:
  std::mutex mutex_;
  double at_least_;  // seconds that it takes, or if it is known, just these
  bool known_ = false;
  Placed placed_;
};

// May be used by several threads at once.
class PlacedMemo {
 public:
  // About 250 bytes per entry. When it is full, it begins anew.
  explicit PlacedMemo(std::size_t most = std::size_t{1} << 18) : most_(most) {}

  // The placement that `key` stands for, if it takes less than `limit`.
  Placed below(const Digest& key, double limit, const PlacedOnce::WorkOut& work_out) {
    return entry(key)->below(limit, work_out);
  }

 private:
  std::shared_ptr<PlacedOnce> entry(const Digest& key) {
    const std::lock_guard lock(mutex_);
    if (placements_.size() >= most_ && !placements_.contains(key)) placements_.clear();
    std::shared_ptr<PlacedOnce>& placed = placements_[key];
    if (placed == nullptr) placed = std::make_shared<PlacedOnce>();
    return placed;
  }

  std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<Digest, std::shared_ptr<PlacedOnce>, Digest::Hash> placements_;
};

}  // namespace phaze::search
