#include "phaze/placement/table_sums.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace phaze::placement {

RangeMax::RangeMax(std::vector<double> values) {
  levels_.push_back(std::move(values));
  for (std::size_t width = 2; width <= levels_.front().size(); width *= 2) {
    const std::vector<double>& below = levels_.back();
    std::vector<double> level(levels_.front().size() - width + 1);
    for (std::size_t i = 0; i < level.size(); ++i) level[i] = std::max(below[i], below[i + width / 2]);
    levels_.push_back(std::move(level));
  }
}

double RangeMax::over(std::size_t begin, std::size_t end) const {
  if (begin >= end) return 0;
  const auto level = static_cast<std::size_t>(std::bit_width(end - begin) - 1);
  return std::max(levels_[level][begin], levels_[level][end - (std::size_t{1} << level)]);
}

TableSums::TableSums(const LayerTable& table) : table_(&table) {
  const std::size_t n = table.size();
  const auto sums = [&](auto&& value) {
    std::vector<double> prefix(n + 1, 0);
    for (std::size_t i = 0; i < n; ++i) prefix[i + 1] = prefix[i] + value(table.layer(i));
    return prefix;
  };
  const auto largest = [&](auto&& value) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = value(table.layer(i));
    return RangeMax(std::move(values));
  };
  forward_ = sums([](const LayerCost& layer) { return layer.forward.seconds; });
  backward_ = sums([](const LayerCost& layer) { return layer.backward.seconds; });
  parameters_ = sums([](const LayerCost& layer) { return layer.parameters; });
  for (std::size_t p = 0; p < kPolicies.size(); ++p) {
    recompute_[p] = sums([p](const LayerCost& layer) { return layer.recompute[p].seconds; });
    saved_[p] = sums([p](const LayerCost& layer) { return layer.saved[p]; });
    rerun_[p] = largest([p](const LayerCost& layer) { return layer.saved[0] - layer.saved[p]; });
  }
  tied_ = largest([](const LayerCost& layer) { return layer.tied_parameters; });
  layer_parameters_ = largest([](const LayerCost& layer) { return layer.parameters; });
  any_tied_ = tied_.over(0, n) > 0;
  for (std::size_t i = 0; i < n; ++i)
    heaviest_ = std::max(heaviest_, table.layer(i).forward.seconds + table.layer(i).backward.seconds);
}

}  // namespace phaze::placement
