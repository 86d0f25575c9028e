// Bounds that all chips of the same peak rates and memory share: worked out once, by whichever chip asks first.
#pragma once

#include <cstddef>
#include <deque>
#include <limits>
#include <vector>

#include "phaze/search/placed.h"

namespace phaze::search {

// Least seconds per batch of each configuration of a model. May be used by several threads at once.
class RooflineBounds {
 public:
  explicit RooflineBounds(std::vector<double> closed_form);

  double closed_form(std::size_t configuration) const { return closed_form_[configuration]; }
  double least() const { return least_; }  // of all, by the closed form

  // With the exact placement, if that is less than `limit`; infinite otherwise. `work_out` answers the same question
  // where nobody has asked it yet.
  double placed(std::size_t configuration, double limit, const PlacedOnce::WorkOut& work_out) {
    return placed_[configuration].below(limit, work_out).seconds;
  }

 private:
  std::vector<double> closed_form_;
  double least_ = std::numeric_limits<double>::infinity();
  std::deque<PlacedOnce> placed_;
};

}  // namespace phaze::search
