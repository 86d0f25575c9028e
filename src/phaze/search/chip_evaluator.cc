#include "phaze/search/chip_evaluator.h"

#include <utility>

#include "phaze/cost/sunstone_table.h"
#include "phaze/placement/stage_costs.h"
#include "phaze/search/score.h"

namespace phaze::search {
namespace {

using placement::kNever;
// How many times the states of a first look at a layer, with no second one.
constexpr std::uint64_t kQuick = 16;

}  // namespace

ChipEvaluator::ChipEvaluator(const Problem& problem) : problem_(&problem) {
  if (problem.chips.size() > 1) sunstone_ = sunstone_table(problem);
  profiles_ = profiles_of(problem, problem.states_per_layer, sunstone_.get());
}

ChipEvaluator::~ChipEvaluator() = default;

ChipSearch ChipEvaluator::evaluated(const hardware::Cluster& cluster, std::size_t model) {
  ChipSearch search(profiles_[model], cluster, memo_);
  search.refine(Level::kSchedules, kNever);
  // As far as a search goes for the chips that matter, so that figures can be compared with its answer.
  for (std::uint32_t effort = 1; effort <= problem_->most_effort; ++effort) {
    search.deepen(effort);
    search.refine(Level::kSchedules, kNever);
  }
  return search;
}

double ChipEvaluator::throughput(const hardware::Chip& chip, std::size_t model) {
  const hardware::Cluster cluster = cluster_of(*problem_, chip);
  const ChipSearch search = evaluated(cluster, model);
  if (!search.evaluation()) return 0;
  return static_cast<double>(problem_->workloads[model].training.global_batch) / search.evaluation()->seconds;
}

template <typename Evaluate>
double ChipEvaluator::score(const hardware::Chip& chip, const std::vector<std::size_t>& models, Evaluate&& evaluate) {
  const hardware::Cluster cluster = cluster_of(*problem_, chip);
  std::vector<double> seconds;
  for (const std::size_t model : models) {
    const ChipSearch search = evaluate(cluster, model);
    if (!search.evaluation()) return 0;
    seconds.push_back(search.evaluation()->seconds);
  }
  return Score(*problem_, models).of(seconds, cost_of(chip, *problem_));
}

double ChipEvaluator::score(const hardware::Chip& chip, const std::vector<std::size_t>& models) {
  return score(chip, models,
               [&](const hardware::Cluster& cluster, std::size_t model) { return evaluated(cluster, model); });
}

double ChipEvaluator::quick_score(const hardware::Chip& chip, const std::vector<std::size_t>& models) {
  if (problem_->most_effort == 0) return score(chip, models);
  if (quick_profiles_.empty())
    quick_profiles_ = profiles_of(*problem_, problem_->states_per_layer * kQuick, sunstone_.get());
  return score(chip, models, [&](const hardware::Cluster& cluster, std::size_t model) {
    ChipSearch search(quick_profiles_[model], cluster, memo_);
    search.refine(Level::kSchedules, kNever);
    return search;
  });
}

std::optional<ChipSearch::Planned> ChipEvaluator::plan(const hardware::Chip& chip, std::size_t model) {
  const hardware::Cluster cluster = cluster_of(*problem_, chip);
  const ChipSearch search = evaluated(cluster, model);
  if (!search.evaluation()) return std::nullopt;
  return search.plans(1);
}

}  // namespace phaze::search
