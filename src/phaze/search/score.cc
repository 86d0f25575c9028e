#include "phaze/search/score.h"

#include <cmath>
#include <utility>

#include "phaze/hardware/area.h"
#include "phaze/hardware/power.h"
#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using placement::kNever;
// Scores are inverted to times with a rounding error; what lies within it is worked out in full.
constexpr double kInversion = 1 + 1e-12;

}  // namespace

double cost_of(const hardware::Chip& chip, const Problem& problem) {
  switch (problem.objective) {
    case Objective::kThroughput:
    case Objective::kPareto: return 1;
    case Objective::kPerWatt: return hardware::thermal_design_power(chip).total;
    case Objective::kPerArea: return hardware::area(chip, problem.area_model).total;
  }
  return 1;
}

Score::Score(const Problem& problem, std::vector<std::size_t> models) : problem_(&problem), models_(std::move(models)) {
  double sum = 0;
  for (const std::size_t model : models_) sum += weight(model);
  for (const std::size_t model : models_) shares_.push_back(weight(model) / sum);
}

double Score::of(const std::vector<double>& seconds, double cost) const {
  double score = 0;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (seconds[i] == kNever) return 0;
    const double value = worth(i, seconds[i]);
    if (one())
      score = value;
    else
      score += geometric() ? shares_[i] * std::log(value) : shares_[i] * value;
  }
  if (!one() && geometric()) score = std::exp(score);
  return score / cost;
}

double Score::enough(std::size_t i, const std::vector<double>& seconds, double cost, double least) const {
  if (least <= 0) return kNever;
  double needed = least * cost;
  if (!one()) {
    double others = 0;
    for (std::size_t j = 0; j < models_.size(); ++j)
      if (j != i) others += shares_[j] * (geometric() ? std::log(worth(j, seconds[j])) : worth(j, seconds[j]));
    needed = geometric() ? std::exp((std::log(needed) - others) / shares_[i]) : (needed - others) / shares_[i];
  }
  return needed > 0 ? batch(i) / (needed * base(i)) * kInversion : kNever;
}

double Score::seconds_alone(std::size_t i, double score, double cost) const {
  return batch(i) / (score * cost * kInversion);
}

double Score::batch(std::size_t i) const {
  return static_cast<double>(problem_->workloads[models_[i]].training.global_batch);
}

double Score::base(std::size_t i) const {
  return one() || !geometric() || problem_->baseline.empty() ? 1 : problem_->baseline[models_[i]];
}

}  // namespace phaze::search
