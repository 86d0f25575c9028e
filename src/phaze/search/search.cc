#include "phaze/search/search.h"

#include "phaze/search/run.h"

namespace phaze::search {

const char* to_string(Fate fate) {
  switch (fate) {
    case Fate::kOpen: return "open";
    case Fate::kEvaluated: return "evaluated";
    case Fate::kPruned: return "pruned";
    case Fate::kInfeasible: return "infeasible";
  }
  return "";
}

Search::Search(const Problem& problem, const Options& options) : state_(std::make_unique<State>(problem, options)) {}

Search::~Search() = default;

Result<Outcome> Search::run(const std::vector<std::size_t>& models, Progress& progress,
                            const std::vector<std::size_t>& first) {
  if (state_->options.limit == Limit::kEachRun) state_->started = std::chrono::steady_clock::now();
  state_->runs.push_back(models);
  return Run(*state_, state_->runs.size() - 1, progress, first).run();
}

Status Search::tighten(std::size_t run, Outcome& outcome) {
  NoProgress silent;
  return Run(*state_, run, silent, {}).tighten(outcome);
}

ChipSearch::Planned Search::plans(std::size_t chip, std::size_t model, std::size_t keep) {
  return state_->worker.plans(chip, model, state_->states[model][chip], keep);
}

const std::optional<Evaluation>& Search::evaluation(std::size_t chip, std::size_t model) {
  ModelState& state = state_->states[model][chip];
  if (!state.ended()) state = state_->worker.evaluate(chip, model, state);
  return state.evaluation;
}

double Search::throughput(std::size_t chip, std::size_t model) {
  const std::optional<Evaluation>& found = evaluation(chip, model);
  if (!found) return 0;
  return static_cast<double>(state_->problem.workloads[model].training.global_batch) / found->seconds;
}

double Search::peak_memory(std::size_t chip, std::size_t model) {
  const std::optional<Evaluation>& found = evaluation(chip, model);
  return found ? found->peak_memory : 0;
}

}  // namespace phaze::search
