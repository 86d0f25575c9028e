// One search over some of the models of a problem, round by round: search.h says how.
#pragma once

#include <chrono>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "phaze/hardware/power.h"
#include "phaze/search/chip_work.h"
#include "phaze/search/ledger.h"
#include "phaze/search/score.h"
#include "phaze/search/search.h"

namespace phaze::search {

// What all runs of a search share: how far every chip has come for every model.
struct Search::State {
  State(const Problem& given, const Options& chosen) : problem(given), options(chosen), worker(given) {
    const Work work = [this](const std::string& task) { return worker(task); };
    executor = options.executor ? options.executor(work) : make_thread_executor(options.threads, work);
    states.resize(problem.workloads.size());
    for (auto& of_model : states) of_model.resize(problem.chips.size());
    costs.reserve(problem.chips.size());
    for (const hardware::Chip& chip : problem.chips) costs.push_back(cost_of(chip, problem));
    if (problem.objective != Objective::kPareto) return;
    sizes.reserve(problem.chips.size());
    for (const hardware::Chip& chip : problem.chips)
      sizes.push_back({hardware::area(chip, problem.area_model).total, hardware::thermal_design_power(chip).total});
  }

  bool out_of_time() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() > options.seconds;
  }
  Status take_up();

  const Problem& problem;
  Options options;
  ChipWorker worker;
  std::unique_ptr<Executor> executor;
  std::vector<double> costs;
  std::vector<Selection::Size> sizes;                                       // on a Pareto front
  std::vector<std::vector<ModelState>> states;                              // by model, then chip
  std::vector<bool> bounded = std::vector<bool>(problem.workloads.size());  // models whose rooflines are known
  bool taken_up = false;
  std::vector<std::vector<std::size_t>> runs;  // their models
  // By model: a score that no chip exceeds for it alone, once it has been searched for.
  std::vector<double> ceilings = std::vector<double>(problem.workloads.size(), std::numeric_limits<double>::infinity());
  std::map<std::pair<std::size_t, std::int64_t>, std::string> reasons;  // by model and memory
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};

// One search over some of the models.
class Run {
 public:
  Run(Search::State& state, std::size_t number, Progress& progress, std::vector<std::size_t> first)
      : state_(state),
        score_(state.problem, state.runs[number]),
        progress_(progress),
        count_(state.problem.chips.size()),
        number_(number),
        first_(std::move(first)),
        selection_(state.problem.objective == Objective::kPareto ? Selection::front(state.sizes)
                                                                 : Selection::best(state.options.keep)),
        changed_(count_, false) {
    outcome_.chips.resize(count_, {.bound = std::numeric_limits<double>::infinity()});
    outcome_.open = static_cast<std::int64_t>(count_);
  }

  Result<Outcome> run();
  Status tighten(Outcome& outcome);

 private:
  struct Waiting {
    double bound = 0;
    std::size_t chip = 0;
    std::uint32_t effort = 0;  // of the step it waits for
    double promise = 0;        // the bound; of a chip that waits for more effort the score
  };
  static bool later(const Waiting& a, const Waiting& b) {
    if (a.effort != b.effort) return a.effort > b.effort;
    return a.promise != b.promise ? a.promise < b.promise : a.chip > b.chip;
  }

  Status take_up();
  Status start();
  Status rounds();
  Status raise(const std::vector<std::size_t>& round, std::uint32_t effort);
  Status keep(run_db::RunStatus status);
  Level next_level(std::size_t chip) const;
  void judge(std::size_t chip);
  bool may_suffice(std::uint32_t effort, std::size_t chip) const;
  std::uint32_t next_effort(std::size_t chip) const;
  bool may_be_better(std::size_t chip) const;
  bool is_better_by_bound(std::size_t chip) const;
  void settle(std::size_t chip, Fate fate);
  void take_known(std::vector<std::size_t>& round);
  struct Tried {
    std::size_t chips = 0;
    std::size_t settled = 0;
  };
  Tried tried_with(std::uint32_t effort) const;
  bool is_in_vain(std::uint32_t effort) const;
  void pass_over(std::uint32_t effort);
  void keep_equals_apart(std::vector<std::size_t>& round) const;
  void sweep();
  void enter(std::size_t chip);
  Waiting waiting(std::size_t chip) const {
    const ChipRecord& record = outcome_.chips[chip];
    return {record.bound, chip, next_effort(chip), record.score > 0 ? record.score : record.bound};
  }
  void changed(std::size_t chip);
  void count(const ChipRecord& record);
  bool hopeless(std::size_t chip) const;
  bool beaten(std::size_t chip) const;
  double least_useful(std::size_t chip) const;
  std::vector<double> seconds(std::size_t chip, bool bounds) const;
  double highest_bound() const;
  bool stopped();
  void explain();
  void finish();
  double ceiling() const;

  const ModelState& at(std::size_t chip, std::size_t model) const { return state_.states[model][chip]; }
  double memory(std::size_t chip) const;
  std::size_t with_most_memory() const;

  Search::State& state_;
  Score score_;
  Progress& progress_;
  std::size_t count_;
  std::size_t number_;
  std::vector<std::size_t> first_;
  Selection selection_;
  Outcome outcome_;
  std::vector<Waiting> queue_;  // a heap
  double too_little_memory_ = -1;
  bool sweep_due_ = true;  // the queue may hold chips that are of no use any more
  bool ended_before_ = false;
  // Since the last entry in the ledger.
  std::vector<bool> changed_;
  std::vector<std::size_t> changed_chips_;
  std::vector<std::pair<std::size_t, std::size_t>> changed_states_;  // chip, model
};

}  // namespace phaze::search
