// What placements of layers take, by the times of the layers: chips that differ in little, in their vector cores above
// all, ask for the same placements by the dozen.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "phaze/base/digest.h"
#include "phaze/search/least_time.h"

namespace phaze::search {

// May be used by several threads at once.
class PlacedTimes {
 public:
  // About 150 bytes per entry. When it is full, it begins anew.
  explicit PlacedTimes(std::size_t most = std::size_t{1} << 18) : most_(most) {}

  // As LeastTime: the time of the placement that `key` stands for, if it is less than `limit`.
  double below(const Digest& key, double limit, const std::function<double(double limit)>& work_out) {
    return entry(key)->below(limit, work_out);
  }

 private:
  std::shared_ptr<LeastTime> entry(const Digest& key) {
    const std::lock_guard lock(mutex_);
    if (times_.size() >= most_ && !times_.contains(key)) times_.clear();
    std::shared_ptr<LeastTime>& time = times_[key];
    if (time == nullptr) time = std::make_shared<LeastTime>();
    return time;
  }

  struct Hash {
    std::size_t operator()(const Digest& key) const { return static_cast<std::size_t>(key.low); }
  };

  std::size_t most_;
  std::mutex mutex_;
  std::unordered_map<Digest, std::shared_ptr<LeastTime>, Hash> times_;
};

}  // namespace phaze::search
