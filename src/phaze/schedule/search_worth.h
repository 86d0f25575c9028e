// Worths (bounds.h) as the search uses them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "phaze/schedule/block.h"

namespace phaze::schedule {

// What each mode earns a tick, and what an operator earns at least, in ticks.
struct SearchWorth {
  std::vector<double> rates;      // per mode
  std::vector<double> least;      // per operator, over all modes
  std::vector<double> shareable;  // per operator, over modes that are not exclusive; what it earns once barred
};

// In ticks, more than what rounding may add to a sum of worths, operator by operator.
inline constexpr double kWorthRounding = 1000;

void set_worth(const Block& block, std::span<const double> rates, SearchWorth& worth);

// The one of which every mode earns its share of a resource.
void set_worth(const Block& block, std::size_t resource, SearchWorth& worth);

// The same worth of the reversed block.
void reverse(const Block& block, const SearchWorth& worth, SearchWorth& reversed);

}  // namespace phaze::schedule
