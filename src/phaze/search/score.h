// What throughputs are worth: the objective of a search as a function of the times that its models take on a chip.
#pragma once

#include <cstddef>
#include <vector>

#include "phaze/search/problem.h"

namespace phaze::search {

// What a chip costs in the units that the objective divides by.
double cost_of(const hardware::Chip& chip, const Problem& problem);

// Over some of the models of a problem, which must outlive it.
class Score {
 public:
  Score(const Problem& problem, std::vector<std::size_t> models);

  const std::vector<std::size_t>& models() const { return models_; }

  // `seconds` per batch of each of the models; infinite where there is no plan.
  double of(const std::vector<double>& seconds, double cost) const;

  // Seconds below which the i-th model, were it the only one, would have a higher score than this.
  double seconds_alone(std::size_t i, double score, double cost) const;

  // Seconds of the i-th model beyond which the score stays below `least`, the others taking theirs.
  double enough(std::size_t i, const std::vector<double>& seconds, double cost, double least) const;

 private:
  bool one() const { return models_.size() == 1; }
  bool geometric() const { return problem_->mean == Mean::kGeometric; }
  double weight(std::size_t model) const { return problem_->weights.empty() ? 1 : problem_->weights[model]; }
  double batch(std::size_t i) const;
  double base(std::size_t i) const;
  double worth(std::size_t i, double seconds) const { return batch(i) / seconds / base(i); }

  const Problem* problem_;
  std::vector<std::size_t> models_;
  std::vector<double> shares_;
};

}  // namespace phaze::search
