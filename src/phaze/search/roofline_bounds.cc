#include "phaze/search/roofline_bounds.h"

#include <algorithm>
#include <cmath>

namespace phaze::search {

RooflineBounds::RooflineBounds(std::vector<double> closed_form)
    : closed_form_(std::move(closed_form)), placed_(closed_form_.size()) {
  for (std::size_t c = 0; c < placed_.size(); ++c) {
    placed_[c].store(-closed_form_[c], std::memory_order_relaxed);
    least_ = std::min(least_, closed_form_[c]);
  }
}

double RooflineBounds::placed(std::size_t configuration, double limit,
                              const std::function<double(double limit)>& work_out) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::atomic<double>& known = placed_[configuration];
  const double value = known.load(std::memory_order_relaxed);
  // Known to be this, or to be no less than its opposite.
  if (std::abs(value) >= limit) return kNever;
  if (value > 0) return value;
  const double found = work_out(limit);
  if (found < kNever) {
    known.store(found, std::memory_order_relaxed);
    return found;
  }
  // Somebody else may have learnt more in the meantime, or less: what counts is the highest, or the time itself.
  double now = known.load(std::memory_order_relaxed);
  while (now <= 0 && -now < limit && !known.compare_exchange_weak(now, -limit, std::memory_order_relaxed)) {
  }
  return kNever;
}

}  // namespace phaze::search
