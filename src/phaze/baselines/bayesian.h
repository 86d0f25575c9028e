// Bayesian optimisation over a list of candidates, in the manner of Spotlight (Sakhuja et al. 2023): a Gaussian process
// learns from the candidates evaluated so far which others are worth their evaluation.
//
// The first candidates are drawn at random. Then, one by one, comes the candidate that improves most on the best so far
// in expectation. The process sees logarithms of scores, standardised, because scores span orders of magnitude and
// their ratios are what matters; a candidate without a score (infeasible) counts as the worst that has one. All
// candidates are looked at, so nothing is lost to a search within the search; nothing is evaluated twice, so that a
// budget of all candidates is exhaustive search. The same seed gives the same trials.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/baselines/gaussian_process.h"
#include "phaze/hardware/chip.h"

namespace phaze::baselines {

struct BayesianOptions {
  std::size_t budget = 64;  // evaluations
  std::size_t first = 12;   // of them at random
  std::uint64_t seed = 1;
};

struct Trial {
  std::size_t candidate = 0;
  double score = 0;  // 0: infeasible
  bool operator==(const Trial&) const = default;
};

struct BayesianResult {
  std::vector<Trial> trials;  // in order
  bool stopped = false;
  // The best trial, the earliest of equals; null where none is feasible.
  const Trial* best() const;
};

// `evaluate` gives the score of a candidate, more being better, or 0.
BayesianResult bayesian_search(const Points& candidates, const std::function<double(std::size_t)>& evaluate,
                               const BayesianOptions& options, Progress& progress);

// Chips as points of the unit cube: a dimension for each parameter in which they differ, on a logarithmic scale where
// all values are positive; parameters that always agree with another (ties of a space) are left out.
Points encode(const std::vector<hardware::Chip>& chips);

}  // namespace phaze::baselines
