#include "phaze/schedule/rising_limit.h"

#include <algorithm>
#include <cmath>

namespace phaze::schedule {
namespace {

// By this the first limit is above the bound.
constexpr double kNextToNothing = 1e-9;
// One of so many parts of what is open is the least step; while passes take next to nothing, a smaller one.
constexpr double kMostSteps = 16, kMostSmallSteps = 256;
constexpr double kGrowth = 3;
constexpr std::uint64_t kMoreUnits = 4;
// Less than this says nothing about what will follow.
constexpr std::uint64_t kFew = 100;

}  // namespace

double RisingLimit::next(double bound, double shortest) const {
  const double least = bound * (1 + kNextToNothing);
  if (seen_ == 0) return std::min(least, shortest);
  double step = seen_ - first_;
  if (units_for_seen_ > units_before_ && seen_before_ > 0)
    step = std::min(step, std::log(kGrowth) * (seen_ - seen_before_) /
                              std::log(static_cast<double>(units_for_seen_) / static_cast<double>(units_before_)));
  step = std::max(step, (shortest - first_) / (units_for_seen_ > kFew ? kMostSteps : kMostSmallSteps));
  // Where little is left, all of it.
  if (shortest - seen_ < 1.5 * step) return shortest;
  return std::min(std::max(seen_ + step, least), shortest);
}

void RisingLimit::needs_more() { most_ *= kMoreUnits; }

void RisingLimit::saw_all(double limit, std::uint64_t units) {
  seen_before_ = seen_;
  units_before_ = units_for_seen_;
  seen_ = limit;
  units_for_seen_ = std::max(units, kFew);
  most_ = std::max(most_, kMoreUnits * units);
}

}  // namespace phaze::schedule
