// The optimum of a placement instance of the 2024 study.
//
//   const Solution solution = solve(instance);
//   if (solution.plan) use(solution.evaluation.time_per_batch);
//
// Chains, with edges that skip ahead, are solved exactly whatever their size (chain_stages.h). Graphs with real
// branches are solved exactly up to the limits in the options (stage_list.h); beyond them the best plan along one
// topological order is given, and `termination` says so. The method and its proof are in pipeline_search.h.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "phaze/base/progress.h"
#include "phaze/placement/phaze2024/evaluate.h"
#include "phaze/placement/phaze2024/expert.h"
#include "phaze/placement/phaze2024/infeasible.h"
#include "phaze/placement/phaze2024/instance.h"
#include "phaze/placement/phaze2024/stage_list.h"

namespace phaze::placement::phaze2024 {

enum class Termination : std::uint8_t {
  kOptimal,     // there is a plan and none is better
  kInfeasible,  // there is none, or none that is wanted (Options::below)
  kLimit,       // a limit was reached: a plan may be there, a better one may exist
  kStopped,     // progress said stop: there is no plan
};

struct Options {
  std::size_t stage_limit = kDefaultStageLimit;  // of graphs with branches, per width
  bool use_chain_solver = true;                  // false: chains too go through the general solver, which must agree
  bool explain = true;                           // say why nothing fits
  bool expert = true;                            // evaluate the expert's plan beside
  double below = std::numeric_limits<double>::infinity();  // seconds: plans that take as long are not wanted
};

struct Statistics {
  bool chain = false;
  std::int64_t rows = 0;    // of the search, over all widths
  std::int64_t planes = 0;  // likewise
};

struct Solution {
  Termination termination = Termination::kInfeasible;
  std::optional<Plan> plan;
  Evaluation evaluation;  // of the plan, by the checker
  std::optional<ExpertResult> expert;
  std::optional<Shortage> shortage;  // without a plan
  Statistics statistics;
};

// `instance` must pass validate().
Solution solve(const Instance& instance, const Options& options, Progress& progress);
Solution solve(const Instance& instance);

}  // namespace phaze::placement::phaze2024
