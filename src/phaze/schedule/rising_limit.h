// Limits for passes for the proof, from low to high.
//
// A pass for the proof (exact.h) sees all states whose bounds are below its limit. With the optimum as its limit it
// sees none that is of no use; with that of a schedule somewhat longer it may see ten times as many, for the number of
// states grows exponentially with the limit. So the first limit is next to the bound, and if no schedule is shorter
// than that, the next is higher, and so on. All passes before the last together take about half as much as the last.
//
// The next limit is that for which a pass would take three times as much as the last one, if it went on as from the one
// before to that. It is at most twice as far from the bound, since a few states say little; but a limit rises by some
// part of the gap in any case, so that there is an end.
#pragma once

#include <cstdint>

namespace phaze::schedule {

class RisingLimit {
 public:
  // No schedule is shorter than the bound.
  explicit RisingLimit(double bound) : first_(bound) {}

  // Between a bound and the makespan of a schedule at hand, or a little below it.
  double next(double bound, double shortest) const;
  // Units of work for the pass with that limit.
  std::uint64_t most() const { return most_; }
  // The pass with this limit took so many units.
  void saw_all(double limit, std::uint64_t units);
  // They did not suffice.
  void needs_more();

 private:
  static constexpr std::uint64_t kFirstMost = 6000;

  double first_;
  double seen_ = 0, seen_before_ = 0;                    // the last two limits of passes that saw all
  std::uint64_t units_for_seen_ = 0, units_before_ = 0;  // and what they took
  std::uint64_t most_ = kFirstMost;
};

}  // namespace phaze::schedule
