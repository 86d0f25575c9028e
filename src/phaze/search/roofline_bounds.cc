#include "phaze/search/roofline_bounds.h"

#include <algorithm>

namespace phaze::search {

RooflineBounds::RooflineBounds(std::vector<double> closed_form) : closed_form_(std::move(closed_form)) {
  for (const double seconds : closed_form_) {
    placed_.emplace_back(seconds);
    least_ = std::min(least_, seconds);
  }
}

}  // namespace phaze::search
