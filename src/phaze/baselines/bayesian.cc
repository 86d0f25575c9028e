#include "phaze/baselines/bayesian.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "phaze/hardware/parameter.h"

namespace phaze::baselines {
namespace {

class BayesianSearch {
 public:
  BayesianSearch(const Points& candidates, const std::function<double(std::size_t)>& evaluate,
                 const BayesianOptions& options)
      : candidates_(candidates), evaluate_(evaluate), options_(options), random_(options.seed) {
    untried_.resize(candidates.size());
    for (std::size_t i = 0; i < untried_.size(); ++i) untried_[i] = i;
  }

  BayesianResult run(Progress& progress) {
    const std::size_t budget = std::min(options_.budget, candidates_.size());
    while (result_.trials.size() < budget) {
      if (!progress.advance("Bayesian trials", static_cast<std::int64_t>(result_.trials.size()),
                            static_cast<std::int64_t>(budget))) {
        result_.stopped = true;
        break;
      }
      const std::size_t place = choose();
      const std::size_t candidate = untried_[place];
      untried_.erase(untried_.begin() + static_cast<std::ptrdiff_t>(place));
      result_.trials.push_back({candidate, std::max(0.0, evaluate_(candidate))});
    }
    return std::move(result_);
  }

 private:
  // Where among the untried the next candidate stands.
  std::size_t choose() {
    const Trial* best = result_.best();
    if (result_.trials.size() < options_.first || best == nullptr) return random_() % untried_.size();
    Points tried{.dimensions = candidates_.dimensions};
    for (const Trial& trial : result_.trials) tried.add(candidates_.row(trial.candidate));
    const std::vector<double> values = standardised();
    // The likeliest hyperparameters change little from trial to trial and cost more than all predictions.
    constexpr std::size_t kRefit = 8;
    if (!hyperparameters_ || result_.trials.size() >= fitted_at_ + kRefit) {
      hyperparameters_ = most_likely(tried, values);
      fitted_at_ = result_.trials.size();
    }
    const GaussianProcess process(tried, values, *hyperparameters_);
    Points points{.dimensions = candidates_.dimensions};
    points.values.reserve(untried_.size() * candidates_.dimensions);
    for (const std::size_t candidate : untried_) points.add(candidates_.row(candidate));
    const std::vector<Prediction> predictions = process.predict(points);
    const double highest = std::ranges::max(values);
    std::size_t place = 0;
    double most = -1;
    for (std::size_t i = 0; i < predictions.size(); ++i) {
      const double improvement = expected_improvement(predictions[i], highest);
      if (improvement <= most) continue;
      most = improvement;
      place = i;
    }
    return place;
  }

  // Logarithms of all scores, with mean 0 and variance 1.
  std::vector<double> standardised() const {
    double worst = result_.best()->score;
    for (const Trial& trial : result_.trials)
      if (trial.score > 0) worst = std::min(worst, trial.score);
    std::vector<double> values;
    values.reserve(result_.trials.size());
    for (const Trial& trial : result_.trials) values.push_back(std::log(std::max(trial.score, worst)));
    const auto count = static_cast<double>(values.size());
    double mean = 0, variance = 0;
    for (const double value : values) mean += value / count;
    for (const double value : values) variance += (value - mean) * (value - mean) / count;
    const double deviation = variance > 0 ? std::sqrt(variance) : 1;
    for (double& value : values) value = (value - mean) / deviation;
    return values;
  }

  const Points& candidates_;
  const std::function<double(std::size_t)>& evaluate_;
  BayesianOptions options_;
  std::mt19937_64 random_;
  std::vector<std::size_t> untried_;  // ascending
  std::optional<Hyperparameters> hyperparameters_;
  std::size_t fitted_at_ = 0;
  BayesianResult result_;
};

// Values scaled to 0 … 1; empty where they are all equal.
std::vector<double> scaled(std::vector<double> values) {
  if (std::ranges::min(values) > 0)
    for (double& value : values) value = std::log2(value);
  const auto [low, high] = std::ranges::minmax(values);
  if (low == high) return {};
  for (double& value : values) value = (value - low) / (high - low);
  return values;
}

}  // namespace

const Trial* BayesianResult::best() const {
  const Trial* best = nullptr;
  for (const Trial& trial : trials)
    if (trial.score > 0 && (best == nullptr || trial.score > best->score)) best = &trial;
  return best;
}

BayesianResult bayesian_search(const Points& candidates, const std::function<double(std::size_t)>& evaluate,
                               const BayesianOptions& options, Progress& progress) {
  return BayesianSearch(candidates, evaluate, options).run(progress);
}

Points encode(const std::vector<hardware::Chip>& chips) {
  std::vector<std::vector<double>> columns;
  for (const hardware::Parameter& parameter : hardware::parameters()) {
    std::vector<double> values;
    values.reserve(chips.size());
    for (const hardware::Chip& chip : chips) values.push_back(parameter.get(chip));
    if (values.empty()) continue;
    values = scaled(std::move(values));
    if (!values.empty() && std::ranges::find(columns, values) == columns.end()) columns.push_back(std::move(values));
  }
  // A single chip differs from none: one dimension without extent stands for it.
  if (columns.empty()) columns.emplace_back(chips.size(), 0.0);
  Points points{.dimensions = columns.size()};
  points.values.reserve(chips.size() * columns.size());
  for (std::size_t chip = 0; chip < chips.size(); ++chip)
    for (const std::vector<double>& column : columns) points.values.push_back(column[chip]);
  return points;
}

}  // namespace phaze::baselines
