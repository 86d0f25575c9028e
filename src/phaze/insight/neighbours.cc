#include <algorithm>

#include "phaze/hardware/least_buffers.h"
#include "phaze/hardware/power.h"
#include "phaze/insight/insight.h"

namespace phaze::insight {
namespace {

using hardware::Chip;
using hardware::DesignSpace;

std::string broken_limit(const DesignSpace& space, const Chip& chip) {
  if (!hardware::holds_products(chip)) return "buffers too small";
  const hardware::Limits& limits = space.limits;
  if (limits.max_area_um2 && hardware::area(chip, limits.area_model).total > *limits.max_area_um2) return "too large";
  if (limits.max_tdp_watts && hardware::thermal_design_power(chip).total > *limits.max_tdp_watts)
    return "too much power";
  return "too small";
}

}  // namespace

std::vector<Neighbour> neighbours(const DesignSpace& space, const search::Problem& problem, const Chip& chip,
                                  double score, const std::vector<std::size_t>& models,
                                  search::ChipEvaluator& evaluator, Progress& progress) {
  std::vector<Neighbour> found;
  for (std::size_t d = 0; d < space.dimensions.size(); ++d) {
    const hardware::Dimension& dimension = space.dimensions[d];
    std::vector<double> values = dimension.values;
    std::ranges::sort(values);
    const double here = dimension.parameter->get(chip);
    const auto place = std::ranges::lower_bound(values, here);
    std::vector<double> beside;
    if (place != values.begin()) beside.push_back(*std::prev(place));
    const auto above = std::ranges::upper_bound(values, here);
    if (above != values.end()) beside.push_back(*above);
    for (const double value : beside) {
      if (!progress.advance("neighbours", static_cast<std::int64_t>(d),
                            static_cast<std::int64_t>(space.dimensions.size())))
        return found;
      Chip other = chip;
      space.set(other, dimension, value);
      Neighbour neighbour{.parameter = std::string(dimension.parameter->name),
                          .from = dimension.parameter->format(here),
                          .to = dimension.parameter->format(value),
                          .allowed = space.keeps(other),
                          .area_um2 = hardware::area(other, problem.area_model).total};
      if (hardware::holds_products(other)) neighbour.score = evaluator.quick_score(other, models);
      if (!neighbour.allowed) neighbour.limit = broken_limit(space, other);
      neighbour.ratio = score > 0 ? neighbour.score / score : 0;
      found.push_back(std::move(neighbour));
    }
  }
  return found;
}

}  // namespace phaze::insight
