#include "phaze/placement/front.h"

#include <algorithm>
#include <utility>

namespace phaze::placement {
namespace {

// Sums that are added up in another order differ in their last digits: no plan is called smaller or faster for these.
constexpr double kRounding = 1e-9;

}  // namespace

Front time_memory_front(const Request& request, double step, Progress& progress) {
  Front front;
  Request limited = request;
  while (limited.devices.memory >= 0) {
    Solution solution = solve(limited, {.keep = 1}, progress);
    if (solution.termination == Termination::kStopped) {
      front.complete = false;
      break;
    }
    if (solution.plans.empty()) break;
    Ranked& found = solution.plans.front();
    const double memory = found.evaluation.peak_memory();
    if (!front.plans.empty() &&
        found.evaluation.time_per_batch <= front.plans.back().evaluation.time_per_batch * (1 + kRounding))
      front.plans.pop_back();
    front.plans.push_back(std::move(found));
    limited.devices.memory = memory - std::max(step, memory * kRounding);
    if (memory == 0) break;
  }
  return front;
}

}  // namespace phaze::placement
