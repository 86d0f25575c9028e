#include "phaze/search/roofline_bounds.h"

#include <algorithm>

namespace phaze::search {

RooflineBounds::RooflineBounds(std::vector<double> closed_form)
    : closed_form_(std::move(closed_form)), placed_(closed_form_.size()) {
  for (std::atomic<double>& value : placed_) value.store(kUnknown, std::memory_order_relaxed);
  for (const double value : closed_form_) least_ = std::min(least_, value);
}

double RooflineBounds::placed(std::size_t configuration, const std::function<double()>& work_out) {
  std::atomic<double>& known = placed_[configuration];
  double value = known.load(std::memory_order_relaxed);
  if (value != kUnknown) return value;
  value = work_out();
  known.store(value, std::memory_order_relaxed);
  return value;
}

}  // namespace phaze::search
