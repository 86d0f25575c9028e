#include "phaze/search/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <thread>

#include "phaze/hardware/power.h"

namespace phaze::search {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::size_t kRound = 32;
constexpr std::size_t kFirstRound = 8;
// Scores are inverted to times with a rounding error; what lies within it is worked out in full.
constexpr double kInversion = 1 + 1e-12;

void in_parallel(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> crew;
  for (unsigned t = 1; t < std::min<std::size_t>(threads, count); ++t) crew.emplace_back(loop);
  loop();
}

// What throughputs are worth on one chip. Without models that matter, nothing.
class Score {
 public:
  Score(const Problem& problem, std::vector<std::size_t> models) : problem_(&problem), models_(std::move(models)) {
    double sum = 0;
    for (const std::size_t model : models_) sum += weight(model);
    for (const std::size_t model : models_) shares_.push_back(weight(model) / sum);
  }

  const std::vector<std::size_t>& models() const { return models_; }

  // `seconds` per batch of each of the models.
  double of(const std::vector<double>& seconds, double cost) const {
    double score = 0;
    for (std::size_t i = 0; i < models_.size(); ++i) {
      if (seconds[i] == kNever) return 0;
      const double value = worth(i, seconds[i]);
      if (one())
        score = value;
      else
        score += geometric() ? shares_[i] * std::log(value) : shares_[i] * value;
    }
    if (!one() && geometric()) score = std::exp(score);
    return score / cost;
  }

  // Seconds of the i-th model beyond which the score stays below `least`, the others taking theirs.
  double enough(std::size_t i, const std::vector<double>& seconds, double cost, double least) const {
    if (least <= 0) return kNever;
    double needed = least * cost;
    if (!one()) {
      double others = 0;
      for (std::size_t j = 0; j < models_.size(); ++j)
        if (j != i) others += shares_[j] * (geometric() ? std::log(worth(j, seconds[j])) : worth(j, seconds[j]));
      needed = geometric() ? std::exp((std::log(needed) - others) / shares_[i]) : (needed - others) / shares_[i];
    }
    return needed > 0 ? batch(i) / (needed * base(i)) * kInversion : kNever;
  }

 private:
  bool one() const { return models_.size() == 1; }
  bool geometric() const { return problem_->mean == Mean::kGeometric; }
  double weight(std::size_t model) const { return problem_->weights.empty() ? 1 : problem_->weights[model]; }
  double batch(std::size_t i) const {
    return static_cast<double>(problem_->workloads[models_[i]].training.global_batch);
  }
  double base(std::size_t i) const {
    return one() || !geometric() || problem_->baseline.empty() ? 1 : problem_->baseline[models_[i]];
  }
  double worth(std::size_t i, double seconds) const { return batch(i) / seconds / base(i); }

  const Problem* problem_;
  std::vector<std::size_t> models_;
  std::vector<double> shares_;
};

double cost_of(const hardware::Chip& chip, const Problem& problem) {
  switch (problem.objective) {
    case Objective::kThroughput: return 1;
    case Objective::kPerWatt: return hardware::thermal_design_power(chip).total;
    case Objective::kPerArea: return hardware::area(chip, problem.area_model).total;
  }
  return 1;
}

}  // namespace

const char* to_string(Fate fate) {
  switch (fate) {
    case Fate::kOpen: return "open";
    case Fate::kEvaluated: return "evaluated";
    case Fate::kPruned: return "pruned";
    case Fate::kInfeasible: return "infeasible";
  }
  return "";
}

struct Search::State {
  const Problem* problem;
  Options options;
  cost::Memo memo{std::size_t{1} << 22};
  std::vector<hardware::Cluster> clusters;
  std::vector<double> costs;
  std::vector<ModelProfile> profiles;
  std::vector<std::vector<std::unique_ptr<ChipSearch>>> searches;  // by model, then chip
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  bool out_of_time() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count() > options.seconds;
  }
};

namespace {

// One search over some of the models.
class Run {
 public:
  Run(Search::State& state, const std::vector<std::size_t>& models, Progress& progress)
      : state_(state), score_(*state.problem, models), progress_(progress), count_(state.clusters.size()) {
    outcome_.chips.resize(count_);
  }

  Result<Outcome> run();

 private:
  ChipSearch& at(std::size_t chip, std::size_t model) { return *state_.searches[model][chip]; }
  std::vector<double> seconds(std::size_t chip, bool bounds);
  bool start();
  void rounds();
  void refine(std::size_t chip);
  void judge(std::size_t chip);
  bool beaten(std::size_t chip) const;
  double least_score() const { return outcome_.best.size() < keep() ? 0 : outcome_.best.back().score; }
  std::size_t keep() const { return std::max<std::size_t>(1, state_.options.keep); }
  bool stopped();
  void finish();

  Search::State& state_;
  Score score_;
  Progress& progress_;
  std::size_t count_;
  Outcome outcome_;
};

std::vector<double> Run::seconds(std::size_t chip, bool bounds) {
  std::vector<double> values;
  for (const std::size_t model : score_.models()) {
    const ChipSearch& search = at(chip, model);
    values.push_back(bounds || !search.evaluation() ? search.least_seconds() : search.evaluation()->seconds);
  }
  return values;
}

bool Run::stopped() {
  const auto closed = static_cast<std::int64_t>(
      std::ranges::count_if(outcome_.chips, [](const ChipRecord& record) { return record.fate != Fate::kOpen; }));
  if (!progress_.advance("chips", closed, static_cast<std::int64_t>(count_)) || state_.out_of_time())
    outcome_.stopped = true;
  return outcome_.stopped;
}

// Rooflines of all chips, in blocks so that it can be stopped.
bool Run::start() {
  constexpr std::size_t kBlock = 4096;
  for (const std::size_t model : score_.models()) {
    auto& searches = state_.searches[model];
    for (std::size_t begin = 0; begin < count_; begin += kBlock) {
      if (stopped()) return false;
      in_parallel(state_.options.threads, std::min(kBlock, count_ - begin), [&](std::size_t i) {
        auto& search = searches[begin + i];
        if (search == nullptr)
          search = std::make_unique<ChipSearch>(state_.profiles[model], state_.clusters[begin + i], state_.memo);
      });
    }
  }
  for (std::size_t chip = 0; chip < count_; ++chip) judge(chip);
  return true;
}

// A chip with the score of the worst that is kept belongs in front of it only if its number is lower.
bool Run::beaten(std::size_t chip) const {
  if (state_.options.exhaustive || outcome_.best.size() < keep()) return false;
  const Ranked& worst = outcome_.best.back();
  const double bound = outcome_.chips[chip].bound;
  return bound < worst.score || (bound == worst.score && chip > worst.chip);
}

void Run::refine(std::size_t chip) {
  Level level = Level::kSchedules;
  for (const std::size_t model : score_.models()) {
    const ChipSearch& search = at(chip, model);
    if (!search.evaluation() && !search.infeasible()) level = std::min(level, search.level());
  }
  if (level != Level::kSchedules) level = static_cast<Level>(static_cast<int>(level) + 1);
  if (state_.options.exhaustive || outcome_.best.empty()) level = Level::kSchedules;
  for (std::size_t i = 0; i < score_.models().size(); ++i) {
    const double least = state_.options.exhaustive ? 0 : least_score();
    const double enough = score_.enough(i, seconds(chip, true), state_.costs[chip], least);
    ChipSearch& search = at(chip, score_.models()[i]);
    search.refine(level, enough);
    if (search.infeasible()) return;
  }
}

// What is known of a chip now, after its searches went on.
void Run::judge(std::size_t chip) {
  ChipRecord& record = outcome_.chips[chip];
  record.level = Level::kSchedules;
  bool evaluated = true;
  for (const std::size_t model : score_.models()) {
    const ChipSearch& search = at(chip, model);
    if (search.infeasible()) {
      record = {.fate = Fate::kInfeasible, .level = search.level()};
      return;
    }
    evaluated = evaluated && search.evaluation();
    record.level = std::min(record.level, search.level());
  }
  record.bound = score_.of(seconds(chip, true), state_.costs[chip]);
  if (!evaluated) return;
  record.fate = Fate::kEvaluated;
  record.score = score_.of(seconds(chip, false), state_.costs[chip]);
  const Ranked entry{chip, record.score};
  const auto better = [](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.chip < b.chip;
  };
  outcome_.best.insert(std::ranges::lower_bound(outcome_.best, entry, better), entry);
  if (outcome_.best.size() > keep()) outcome_.best.pop_back();
}

void Run::rounds() {
  struct Waiting {
    double bound;
    std::size_t chip;
  };
  const auto later = [](const Waiting& a, const Waiting& b) {
    return a.bound != b.bound ? a.bound < b.bound : a.chip > b.chip;
  };
  std::vector<Waiting> queue;
  for (std::size_t chip = 0; chip < count_; ++chip)
    if (outcome_.chips[chip].fate == Fate::kOpen) queue.push_back({outcome_.chips[chip].bound, chip});
  std::ranges::make_heap(queue, later);
  std::vector<std::size_t> round;
  while (!queue.empty() && !stopped()) {
    round.clear();
    // Bounds mean little before there is an incumbent, so the first chips go all the way.
    const std::size_t size = outcome_.best.empty() ? kFirstRound : kRound;
    while (!queue.empty() && round.size() < size) {
      std::ranges::pop_heap(queue, later);
      const std::size_t chip = queue.back().chip;
      queue.pop_back();
      if (beaten(chip))
        outcome_.chips[chip].fate = Fate::kPruned;
      else
        round.push_back(chip);
    }
    in_parallel(state_.options.threads, round.size(), [&](std::size_t i) { refine(round[i]); });
    for (const std::size_t chip : round) {
      judge(chip);
      if (outcome_.chips[chip].fate != Fate::kOpen) continue;
      queue.push_back({outcome_.chips[chip].bound, chip});
      std::ranges::push_heap(queue, later);
    }
  }
}

void Run::finish() {
  double highest = 0;  // bound of what might be better than the answer
  for (ChipRecord& record : outcome_.chips) {
    switch (record.fate) {
      case Fate::kOpen: ++outcome_.open; break;
      case Fate::kEvaluated: ++outcome_.evaluated; break;
      case Fate::kInfeasible: ++outcome_.infeasible; break;
      case Fate::kPruned:
        ++outcome_.pruned;
        ++outcome_.pruned_at[static_cast<std::size_t>(record.level)];
        break;
    }
    if (record.fate == Fate::kOpen || record.fate == Fate::kEvaluated) highest = std::max(highest, record.bound);
  }
  const double best = outcome_.best.empty() ? 0 : outcome_.best.front().score;
  if (highest > best) outcome_.gap = best > 0 ? highest / best - 1 : kNever;
  // Below this, a bound is above the answer by rounding alone.
  constexpr double kRounding = 1e-9;
  outcome_.optimal = outcome_.open == 0 && outcome_.gap <= kRounding;
  if (outcome_.optimal) outcome_.gap = 0;
}

Result<Outcome> Run::run() {
  if (start()) rounds();
  finish();
  return std::move(outcome_);
}

}  // namespace

Search::Search(const Problem& problem, const Options& options) : state_(std::make_unique<State>()) {
  state_->problem = &problem;
  state_->options = options;
  if (options.threads == 0) state_->options.threads = std::max(1U, std::thread::hardware_concurrency());
  for (const hardware::Chip& chip : problem.chips) {
    state_->clusters.push_back({.chip = chip, .devices = problem.devices, .network = problem.network});
    if (!problem.hbm.empty()) state_->clusters.back().chip.hbm = std::ranges::max(problem.hbm);
    state_->costs.push_back(cost_of(chip, problem));
  }
  const bool kernels = !problem.chips.empty() && problem.chips.front().calibration.serial;
  state_->searches.resize(problem.workloads.size());
  for (std::size_t model = 0; model < problem.workloads.size(); ++model) {
    state_->profiles.emplace_back(problem.workloads[model], problem.devices, problem.network, kernels,
                                  problem.states_per_layer);
    state_->searches[model].resize(problem.chips.size());
  }
}

Search::~Search() = default;

Result<Outcome> Search::run(const std::vector<std::size_t>& models, Progress& progress) {
  return Run(*state_, models, progress).run();
}

ChipSearch::Planned Search::plans(std::size_t chip, std::size_t model, std::size_t keep) {
  ChipSearch& search = *state_->searches[model][chip];
  search.refine(Level::kSchedules, kNever);
  return search.plans(keep);
}

double Search::throughput(std::size_t chip, std::size_t model) {
  ChipSearch& search = *state_->searches[model][chip];
  search.refine(Level::kSchedules, kNever);
  if (!search.evaluation()) return 0;
  return static_cast<double>(state_->problem->workloads[model].training.global_batch) / search.evaluation()->seconds;
}

Bytes Search::least_hbm(double peak_memory) const {
  Bytes least = state_->clusters.front().chip.hbm;
  for (const Bytes capacity : state_->problem->hbm)
    if (static_cast<double>(capacity.value()) >= peak_memory && capacity.value() < least.value()) least = capacity;
  return least;
}

}  // namespace phaze::search
