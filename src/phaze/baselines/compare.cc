#include "phaze/baselines/compare.h"

#include <algorithm>
#include <utility>

#include "phaze/search/chip_evaluator.h"

namespace phaze::baselines {
namespace {

using search::Problem;

// Where the figures of a method stand: with chips of each model's own, and with one for all.
struct Method {
  Figure ModelComparison::*own;
  Figure ModelComparison::*common;
};
constexpr Method kChipAlone{&ModelComparison::chip_alone, &ModelComparison::common_chip_alone};
constexpr Method kBayesian{&ModelComparison::bayesian, &ModelComparison::common_bayesian};
constexpr Method kCosearch{&ModelComparison::cosearch, &ModelComparison::common_cosearch};

class Comparing {
 public:
  Comparing(const Problem& problem, const std::vector<std::string>& names, const hardware::Chip& reference,
            search::Search& cosearch, const CompareOptions& options, Progress& progress)
      : problem_(problem),
        names_(names),
        reference_(reference),
        cosearch_(cosearch),
        options_(options),
        progress_(progress) {
    for (std::size_t model = 0; model < problem.workloads.size(); ++model) {
      result_.models.push_back({.model = problem.workloads[model].model});
      all_.push_back(model);
    }
  }

  Result<Comparison> run() {
    if (const Status asked = ask_experts(); !asked) return asked.error();
    on_the_reference_chip();
    // In this order each search begins with what the one before it has found. The answers are the same without; but
    // under a limit of seconds, a search ends no lower than what was known before it began.
    if (options_.bayesian.budget > 0) bayesian();
    if (!result_.stopped) {
      auto found = search_chips(problem_, cosearch_, all_, kCosearch, kBayesian);
      if (!found) return found.error();
      result_.cosearches = std::move(*found);
    }
    if (!result_.stopped)
      if (const Status searched = chip_alone(); !searched) return searched.error();
    if (problem_.objective == search::Objective::kThroughput) adopt_trials();
    return std::move(result_);
  }

 private:
  // The problem in which only the chip is free, with the models that have an expert.
  Status ask_experts() {
    experts_ = problem_;
    experts_.workloads.clear();
    experts_.weights.clear();
    experts_.baseline.clear();
    const hardware::Cluster cluster = search::cluster_of(problem_, reference_);
    for (const std::size_t model : all_) {
      const layer_times::PlanOptions& options = problem_.workloads[model].options;
      const auto refuse = [&](const Error& error) { result_.models[model].no_expert = to_string(error); };
      auto placement = expert_placement(names_[model], cluster, options, progress_);
      if (!placement) {
        refuse(placement.error());
        continue;
      }
      auto workload = expert_workload(names_[model], *placement, cluster, options, progress_);
      if (!workload) {
        refuse(workload.error());
        continue;
      }
      result_.models[model].expert = std::move(*placement);
      expert_of_.push_back(model);
      experts_.workloads.push_back(std::move(*workload));
      if (!problem_.weights.empty()) experts_.weights.push_back(problem_.weights[model]);
      if (!problem_.baseline.empty()) experts_.baseline.push_back(problem_.baseline[model]);
    }
    return Done{};
  }

  void on_the_reference_chip() {
    const auto throughputs = [&](Problem alone) {
      alone.chips = {reference_};
      alone.sunstone = nullptr;
      search::ChipEvaluator evaluator(alone);
      std::vector<double> found;
      for (std::size_t i = 0; i < alone.workloads.size(); ++i) found.push_back(evaluator.throughput(reference_, i));
      return found;
    };
    const std::vector<double> placed = throughputs(problem_), by_expert = throughputs(experts_);
    for (const std::size_t model : all_) result_.models[model].reference_placement.throughput = placed[model];
    for (std::size_t i = 0; i < expert_of_.size(); ++i)
      result_.models[expert_of_[i]].reference_expert.throughput = by_expert[i];
  }

  Status chip_alone() {
    if (expert_of_.empty()) return Done{};
    search::Options options = options_.search;
    options.limit = search::Limit::kEachRun;
    search::Search search(experts_, options);
    const auto found = search_chips(experts_, search, expert_of_, kChipAlone, kCosearch);
    return found ? Status(Done{}) : Status(found.error());
  }

  // The best chip for all models of a problem together, where each model of the comparison has a plan, and for each of
  // them alone. `models` are the numbers that the problem's models have in the result. The search begins with the chips
  // that another method has found.
  Result<std::vector<search::Outcome>> search_chips(const Problem& problem, search::Search& search,
                                                    const std::vector<std::size_t>& models, const Method& method,
                                                    const Method& known) {
    std::vector<search::Outcome> outcomes;
    const auto find = [&](const std::vector<std::size_t>& chosen, Figure ModelComparison::*figure) -> Status {
      std::vector<std::size_t> first;
      for (const std::size_t i : chosen)
        for (const auto& of : {known.own, known.common})
          if (const auto chip = (result_.models[models[i]].*of).chip) first.push_back(*chip);
      auto outcome = search.run(chosen, progress_, first);
      if (!outcome) return outcome.error();
      // What stopped it may have been a limit of seconds, which ends this search alone.
      if (outcome->stopped) go_on();
      for (const std::size_t i : chosen) {
        Figure& filled = result_.models[models[i]].*figure;
        filled.gap = outcome->gap;
        if (outcome->best.empty()) continue;
        filled.chip = outcome->best.front().chip;
        filled.throughput = search.throughput(*filled.chip, i);
        filled.hbm = hbm_of(problem, search, *filled.chip, i);
      }
      outcomes.push_back(std::move(*outcome));
      return Done{};
    };
    std::vector<std::size_t> every;
    for (std::size_t i = 0; i < models.size(); ++i) every.push_back(i);
    const bool common = every.size() > 1 && every.size() == all_.size();
    if (common)
      if (const Status found = find(every, method.common); !found) return found.error();
    for (const std::size_t i : every) {
      if (!go_on()) break;
      if (const Status found = find({i}, method.own); !found) return found.error();
    }
    if (common) {
      if (const Status tightened = search.tighten(0, outcomes.front()); !tightened) return tightened.error();
      for (ModelComparison& model : result_.models) (model.*method.common).gap = outcomes.front().gap;
    }
    return outcomes;
  }

  void bayesian() {
    search::ChipEvaluator evaluator(problem_);
    const Points points = encode(problem_.chips);
    const auto find = [&](const std::vector<std::size_t>& models, Figure ModelComparison::*figure) {
      const auto score = [&](std::size_t chip) { return evaluator.quick_score(problem_.chips[chip], models); };
      const BayesianResult found = bayesian_search(points, score, options_.bayesian, progress_);
      result_.stopped = result_.stopped || found.stopped;
      result_.trials = std::max(result_.trials, found.trials.size());
      if (found.best() == nullptr) return;
      const std::size_t chip = found.best()->candidate;
      for (const std::size_t model : models)
        result_.models[model].*figure = {.throughput = evaluator.throughput(problem_.chips[chip], model), .chip = chip};
    };
    for (const std::size_t model : all_)
      if (!result_.stopped) find({model}, &ModelComparison::bayesian);
    if (all_.size() > 1 && !result_.stopped) find(all_, &ModelComparison::common_bayesian);
  }

  static Bytes hbm_of(const Problem& problem, search::Search& search, std::size_t chip, std::size_t model) {
    const search::ChipSearch::Planned planned = search.plans(chip, model, 1);
    if (planned.study) return search::least_hbm(problem, chip, planned.study->peak_memory());
    if (planned.solution.plans.empty()) return Bytes(0);
    return search::least_hbm(problem, chip, planned.solution.plans.front().evaluation.peak_memory());
  }

  // A co-search that was stopped early may know of less than the trials do, which are chips with their best plans, too.
  void adopt_trials() {
    for (ModelComparison& model : result_.models) {
      Figure& found = model.cosearch;
      if (model.bayesian.throughput <= found.throughput) continue;
      const double limit = found.throughput * (1 + found.gap);
      const double gap = found.throughput > 0 ? limit / model.bayesian.throughput - 1 : found.gap;
      found = model.bayesian;
      found.gap = std::max(0.0, gap);
    }
  }

  bool go_on() {
    if (!progress_.advance("comparing", 0, 0)) result_.stopped = true;
    return !result_.stopped;
  }

  const Problem& problem_;
  const std::vector<std::string>& names_;
  const hardware::Chip& reference_;
  search::Search& cosearch_;
  const CompareOptions& options_;
  Progress& progress_;
  Problem experts_;
  std::vector<std::size_t> expert_of_;  // models of experts_
  std::vector<std::size_t> all_;
  Comparison result_;
};

}  // namespace

Result<Comparison> compare(const Problem& problem, const std::vector<std::string>& names,
                           const hardware::Chip& reference, search::Search& cosearch, const CompareOptions& options,
                           Progress& progress) {
  return Comparing(problem, names, reference, cosearch, options, progress).run();
}

}  // namespace phaze::baselines
