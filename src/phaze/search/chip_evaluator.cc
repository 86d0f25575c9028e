#include "phaze/search/chip_evaluator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "phaze/cost/sunstone_table.h"
#include "phaze/search/score.h"

namespace phaze::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

ChipEvaluator::ChipEvaluator(const Problem& problem) : problem_(&problem) {
  if (problem.chips.size() > 1) sunstone_ = sunstone_table(problem);
  const bool kernels = !problem.chips.empty() && problem.chips.front().calibration.serial;
  profiles_.reserve(problem.workloads.size());
  for (const layer_times::Workload& workload : problem.workloads)
    profiles_.emplace_back(workload, problem.devices, problem.network, kernels, problem.states_per_layer,
                           sunstone_.get());
}

ChipEvaluator::~ChipEvaluator() = default;

hardware::Cluster ChipEvaluator::cluster_of(const hardware::Chip& chip) const {
  hardware::Cluster cluster{.chip = chip, .devices = problem_->devices, .network = problem_->network};
  if (!problem_->hbm.empty()) cluster.chip.hbm = std::ranges::max(problem_->hbm);
  return cluster;
}

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
  const hardware::Cluster cluster = cluster_of(chip);
  const ChipSearch search = evaluated(cluster, model);
  if (!search.evaluation()) return 0;
  return static_cast<double>(problem_->workloads[model].training.global_batch) / search.evaluation()->seconds;
}

double ChipEvaluator::score(const hardware::Chip& chip, const std::vector<std::size_t>& models) {
  const hardware::Cluster cluster = cluster_of(chip);
  std::vector<double> seconds;
  for (const std::size_t model : models) {
    const ChipSearch search = evaluated(cluster, model);
    if (!search.evaluation()) return 0;
    seconds.push_back(search.evaluation()->seconds);
  }
  return Score(*problem_, models).of(seconds, cost_of(chip, *problem_));
}

std::optional<ChipSearch::Planned> ChipEvaluator::plan(const hardware::Chip& chip, std::size_t model) {
  const hardware::Cluster cluster = cluster_of(chip);
  const ChipSearch search = evaluated(cluster, model);
  if (!search.evaluation()) return std::nullopt;
  return search.plans(1);
}

}  // namespace phaze::search
