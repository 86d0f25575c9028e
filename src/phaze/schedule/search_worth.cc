#include "phaze/schedule/search_worth.h"

#include <algorithm>
#include <limits>

namespace phaze::schedule {
namespace {

void set_least(const Block& block, SearchWorth& worth) {
  worth.least.resize(block.size);
  worth.shareable.resize(block.size);
  for (std::size_t i = 0; i < block.size; ++i) {
    double least = std::numeric_limits<double>::infinity(), shareable = least;
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      const double earned = worth.rates[m] * static_cast<double>(block.modes[m].duration);
      least = std::min(least, earned);
      if (!block.modes[m].exclusive) shareable = std::min(shareable, earned);
    }
    worth.least[i] = least;
    worth.shareable[i] = shareable;
  }
}

}  // namespace

void set_worth(const Block& block, std::span<const double> rates, SearchWorth& worth) {
  worth.rates.assign(rates.begin(), rates.end());
  set_least(block, worth);
}

void set_worth(const Block& block, std::size_t resource, SearchWorth& worth) {
  worth.rates.resize(block.modes.size());
  for (std::size_t m = 0; m < block.modes.size(); ++m)
    worth.rates[m] = static_cast<double>(block.demand(m)[resource]) / static_cast<double>(kCapacityUnits);
  set_least(block, worth);
}

void reverse(const Block& block, const SearchWorth& worth, SearchWorth& reversed) {
  reversed.least.assign(worth.least.rbegin(), worth.least.rend());
  reversed.shareable.assign(worth.shareable.rbegin(), worth.shareable.rend());
  reversed.rates.clear();
  for (std::size_t i = block.size; i-- > 0;)
    reversed.rates.insert(reversed.rates.end(), worth.rates.begin() + block.mode_offsets[i],
                          worth.rates.begin() + block.mode_offsets[i + 1]);
}

}  // namespace phaze::schedule
