// Why nothing fits. The least memory and the fewest devices that would do are found with the solver itself: with less
// memory or fewer devices it finds no plan, with these it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "phaze/placement/solve.h"

namespace phaze::placement {
namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;

class Explainer {
 public:
  explicit Explainer(const Request& request) : request_(request) {}

  Shortage run() {
    Shortage shortage;
    if (const std::int64_t devices = least_devices_whatever_memory(); devices > request_.devices.count) {
      shortage.sufficient_devices = devices;
      shortage.reason = fmt::format("too few devices: {} given, at least {} needed whatever their memory",
                                    request_.devices.count, devices);
      return shortage;
    }
    if (!fits(kPlenty, request_.devices.count)) {
      shortage.reason = "no plan has the shape asked for: " + shape();
      return shortage;
    }
    shortage.sufficient_memory = least_memory();
    shortage.sufficient_devices = fewest_devices();
    shortage.reason =
        fmt::format("too little memory: {:.4g} GB per device given, at least {:.4g} GB needed on {} devices",
                    request_.devices.memory / 1e9, shortage.sufficient_memory / 1e9, request_.devices.count);
    if (shortage.sufficient_devices > 0)
      shortage.reason +=
          fmt::format("; with the memory given, at least {} devices would do", shortage.sufficient_devices);
    else
      shortage.reason += "; with the memory given, no number of devices would do";
    return shortage;
  }

 private:
  static constexpr double kPlenty = 1e30;

  bool fits(double memory, std::int64_t devices) const {
    const std::int64_t capacity = request_.devices.network.capacity();
    if (capacity > 0 && devices > capacity) return false;
    Request other = request_;
    other.devices.memory = memory;
    other.devices.count = devices;
    NoProgress silent;
    return !solve(other, {.keep = 1, .any = true}, silent).plans.empty();
  }

  std::int64_t least_devices_whatever_memory() const {
    std::int64_t width = kMostDevices;
    for (const LayerTable& table : request_.tables) width = std::min(width, table.tensor_parallel);
    return width * std::max<std::int64_t>(1, request_.freedom.pipeline) *
           std::max<std::int64_t>(1, request_.freedom.data_parallel);
  }

  std::string shape() const {
    std::string text;
    const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + std::move(part); };
    const Freedom& freedom = request_.freedom;
    if (freedom.pipeline > 0)
      add(fmt::format("{} stages of {} layers", freedom.pipeline, request_.tables.front().size()));
    if (freedom.data_parallel > 0)
      add(fmt::format("{} replicas of {} samples", freedom.data_parallel, request_.training.global_batch));
    if (!freedom.interleave.empty())
      add(fmt::format(
          "{} chunks per stage, which must divide the repeated layers, with microbatches in multiples of the "
          "stages",
          freedom.interleave.front()));
    return text;
  }

  double least_memory() const {
    double low = request_.devices.memory, high = std::max(1.0, low);
    while (!fits(high, request_.devices.count)) high *= 2;
    for (int step = 0; step < 60 && high - low > std::max(1.0, high * 1e-12); ++step) {
      const double middle = low + (high - low) / 2;
      (fits(middle, request_.devices.count) ? high : low) = middle;
    }
    return std::ceil(high);
  }

  // 0 where no number up to kMostDevices helps. More devices never hurt, so the fewest are found by halving.
  std::int64_t fewest_devices() const {
    if (request_.freedom.pipeline > 0 && request_.freedom.data_parallel > 0) return 0;
    std::int64_t high = 2 * request_.devices.count;
    while (high <= kMostDevices && !fits(request_.devices.memory, high)) high *= 2;
    if (high > kMostDevices) return 0;
    std::int64_t low = high / 2;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (fits(request_.devices.memory, middle) ? high : low) = middle;
    }
    return high;
  }

  const Request& request_;
};

}  // namespace

Shortage explain(const Request& request) { return Explainer(request).run(); }

}  // namespace phaze::placement
