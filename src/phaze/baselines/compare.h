// Co-search beside what it claims to beat, all of it with the same models, costs, schedules and placement:
//
//   reference, expert placement       a known chip (the TPUv4-like one of 2024), placed as an expert would
//   reference, optimal placement      that chip with the best plan there is
//   chip alone                        the best chip of the space under the expert's placement (exact)
//   Bayesian                          the best chip that a Bayesian optimisation meets in a budget of evaluations
//   co-search                         the best chip of the space with its best plan (exact)
//
// A placement of an expert is one of those that co-search looks at, and the chips of the others are in its space (the
// reference chip is, in the space of 2024); so nothing here can be faster than co-search, up to the gap it states.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "phaze/baselines/bayesian.h"
#include "phaze/baselines/expert.h"
#include "phaze/search/search.h"

namespace phaze::baselines {

struct CompareOptions {
  search::Options search;  // for the chip alone; a limit of seconds holds for each model, and for all together
  BayesianOptions bayesian;
};

// What one method reaches for one model.
struct Figure {
  double throughput = 0;            // samples per second; 0: nothing was found
  std::optional<std::size_t> chip;  // of the space; none: the reference chip
  double gap = 0;                   // a better answer of this method may be better by this fraction
  Bytes hbm{0};                     // the least capacity on offer that holds the plan; 0: not asked
};

struct ModelComparison {
  std::string model;
  std::optional<ExpertPlacement> expert;
  std::string no_expert;  // why there is none
  Figure reference_expert, reference_placement, chip_alone, bayesian, cosearch;
  // The same on the one chip that a method chooses for all models.
  Figure common_chip_alone, common_bayesian, common_cosearch;
};

struct Comparison {
  std::vector<ModelComparison> models;
  // Outcomes of the co-search: over all models, then, with several, for each alone, as far as they were reached.
  std::vector<search::Outcome> cosearches;
  std::size_t trials = 0;  // of the Bayesian searches, each
  bool stopped = false;    // what was not reached is missing
};

// `names` are the models of the problem as load_workload() takes them. The problem holds the chips of the space; with
// several models and a geometric mean it has a baseline. `cosearch` is a search over it that has not run yet.
Result<Comparison> compare(const search::Problem& problem, const std::vector<std::string>& names,
                           const hardware::Chip& reference, search::Search& cosearch, const CompareOptions& options,
                           Progress& progress);

}  // namespace phaze::baselines
