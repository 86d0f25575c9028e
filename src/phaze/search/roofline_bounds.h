// Bounds that all chips of the same peak rates and memory share: worked out once, by whichever chip asks first.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace phaze::search {

// Least seconds per batch of each configuration of a model. May be used by several threads at once: two that ask for
// the same value may both work it out, and get the same.
class RooflineBounds {
 public:
  explicit RooflineBounds(std::vector<double> closed_form);

  std::size_t size() const { return closed_form_.size(); }
  double closed_form(std::size_t configuration) const { return closed_form_[configuration]; }
  double least() const { return least_; }  // of all, by the closed form

  // With the exact placement, if that is less than `limit`; infinite otherwise. `work_out` answers the same question
  // where nobody has asked it yet.
  double placed(std::size_t configuration, double limit, const std::function<double(double limit)>& work_out);

 private:
  std::vector<double> closed_form_;
  double least_ = std::numeric_limits<double>::infinity();
  // A time that is known, or, negative, one that it is known to reach.
  std::vector<std::atomic<double>> placed_;
};

}  // namespace phaze::search
