#include "phaze/search/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "phaze/base/hash.h"
#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using Clock = std::chrono::steady_clock;

using placement::kNever;
// Below this, a bound is above a score by rounding alone.
constexpr double kRounding = 1e-9;

// Bounds mean little before there is an incumbent, so the first chips go all the way.
constexpr std::size_t kFirstRound = 8;
// Large rounds keep many workers busy, small ones waste less on chips that the next incumbent would have pruned.
std::size_t round_size(std::size_t left) { return std::clamp<std::size_t>(left / 256, 32, 1 << 16); }
// What is evaluated again takes longer, and the less the better the incumbent is.
std::size_t round_size_again(std::size_t left) { return std::clamp<std::size_t>(left / 16, 16, 1 << 16); }
// A little effort narrows the gap in any case. With this much or more, so many chips are evaluated again first.
constexpr std::uint32_t kDear = 2;
constexpr std::size_t kProbes = 4;

}  // namespace

// What an earlier process had found out about chips.
Status Search::State::take_up() {
  if (taken_up || options.ledger == nullptr) return Done{};
  taken_up = true;
  auto saved = options.ledger->states();
  if (!saved) return saved.error();
  for (Ledger::SavedState& state : *saved) {
    std::optional<ModelState> restored;
    if (state.model < states.size() && state.chip < problem.chips.size())
      restored = worker.restore(state.chip, state.model, state.saved);
    if (!restored)
      return Error{"the state of chip " + std::to_string(state.chip) + " in the database is damaged", "--resume",
                   "run the search again with another --out"};
    states[state.model][state.chip] = std::move(*restored);
  }
  return Done{};
}

double Run::memory(std::size_t chip) const {
  return static_cast<double>(least_hbm(state_.problem, chip, kNever).value());
}

std::size_t Run::with_most_memory() const {
  std::size_t most = 0;
  for (std::size_t chip = 1; chip < count_; ++chip)
    if (memory(chip) > memory(most)) most = chip;
  return most;
}

double Run::highest_bound() const {
  double highest = 0;
  for (const Waiting& waiting : queue_) highest = std::max(highest, waiting.bound);
  return highest;
}

std::vector<double> Run::seconds(std::size_t chip, bool bounds) const {
  std::vector<double> values;
  values.reserve(score_.models().size());
  for (std::size_t i = 0; i < score_.models().size(); ++i) {
    const std::size_t model = score_.models()[i];
    const ModelState& state = at(chip, model);
    const double ceiling = score_.seconds_alone(i, state_.ceilings[model], state_.costs[chip]);
    values.push_back(bounds || !state.evaluation ? std::max(state.least_seconds, ceiling) : state.evaluation->seconds);
  }
  return values;
}

bool Run::stopped() {
  const std::int64_t closed = outcome_.evaluated + outcome_.pruned + outcome_.infeasible;
  std::string what = fmt::format("{} evaluated, {} pruned", outcome_.evaluated, outcome_.pruned);
  if (outcome_.infeasible > 0) what += fmt::format(", {} infeasible", outcome_.infeasible);
  if (!selection_.chosen().empty()) {
    const double best = selection_.chosen().front().score;
    what += fmt::format(", best {:.6g}, gap {:.3g} %", best, 100 * std::max(0.0, highest_bound() / best - 1));
  }
  const double elapsed = std::chrono::duration<double>(Clock::now() - state_.started).count();
  if (elapsed > 0) what += fmt::format(", {:.0f} chips/s", static_cast<double>(closed) / elapsed);
  if (!progress_.advance(what, closed, static_cast<std::int64_t>(count_)) || state_.out_of_time())
    outcome_.stopped = true;
  return outcome_.stopped;
}

void Run::count(const ChipRecord& record) {
  if (record.fate == Fate::kOpen) return;
  --outcome_.open;
  if (record.fate == Fate::kEvaluated) ++outcome_.evaluated;
  if (record.fate == Fate::kInfeasible) ++outcome_.infeasible;
  if (record.fate != Fate::kPruned) return;
  ++outcome_.pruned;
  ++outcome_.pruned_at[static_cast<std::size_t>(record.level)];
}

// The chip has come to its end in this search.
void Run::settle(std::size_t chip, Fate fate) {
  ChipRecord& record = outcome_.chips[chip];
  record.fate = fate;
  count(record);
  if (fate == Fate::kEvaluated) enter(chip);
  // Whether a plan fits does not depend on how fast a chip is: with less memory there is none on another one either.
  if (fate != Fate::kInfeasible) return;
  record.bound = 0;
  if (memory(chip) <= too_little_memory_) return;
  too_little_memory_ = memory(chip);
  sweep_due_ = true;
}

// The chip has a score.
void Run::enter(std::size_t chip) {
  const Ranked ranked{chip, outcome_.chips[chip].score};
  selection_.insert(ranked);
  sweep_due_ = sweep_due_ || selection_.contains(ranked);
}

// Chips that are known to be good, from the queue into the first round.
void Run::take_known(std::vector<std::size_t>& round) {
  const auto known = [&](const Waiting& waiting) { return std::ranges::find(first_, waiting.chip) != first_.end(); };
  for (const Waiting& waiting : queue_)
    if (known(waiting)) round.push_back(waiting.chip);
  std::erase_if(queue_, known);
  std::ranges::make_heap(queue_, later);
  std::ranges::sort(round);
  for (const std::size_t chip : round) changed(chip);
}

void Run::changed(std::size_t chip) {
  if (!changed_[chip]) changed_chips_.push_back(chip);
  changed_[chip] = true;
}

// Takes what became hopeless off the queue, so that it is counted at once and rounds have the size of what is left.
void Run::sweep() {
  if (!sweep_due_) return;
  sweep_due_ = false;
  std::erase_if(queue_, [&](const Waiting& waiting) {
    const bool scored = outcome_.chips[waiting.chip].score > 0;
    const bool impossible = !scored && hopeless(waiting.chip);
    if (!impossible && (scored ? may_be_better(waiting.chip) : !beaten(waiting.chip))) return false;
    settle(waiting.chip, impossible ? Fate::kInfeasible : scored ? Fate::kEvaluated : Fate::kPruned);
    changed(waiting.chip);
    return true;
  });
  // With another incumbent, other goals and another effort may do.
  for (Waiting& one : queue_) one = waiting(one.chip);
  std::ranges::make_heap(queue_, later);
}

bool Run::hopeless(std::size_t chip) const { return !state_.options.exhaustive && memory(chip) <= too_little_memory_; }

// What an earlier process wrote about this search.
Status Run::take_up() {
  if (state_.options.ledger == nullptr) return Done{};
  auto saved = state_.options.ledger->search(number_);
  if (!saved) return saved.error();
  for (auto& [chip, record] : saved->records) {
    changed_[chip] = true;  // it is in the database, so that start() leaves it alone
    const Fate fate = record.fate;
    outcome_.chips[chip] = std::move(record);
    if (fate != Fate::kOpen) settle(chip, fate);
    if (fate == Fate::kOpen && outcome_.chips[chip].score > 0) enter(chip);
  }
  ended_before_ = saved->ended;
  return Done{};
}

// Rooflines of all chips, in blocks so that it can be stopped.
Status Run::start() {
  constexpr std::size_t kBlock = 256;
  constexpr std::size_t kBlocks = 64;
  for (const std::size_t model : score_.models()) {
    if (state_.bounded[model]) continue;
    std::vector<ModelState>& states = state_.states[model];
    for (std::size_t begin = 0; begin < count_;) {
      if (stopped()) return Done{};
      std::vector<std::string> tasks;
      const std::size_t first = begin;
      for (; tasks.size() < kBlocks && begin < count_; begin += kBlock)
        tasks.push_back(encode(BoundTask{model, begin, std::min(begin + kBlock, count_)}));
      auto answers = state_.executor->run(tasks);
      if (!answers) return answers.error();
      std::size_t chip = first;
      for (const std::string& answer : *answers)
        for (const double least : decode_bounds(answer)) {
          if (states[chip].saved.empty()) states[chip].least_seconds = least;
          ++chip;
        }
    }
    state_.bounded[model] = true;
  }
  for (std::size_t chip = 0; chip < count_; ++chip)
    if (!changed_[chip]) judge(chip);
  changed_.assign(count_, false);
  return Done{};
}

bool Run::beaten(std::size_t chip) const {
  return !state_.options.exhaustive && selection_.excludes({chip, outcome_.chips[chip].bound});
}

double Run::least_useful(std::size_t chip) const {
  return state_.options.exhaustive ? 0 : selection_.least_useful(chip);
}

Level Run::next_level(std::size_t chip) const {
  if (state_.options.exhaustive || selection_.chosen().empty()) return Level::kSchedules;
  Level level = Level::kSchedules;
  for (const std::size_t model : score_.models())
    if (!at(chip, model).ended()) level = std::min(level, at(chip, model).level);
  return level == Level::kSchedules ? level : static_cast<Level>(static_cast<int>(level) + 1);
}

// What is known of an open chip now, after its searches went on.
void Run::judge(std::size_t chip) {
  ChipRecord& record = outcome_.chips[chip];
  record.level = Level::kSchedules;
  bool evaluated = true;
  for (const std::size_t model : score_.models()) {
    const ModelState& state = at(chip, model);
    if (state.infeasible) {
      record.level = state.level;
      return settle(chip, Fate::kInfeasible);
    }
    evaluated = evaluated && state.evaluation;
    record.level = std::min(record.level, state.level);
  }
  record.bound = score_.of(seconds(chip, true), state_.costs[chip]);
  if (!evaluated) return;
  record.score = score_.of(seconds(chip, false), state_.costs[chip]);
  enter(chip);
  if (!may_be_better(chip)) settle(chip, Fate::kEvaluated);
}

// Whether this effort may show that the chip is no better than what was found, or what is the best on it.
bool Run::may_suffice(std::uint32_t effort, std::size_t chip) const {
  const std::vector<double> least = seconds(chip, true);
  std::vector<Standing> standings;
  standings.reserve(least.size());
  for (std::size_t i = 0; i < least.size(); ++i) {
    standings.push_back(at(chip, score_.models()[i]).standing);
    standings.back().least = std::min(least[i], standings.back().most);
  }
  return joint_goals(score_, standings, state_.costs[chip], least_useful(chip), effort).has_value();
}

// The least effort of which it is not known that it leads nowhere.
std::uint32_t Run::next_effort(std::size_t chip) const {
  if (outcome_.chips[chip].score <= 0) return 0;
  std::uint32_t effort = 1;
  while (effort <= state_.problem.most_effort && !may_suffice(effort, chip)) ++effort;
  return effort;
}

// An evaluated chip may be better than its score where a schedule is not proven.
bool Run::is_better_by_bound(std::size_t chip) const {
  const ChipRecord& record = outcome_.chips[chip];
  return record.bound > record.score * (1 + kRounding) && !selection_.excludes({chip, record.bound});
}

// And more effort may show it.
bool Run::may_be_better(std::size_t chip) const {
  return next_effort(chip) <= state_.problem.most_effort && is_better_by_bound(chip);
}

Status Run::raise(const std::vector<std::size_t>& round, std::uint32_t effort) {
  std::vector<std::string> tasks;
  tasks.reserve(round.size());
  for (const std::size_t chip : round) {
    RaiseTask task{.chip = chip,
                   .level = next_level(chip),
                   .least_useful = least_useful(chip),
                   .effort = effort,
                   .models = score_.models()};
    for (const std::size_t model : task.models) task.states.push_back(&at(chip, model));
    task.least_seconds = seconds(chip, true);
    tasks.push_back(encode(task));
  }
  auto answers = state_.executor->run(tasks);
  if (!answers) return answers.error();
  for (std::size_t i = 0; i < round.size(); ++i) {
    std::vector<ModelState> states = decode_states((*answers)[i]);
    for (std::size_t m = 0; m < states.size(); ++m) {
      const std::size_t model = score_.models()[m];
      ModelState& state = state_.states[model][round[i]];
      if (state.saved == states[m].saved) continue;
      state = std::move(states[m]);
      changed_states_.emplace_back(round[i], model);
    }
  }
  return Done{};
}

Run::Tried Run::tried_with(std::uint32_t effort) const {
  Tried tried;
  for (std::size_t chip = 0; chip < count_; ++chip) {
    if (outcome_.chips[chip].score <= 0) continue;
    const auto so_far = [&](std::size_t model) { return at(chip, model).standing.effort >= effort; };
    if (std::ranges::none_of(score_.models(), so_far)) continue;
    const bool settled = !is_better_by_bound(chip);
    if (!settled && next_effort(chip) <= effort) continue;
    ++tried.chips;
    if (settled) ++tried.settled;
  }
  return tried;
}

// Dear effort is not spent where it comes to nothing: where none of the first chips was settled, or, with no more
// effort to follow, not all of them, so that there will be no proof. A search that is taken up again comes to the same
// conclusion: it follows from what the chips have come to.
bool Run::is_in_vain(std::uint32_t effort) const {
  if (effort < kDear || state_.options.exhaustive) return false;
  const Tried tried = tried_with(effort);
  const bool last = effort == state_.problem.most_effort;
  return tried.chips >= kProbes && (last ? tried.settled < tried.chips : tried.settled == 0);
}

// What waits for this effort waits for the next.
void Run::pass_over(std::uint32_t effort) {
  for (Waiting& waiting : queue_)
    if (waiting.effort == effort) ++waiting.effort;
  if (effort == state_.problem.most_effort) {
    for (const Waiting& waiting : queue_) {
      settle(waiting.chip, Fate::kEvaluated);
      changed(waiting.chip);
    }
    queue_.clear();
  }
  std::ranges::make_heap(queue_, later);
}

// Chips of the same score and bound have placements and hard schedules in common, of which each is worked out once:
// workers had better not meet there. So one of each comes first, then the second ones, and so on.
void Run::keep_equals_apart(std::vector<std::size_t>& round) const {
  std::map<std::pair<double, double>, std::size_t> seen;
  std::vector<std::tuple<std::size_t, std::uint64_t, std::size_t>> order;
  order.reserve(round.size());
  for (const std::size_t chip : round) {
    const ChipRecord& record = outcome_.chips[chip];
    order.emplace_back(seen[{record.score, record.bound}]++, mix(chip), chip);
  }
  std::ranges::sort(order);
  for (std::size_t i = 0; i < round.size(); ++i) round[i] = std::get<2>(order[i]);
}

Status Run::rounds() {
  for (std::size_t chip = 0; chip < count_; ++chip)
    if (outcome_.chips[chip].fate == Fate::kOpen) queue_.push_back(waiting(chip));
  sweep();
  std::vector<std::size_t> round;
  while (!queue_.empty() && !stopped()) {
    round.clear();
    const std::uint32_t effort = queue_.front().effort;
    if (is_in_vain(effort)) {
      pass_over(effort);
      continue;
    }
    if (selection_.chosen().empty()) take_known(round);
    const std::size_t unknown = round.empty() ? kFirstRound : 0;
    std::size_t size = effort > 0 ? round_size_again(queue_.size()) : round_size(queue_.size());
    if (effort >= kDear && tried_with(effort).chips < kProbes) size = kProbes;
    if (selection_.chosen().empty()) size = unknown;
    while (!queue_.empty() && queue_.front().effort == effort && round.size() < size) {
      std::ranges::pop_heap(queue_, later);
      const std::size_t chip = queue_.back().chip;
      queue_.pop_back();
      round.push_back(chip);
      changed(chip);
    }
    keep_equals_apart(round);
    if (auto status = raise(round, effort); !status) return status;
    for (const std::size_t chip : round) {
      judge(chip);
      if (outcome_.chips[chip].fate != Fate::kOpen) continue;
      if (outcome_.chips[chip].score <= 0 && beaten(chip)) {
        settle(chip, Fate::kPruned);
        continue;
      }
      queue_.push_back(waiting(chip));
      std::ranges::push_heap(queue_, later);
    }
    sweep();
    if (state_.options.ledger != nullptr && state_.options.ledger->due())
      if (auto status = keep(run_db::RunStatus::kRunning); !status) return status;
  }
  return Done{};
}

// Why infeasible chips are: the same for all chips with the same memory.
void Run::explain() {
  for (std::size_t chip = 0; chip < count_; ++chip) {
    ChipRecord& record = outcome_.chips[chip];
    if (record.fate != Fate::kInfeasible || !record.reason.empty()) continue;
    for (const std::size_t model : score_.models()) {
      const auto memory_bytes = static_cast<std::int64_t>(memory(chip));
      auto [reason, fresh] = state_.reasons.try_emplace({model, memory_bytes});
      if (fresh) reason->second = state_.worker.reason(chip, model);
      if (reason->second.empty()) continue;
      record.reason = state_.problem.workloads[model].model + ": " + reason->second;
      break;
    }
    if (record.reason.empty()) record.reason = "no plan fits the memory";
    changed(chip);
  }
}

Status Run::keep(run_db::RunStatus status) {
  if (state_.options.ledger == nullptr) return Done{};
  Ledger::Entry entry{.search = number_,
                      .models = &score_.models(),
                      .outcome = &outcome_,
                      .status = status,
                      .records = std::move(changed_chips_)};
  if (status == run_db::RunStatus::kFinished) {
    // Some were known from earlier searches and never changed.
    entry.records.resize(count_);
    for (std::size_t chip = 0; chip < count_; ++chip) entry.records[chip] = chip;
  }
  if (status == run_db::RunStatus::kRunning) {
    outcome_.best = selection_.chosen();
    outcome_.gap = kNever;
    if (!outcome_.best.empty()) outcome_.gap = std::max(0.0, highest_bound() / outcome_.best.front().score - 1);
  }
  std::ranges::sort(changed_states_);
  const auto repeated = std::ranges::unique(changed_states_);
  changed_states_.erase(repeated.begin(), repeated.end());
  entry.states.reserve(changed_states_.size());
  for (const auto& [chip, model] : changed_states_) entry.states.push_back({chip, model, &at(chip, model)});
  auto written = state_.options.ledger->write(entry);
  changed_.assign(count_, false);
  changed_chips_.clear();
  changed_states_.clear();
  return written;
}

void Run::finish() {
  outcome_.best = selection_.chosen();
  outcome_.gap = 0;
  // By how much a bound is above what the chip would need to change the answer.
  for (std::size_t chip = 0; chip < count_; ++chip) {
    const ChipRecord& record = outcome_.chips[chip];
    if (record.fate != Fate::kOpen && record.fate != Fate::kEvaluated) continue;
    const bool chosen = record.fate == Fate::kEvaluated && selection_.contains({chip, record.score});
    const double needed = chosen ? record.score : selection_.least_useful(chip);
    if (record.bound <= needed) continue;
    double gap = kNever;
    if (needed > 0) gap = record.bound / needed - 1;
    outcome_.gap = std::max(outcome_.gap, gap);
  }
  if (outcome_.infeasible == static_cast<std::int64_t>(count_))
    outcome_.reason = outcome_.chips[with_most_memory()].reason;
  outcome_.optimal = outcome_.open == 0 && outcome_.gap <= kRounding;
  if (outcome_.optimal) outcome_.gap = 0;
  if (score_.models().size() == 1 && !outcome_.best.empty()) state_.ceilings[score_.models().front()] = ceiling();
}

// What is pruned or infeasible is no better than the best that was evaluated.
double Run::ceiling() const {
  double highest = outcome_.best.front().score;
  for (const ChipRecord& record : outcome_.chips)
    if (record.fate == Fate::kOpen || record.fate == Fate::kEvaluated) highest = std::max(highest, record.bound);
  return highest;
}

// A search that is taken up again must find the bounds that it left, so that only a complete one is touched.
Status Run::tighten(Outcome& outcome) {
  if (outcome.open > 0) return Done{};
  outcome_ = std::move(outcome);
  for (std::size_t chip = 0; chip < count_; ++chip) {
    ChipRecord& record = outcome_.chips[chip];
    if (record.fate != Fate::kEvaluated) continue;
    selection_.insert({chip, record.score});
    const double bound = std::max(record.score, score_.of(seconds(chip, true), state_.costs[chip]));
    if (bound >= record.bound) continue;
    record.bound = bound;
    changed(chip);
  }
  finish();
  const Status written = keep(run_db::RunStatus::kFinished);
  outcome = std::move(outcome_);
  return written;
}

Result<Outcome> Run::run() {
  if (auto status = state_.take_up(); !status) return status.error();
  if (auto status = take_up(); !status) return status.error();
  if (!ended_before_) {
    if (auto status = start(); !status) return status.error();
    if (!outcome_.stopped)
      if (auto status = rounds(); !status) return status.error();
    explain();
  }
  finish();
  if (!ended_before_) {
    const auto status = outcome_.open == 0 ? run_db::RunStatus::kFinished : run_db::RunStatus::kStopped;
    if (auto written = keep(status); !written) return written.error();
  }
  return std::move(outcome_);
}

}  // namespace phaze::search
