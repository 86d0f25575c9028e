#include "phaze/schedule/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace phaze::schedule {
namespace {

constexpr std::uint32_t kNoStep = std::numeric_limits<std::uint32_t>::max();
constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr double kPathInRank = 0.5;
// What is left will be done a little less well than bounds say. Without this, states that have put off most of the work
// look better than those that have done it.
constexpr double kLeftInRank = 0.01;
// Of so many parts of a layer, states of one front take at most one, as long as there are others.
constexpr std::size_t kFrontsInLayer = 20;
// A state costs a unit of the budget. In fronts of thousands the comparisons take longer than all else, and where many
// operators are free so do the sets that could start: so many of them cost one, too.
constexpr double kComparisonsPerUnit = 64, kChildrenPerUnit = 4;
constexpr std::uint64_t kSetsPerUnit = 128;
constexpr std::uint64_t kPhaseSetsPerUnit = 4, kMostPhaseSets = 100'000;
// Phases are asked so often, and then on as long as one of so many states is dropped for it.
constexpr std::uint64_t kPhasesOnTrial = 500, kPhasesToDropOne = 10;
// The same for machines, and sums that cost a unit.
constexpr std::uint64_t kSumsOnTrial = 30'000, kSumsToDropOne = 1000;
constexpr double kSumsPerUnit = 256;
// After so many, states are asked before they are added, as long as most of them are dropped.
constexpr std::uint64_t kLeastAskedBefore = 64;
// Sets that are looked at for one state, with any budget, and where a schedule is looked for.
constexpr std::uint64_t kMostSets = std::uint64_t{1} << 24U, kMostSetsToFind = 256;
// By this the first limit on what comes up is above the least bound; then there are at most about so many.
constexpr double kNextToNothing = 1e-9, kMostRises = 64;
// Of a layer, so many come up at once, and a part of all that have been looked at.
constexpr std::uint64_t kAtOnce = 4, kPartAtOnce = 32;
// With more steps than this to remember, some hundred megabytes, states of higher bounds wait no more.
constexpr std::size_t kMostSteps = std::size_t{1} << 21U;
// A layer is made with room for this many times the states that a pass keeps, since some will be dominated.
constexpr std::size_t kSpare = 4;

// States of a layer that leave enough of the budget for the layers that follow. A pass that stops in the middle has
// found no schedule, and a bound that is no better than that of its first states.
std::size_t affordable(const Stop& stop, std::size_t layers_left) {
  constexpr std::size_t kMostLayers = 4;
  return std::max<std::size_t>(1, stop.work_left() / std::min(kMostLayers, layers_left));
}

}  // namespace

template <std::size_t Words>
void LayeredSearch<Words>::begin(const Block& block, std::span<const SearchWorth> worths, const PassLimits& limits,
                                 BlockSchedule& best, const Stop& stop) {
  block_.prepare(block);
  equals_.prepare(block_);
  worths_ = worths;
  best_ = &best;
  worth_looking_for_ = 1 - kTimeTolerance - limits.gap;
  limit_ = static_cast<double>(best.makespan) * worth_looking_for_;
  below_ = kNoLimit;
  narrow_ = limits.width <= kNarrow;
  finding_ = limits.width <= kWidestToFind;
  together_ = limits.together;
  phases_ = limits.phases;
  asked_phases_ = waited_by_phases_ = 0;
  if (phases_) phase_rest_.begin(block_, worths, std::min(kMostPhaseSets, kPhaseSetsPerUnit * stop.work_left()));
  path_rest_.begin(block_);
  machines_ = !finding_ && machine_rest_.begin(block_, static_cast<Ticks>(std::ceil(limit_)));
  asked_machines_.assign(block.size, {});
  owed_ = 0;
  a_layer_is_full_ = false;
  filler_.prepare(block, {block_.contested.data(), block_.resources()}, worths);
  nothing_.clear(worths.size());
  free_from_.resize(block.size);
  steps_.clear();
  if (layers_.size() < block.size) layers_.resize(block.size);
  for (std::size_t i = 0; i < block.size; ++i) layers_[i].begin(block_, kSpare * limits.width);
  const State first{.alone = std::reduce(block.fastest.begin(), block.fastest.end()), .step = kNoStep};
  left_.clear();
  for (const SearchWorth& worth : worths) left_.push_back(std::reduce(worth.least.begin(), worth.least.end()));
  worth_of_all_ = left_.front();
  layers_.front().insert(first, {}, left_);
  if (first.alone < best.makespan) finish_alone({}, 0);
}

template <std::size_t Words>
PassResult LayeredSearch<Words>::pass(const Block& block, std::span<const SearchWorth> worths, const PassLimits& limits,
                                      BlockSchedule& best, Stop& stop) {
  PassResult result{.least_cut = kNoLimit};
  result_ = &result;
  begin(block, worths, limits, best, stop);
  if (limits.by_bounds) below_ = least_bound(limits);
  for (;;) {
    const bool last = below_ == kNoLimit;
    all_came_up_ = true;
    for (std::size_t placed = 0; placed < block.size; ++placed) {
      if (!expand_layer(placed, limits, stop)) return result;
      // By now nobody comes back to the layer.
      if (last) layers_[placed].end();
    }
    if (last || (all_came_up_ && !raise_limit())) return result;
  }
}

// Of the first state, a little more than the bound.
template <std::size_t Words>
double LayeredSearch<Words>::least_bound(const PassLimits& limits) const {
  const double worth = *std::ranges::max_element(layers_.front().left(0, worths_.size()));
  return std::max(worth, static_cast<double>(limits.enough)) * (1 + kNextToNothing);
}

// The states of a layer that have come up to now. False if the pass ends here.
template <std::size_t Words>
bool LayeredSearch<Words>::expand_layer(std::size_t placed, const PassLimits& limits, Stop& stop) {
  StateLayer<Words>& layer = layers_[placed];
  const bool room_for_all = below_ < kNoLimit;
  const std::uint64_t at_once = room_for_all ? kAtOnce + result_->states / kPartAtOnce : layer.size();
  all_came_up_ = layer.take(below_, limit_, at_once, kept_) && all_came_up_;
  if (kept_.empty()) return true;
  owed_ += static_cast<double>(layer.drop_dominated(limit_, kept_)) / kComparisonsPerUnit;
  const std::size_t most = std::min(limits.width, affordable(stop, block_.block->size - placed));
  if (kept_.size() > most && limits.ends_where_too_narrow) return end_at(placed, 0);
  keep_best(layer, room_for_all ? kept_.size() : most);
  for (std::size_t at = 0; at < kept_.size(); ++at) {
    const std::uint32_t index = kept_[at];
    if (layer.state(index).bound >= limit_ || (phases_ && waits_by_phases(layer, index))) continue;
    if (is_dominated_by_more(placed, index)) continue;
    if (machines_ && waits_by_machines(placed, index)) continue;
    ++result_->states;
    const auto owed = static_cast<std::uint64_t>(owed_);
    owed_ -= static_cast<double>(owed);
    if (!stop.spend(1 + owed)) return end_at(placed, at);
    most_sets_ = std::min(kMostSets / kSetsPerUnit, stop.work_left()) * kSetsPerUnit;
    affordable_ = static_cast<double>(stop.work_left());
    if (finding_) most_sets_ = std::min(most_sets_, kMostSetsToFind);
    expand(placed, index);
    if (best_->makespan <= limits.enough) {
      *result_ = {.complete = false, .stopped = true, .states = result_->states};
      return false;
    }
    if (limits.ends_where_too_narrow && a_layer_is_full_) return end_at(placed, at + 1);
  }
  return true;
}

// Of what is not looked at any more, the least bound remains.
template <std::size_t Words>
bool LayeredSearch<Words>::end_at(std::size_t placed, std::size_t at) {
  result_->complete = false;
  result_->stopped = true;
  double& least = result_->least_cut;
  for (std::size_t i = at; i < kept_.size(); ++i) least = std::min(least, layers_[placed].state(kept_[i]).bound);
  for_each_waiting([&](const State& state) { least = std::min(least, state.bound); });
  return false;
}

template <std::size_t Words>
template <typename Visit>
void LayeredSearch<Words>::for_each_waiting(Visit&& visit) const {
  for (std::size_t placed = 0; placed < block_.block->size; ++placed)
    for (const std::uint32_t i : layers_[placed].waiting())
      if (!layers_[placed].dead(i)) visit(layers_[placed].state(i));
}

// So that about an eighth as many states come up as have been looked at, or the next one, but by a part of what is left
// below the limit in any case, so that there is an end. Where few wait, their bounds are far apart: a limit that passes
// over one of them may be far above the optimum. False if none waits.
template <std::size_t Words>
bool LayeredSearch<Words>::raise_limit() {
  bounds_.clear();
  for_each_waiting([&](const State& state) {
    if (state.bound < limit_) bounds_.push_back(state.bound);
  });
  if (bounds_.empty()) return false;
  if (steps_.size() > kMostSteps) {
    below_ = kNoLimit;
    return true;
  }
  const std::size_t more = std::min<std::size_t>(bounds_.size() - 1, result_->states / 8);
  const auto at = bounds_.begin() + static_cast<std::ptrdiff_t>(more);
  std::ranges::nth_element(bounds_, at);
  below_ = std::max(*at * (1 + kNextToNothing), below_ + (limit_ - below_) / kMostRises);
  return true;
}

template <std::size_t Words>
bool LayeredSearch<Words>::is_dominated_by_more(std::size_t placed, std::uint32_t index) const {
  if (finding_ || placed + 1 == block_.block->size) return false;
  const StateLayer<Words>& layer = layers_[placed];
  const State& state = layer.state(index);
  const SearchWorth& worth = worths_.front();
  double lost = static_cast<double>(state.time) + layer.left(index, worths_.size()).front() - worth_of_all_;
  for (const Running& runs : layer.running(index))
    lost += static_cast<double>(runs.finish - state.time) * worth.rates[runs.mode];
  OpSet<Words> next;
  (block_.all - state.placed).for_each([&](std::size_t op) {
    if (worth.least[op] <= lost + kWorthRounding && block_.before[op].subset_of(state.placed)) next.insert(op);
  });
  return !next.empty() && layers_[placed + 1].dominates_without(next, state, layers_[placed].running(index));
}

// Of the states in kept_, the best by their rank, in that order.
template <std::size_t Words>
void LayeredSearch<Words>::keep_best(const StateLayer<Words>& layer, std::size_t most) {
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
    const double x = layer.state(a).rank, y = layer.state(b).rank;
    return x != y ? x < y : a < b;
  };
  if (kept_.size() > most) {
    if (finding_) {
      // Those beyond the share of their front go behind all others.
      std::sort(kept_.begin(), kept_.end(), earlier);
      const std::size_t share = std::max<std::size_t>(1, most / kFrontsInLayer);
      of_front_.assign(layer.fronts(), 0);
      std::stable_partition(kept_.begin(), kept_.end(),
                            [&](std::uint32_t i) { return of_front_[layer.front(i)]++ < share; });
    } else {
      std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(most), kept_.end(), earlier);
    }
    for (std::size_t i = most; i < kept_.size(); ++i)
      result_->least_cut = std::min(result_->least_cut, layer.state(kept_[i]).bound);
    kept_.resize(most);
    result_->complete = false;
  }
  std::sort(kept_.begin(), kept_.end(), earlier);
}

template <std::size_t Words>
void LayeredSearch<Words>::expand(std::size_t placed, std::size_t index) {
  const StateLayer<Words>& layer = layers_[placed];
  const State& state = layer.state(index);
  const std::span<const Running> running = layer.running(index);
  std::size_t longest = 0;
  while (state.placed.contains(block_.longest_first[longest])) ++longest;
  const Parent parent{.state = state,
                      .running = running,
                      .left = layer.left(index, worths_.size()),
                      .placed = placed,
                      .all_done = running.empty() ? state.time : running.back().finish,
                      .longest = longest};
  find_candidates(parent);
  all_.clear(worths_.size());
  for (const Candidate& candidate : exclusive_) bar(candidate.start.op, all_);
  // What ends a needless group leads nowhere.
  if (!state.needless && parent.all_done < room_) start_exclusively(parent);
  for (std::size_t piece = 0; piece <= running.size() && parent.moment(piece) < room_; ++piece) {
    if (state.needless && parent.moment(piece) >= parent.all_done) break;
    if (together_)
      start_together(parent, piece);
    else
      start_one(parent, piece);
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::find_candidates(const Parent& parent) {
  const Block& block = *block_.block;
  const State& state = parent.state;
  const std::size_t count = parent.running.size(), resources = block_.resources();
  block_.add_up(parent.running, held_);
  candidates_.clear();
  exclusive_.clear();
  room_ = kNever;
  available_ = {};
  (block_.all - state.placed).for_each([&](std::size_t op) {
    if (!block_.before[op].subset_of(state.placed)) return;
    available_.insert(op);
    std::uint32_t piece = 0;
    for (std::uint32_t q = 0; q < count; ++q)
      if (block_.before[op].contains(parent.running[q].op)) piece = q + 1;
    free_from_[op] = piece;
    const bool barred = state.barred.contains(op);
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
      const OpStart start{static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(m), barred};
      if (block.modes[m].exclusive) {
        if (!barred && !block_.after[op].empty()) exclusive_.push_back({start, static_cast<std::uint32_t>(count)});
        continue;
      }
      const Units* demand = block_.demand(m);
      std::size_t q = piece;
      for (std::size_t k = 0; k < resources; ++k)
        while (held_[q * resources + k] + demand[k] > kCapacityUnits) ++q;
      const Ticks finish = parent.moment(q) + block.modes[m].duration;
      const bool starts_now = block_.unhindered[m] != 0 && finish <= parent.all_done;
      room_ = std::min(room_, starts_now ? parent.moment(q) + 1 : finish);
      candidates_.push_back({start, static_cast<std::uint32_t>(q)});
    }
  });
}

// Operators that nothing running from then on comes before.
template <std::size_t Words>
OpSet<Words> LayeredSearch<Words>::free_at(std::size_t piece) const {
  OpSet<Words> free_ops;
  available_.for_each([&](std::size_t op) {
    if (free_from_[op] <= piece) free_ops.insert(op);
  });
  return free_ops;
}

template <std::size_t Words>
void LayeredSearch<Words>::bar(std::size_t op, Barring& barring) const {
  barring.ops.insert(op);
  for (std::size_t v = 0; v < worths_.size(); ++v) barring.price[v] += worths_[v].shareable[op] - worths_[v].least[op];
}

// One after the other, each child bars those before it.
template <std::size_t Words>
void LayeredSearch<Words>::start_exclusively(const Parent& parent) {
  tried_.clear(worths_.size());
  for (const Candidate& candidate : exclusive_) {
    if (equals_.goes_after(parent.state, candidate.start, available_)) continue;
    add_child(parent, candidate.piece, std::span(&candidate.start, 1), tried_);
    bar(candidate.start.op, tried_);
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::start_one(const Parent& parent, std::size_t piece) {
  const Barring& barring = parent.moment(piece) >= parent.all_done ? all_ : nothing_;
  const OpSet<Words> free_ops = free_at(piece);
  for (const Candidate& candidate : candidates_)
    if (candidate.piece == piece && !equals_.goes_after(parent.state, candidate.start, free_ops))
      add_child(parent, piece, std::span(&candidate.start, 1), barring);
}

// Sets that start at one moment.
template <std::size_t Words>
void LayeredSearch<Words>::start_together(const Parent& parent, std::size_t piece) {
  const Ticks time = parent.moment(piece);
  const Barring& barring = time >= parent.all_done ? all_ : nothing_;
  starts_.clear();
  for (const Candidate& candidate : candidates_)
    if (candidate.piece == piece) {
      starts_.push_back(candidate.start);
      starts_.back().barred = candidate.start.barred || barring.ops.contains(candidate.start.op);
    }
  if (starts_.empty()) return;
  left_then_.assign(parent.left.begin(), parent.left.end());
  for (std::size_t v = 0; v < worths_.size(); ++v) left_then_[v] += barring.price[v];
  const OpSet<Words> free_ops = free_at(piece);
  equals_.begin_moment(parent.state, starts_, free_ops);
  const Moment moment{
      .time = time, .running = parent.running.subspan(piece), .starts = starts_, .left = left_then_, .limit = limit_};
  const auto allowed = [&](const OpStart& start, std::span<const OpStart> joined) {
    return equals_.may_join(start, joined);
  };
  const bool all_seen = filler_.for_each(moment, most_sets_, allowed, [&](const MomentFiller::Filling& filling) {
    OpSet<Words> others = free_ops;
    for (const OpStart& start : filling.starts) others.erase(start.op);
    for (const OpStart& start : filling.starts)
      if (equals_.goes_after(parent.state, start, others)) return true;
    if (leaves_room(parent, piece, others, filling)) return true;
    owed_ += 1 / kChildrenPerUnit;
    add_child(parent, piece, filling.starts, barring);
    return owed_ < affordable_;
  });
  owed_ += static_cast<double>(filler_.looked_at()) / static_cast<double>(kSetsPerUnit);
  most_sets_ -= std::min(most_sets_, filler_.looked_at());
  if (all_seen) return;
  result_->complete = false;
  result_->least_cut = std::min(result_->least_cut, parent.state.bound);
}

// Whether one of the others could run beside the filling and end before anything else happens; or, unhindered, before
// all has ended.
template <std::size_t Words>
bool LayeredSearch<Words>::leaves_room(const Parent& parent, std::size_t piece, const OpSet<Words>& others,
                                       const MomentFiller::Filling& filling) const {
  const Block& block = *block_.block;
  const Ticks time = parent.moment(piece);
  Ticks last = parent.all_done;
  for (const OpStart& start : filling.starts) last = std::max(last, time + block.modes[start.mode].duration);
  return others.any_of([&](std::size_t op) {
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
      if (block.modes[m].exclusive) continue;
      const Ticks finish = time + block.modes[m].duration;
      if (finish > last) return false;
      bool fits = finish <= filling.until || block_.unhindered[m] != 0;
      for (std::size_t k = 0; k < filling.free.size() && fits; ++k) fits = block_.demand(m)[k] <= filling.free[k];
      if (fits) return true;
    }
    return false;
  });
}

template <std::size_t Words>
void LayeredSearch<Words>::add_child(const Parent& parent, std::size_t piece, std::span<const OpStart> starts,
                                     const Barring& barring) {
  const Block& block = *block_.block;
  const Ticks time = parent.moment(piece);
  const bool exclusive = block.modes[starts.front().mode].exclusive;
  State child{.placed = parent.state.placed, .alone = parent.state.alone};
  running_.assign(parent.running.begin() + static_cast<std::ptrdiff_t>(piece), parent.running.end());
  left_.resize(worths_.size());
  for (std::size_t v = 0; v < worths_.size(); ++v) left_[v] = parent.left[v] + barring.price[v];
  Ticks ended = parent.all_done, end = 0;
  for (const OpStart& start : starts) {
    child.placed.insert(start.op);
    child.alone -= block.fastest[start.op];
    // Barred by this very step, it has been priced as shareable.
    const bool barred = barring.ops.contains(start.op) || parent.state.barred.contains(start.op);
    for (std::size_t v = 0; v < worths_.size(); ++v)
      left_[v] -= barred ? worths_[v].shareable[start.op] : worths_[v].least[start.op];
    const Ticks finish = time + block.modes[start.mode].duration;
    ended = std::max(ended, finish);
    end = std::max(end, finish + block.tails[start.op]);
    const auto at = std::ranges::upper_bound(running_, finish, {}, &Running::finish);
    running_.insert(at, {start.op, start.mode, finish});
  }
  if (static_cast<double>(end) >= limit_) return;
  // A schedule: all that is left, one after another.
  if (ended + child.alone < best_->makespan) finish_schedule(parent, time, starts, child, ended);
  if (child.placed == block_.all) return;
  child.barred = (parent.state.barred | barring.ops) - child.placed;
  if (exclusive) {
    // Nothing can start beside it.
    child.time = ended;
    running_.clear();
  } else {
    child.time = time;
    const bool begins = time >= parent.all_done;
    child.group = begins ? parent.state.step : parent.state.group;
    child.barred_before_group = begins ? parent.state.barred : parent.state.barred_before_group;
    const OpSet<Words> may_as_well = block_.as_well_alone - child.barred_before_group;
    child.needless = (begins || parent.state.needless) &&
                     std::ranges::all_of(starts, [&](const OpStart& start) { return may_as_well.contains(start.op); });
    if (child.needless && (block_.all - child.placed).subset_of(may_as_well)) return;
    put_time_forward(child);
    if (running_.empty()) {
      if (child.needless) return;
      child.barred_before_group = {};
    }
  }
  child.bound = std::max(parent.state.bound, static_cast<double>(end));
  set_bound(parent, child);
  if (phases_ && child.bound < limit_ && asked_phases_ >= kLeastAskedBefore && waited_by_phases_ * 2 > asked_phases_)
    count_phases_in(child, running_);
  if (child.bound >= limit_) return;
  StateLayer<Words>& layer = layers_[parent.placed + starts.size()];
  // Once a layer has states enough, one with a rank above all of theirs would not be kept: it is not even added.
  if (layer.outranks_all(child.rank)) {
    result_->least_cut = std::min(result_->least_cut, child.bound);
    result_->complete = false;
    return;
  }
  child.step = static_cast<std::uint32_t>(steps_.size() + starts.size() - 1);
  if (!layer.insert(child, running_, left_)) return;
  a_layer_is_full_ = a_layer_is_full_ || layer.full();
  std::uint32_t before = parent.state.step;
  for (const OpStart& start : starts) {
    steps_.push_back({before, start.op, start.mode, time});
    before = static_cast<std::uint32_t>(steps_.size() - 1);
  }
}

// To the first moment after the next finish at which something could start: its predecessors have finished and the
// least that it may demand is free. Operators that have finished by then leave running_.
template <std::size_t Words>
void LayeredSearch<Words>::put_time_forward(State& state) {
  const std::size_t resources = block_.resources();
  free_.assign(resources, kCapacityUnits);
  OpSet<Words> finished = state.placed;
  for (const Running& runs : running_) {
    finished.erase(runs.op);
    for (std::size_t k = 0; k < resources; ++k) free_[k] -= block_.demand(runs.mode)[k];
  }
  const auto something_may_start = [&] {
    return (block_.shareable - state.placed).any_of([&](std::size_t i) {
      bool may = block_.before[i].subset_of(finished);
      for (std::size_t k = 0; k < resources && may; ++k) may = block_.lightest[i * resources + k] <= free_[k];
      return may;
    });
  };
  std::size_t over = 0;
  while (over < running_.size() && ((over == 0 && together_) || !something_may_start())) {
    state.time = running_[over].finish;
    // What ends at the same moment makes room at the same moment.
    for (; over < running_.size() && running_[over].finish == state.time; ++over) {
      finished.insert(running_[over].op);
      for (std::size_t k = 0; k < resources; ++k) free_[k] += block_.demand(running_[over].mode)[k];
    }
  }
  running_.erase(running_.begin(), running_.begin() + static_cast<std::ptrdiff_t>(over));
}

// Whether by phases it is too late, or has to wait with a bound that says so.
template <std::size_t Words>
bool LayeredSearch<Words>::waits_by_phases(StateLayer<Words>& layer, std::uint32_t index) {
  if (layer.state(index).bound_by_phases) return false;
  State state = layer.state(index);
  count_phases_in(state, layer.running(index));
  const bool waits = state.bound >= std::min(below_, limit_);
  if (waits && state.bound < limit_) layer.put_back(index, state);
  return waits;
}

template <std::size_t Words>
void LayeredSearch<Words>::count_phases_in(State& state, std::span<const Running> running) {
  const std::uint64_t looked_at = phase_rest_.looked_at();
  const Ticks end = phase_rest_.least_end(state, running, static_cast<Ticks>(std::ceil(limit_)));
  owed_ += static_cast<double>(phase_rest_.looked_at() - looked_at) / static_cast<double>(kPhaseSetsPerUnit);
  state.bound = state.rank = std::max(state.bound, static_cast<double>(end));
  state.bound_by_phases = true;
  ++asked_phases_;
  waited_by_phases_ += state.bound >= std::min(below_, limit_) ? 1 : 0;
  phases_ = asked_phases_ < kPhasesOnTrial || waited_by_phases_ * kPhasesToDropOne >= asked_phases_;
}

// Whether by machines it is too late, or has to wait.
template <std::size_t Words>
bool LayeredSearch<Words>::waits_by_machines(std::size_t placed, std::uint32_t index) {
  StateLayer<Words>& layer = layers_[placed];
  Asked& asked = asked_machines_[placed];
  if (layer.state(index).bound_by_machines || asked.sums > kSumsOnTrial + kSumsToDropOne * asked.waited) return false;
  State state = layer.state(index);
  const std::uint64_t looked_at = machine_rest_.looked_at();
  const double enough = std::min(below_, limit_);
  const Ticks end = machine_rest_.least_end(state, layer.running(index), static_cast<Ticks>(std::ceil(enough)),
                                            static_cast<Ticks>(std::ceil(limit_)));
  asked.sums += machine_rest_.looked_at() - looked_at;
  owed_ += static_cast<double>(machine_rest_.looked_at() - looked_at) / kSumsPerUnit;
  const bool waits = static_cast<double>(end) >= enough;
  if (!waits) return false;
  ++asked.waited;
  state.bound = state.rank = std::max(state.bound, static_cast<double>(end));
  state.bound_by_machines = true;
  if (state.bound < limit_) layer.put_back(index, state);
  return true;
}

// And the rank. The bound is at least that of the parent.
template <std::size_t Words>
void LayeredSearch<Words>::set_bound(const Parent& parent, State& child) {
  const Block& block = *block_.block;
  Ticks end = 0, path = 0;
  for (const Running& runs : running_) {
    end = std::max(end, runs.finish + block.tails[runs.op]);
    path = std::max(path, runs.finish + block.paths[runs.op]);
  }
  std::size_t longest = parent.longest;
  while (child.placed.contains(block_.longest_first[longest])) ++longest;
  const std::uint32_t op = block_.longest_first[longest];
  const Ticks rest = block_.rests[longest];
  end = std::max(end, child.time + rest);
  path = std::max(path, child.time + block.fastest[op] + block.paths[op]);
  child.bound = std::max({child.bound, parent.state.bound, static_cast<double>(end)});
  for (std::size_t v = 0; v < worths_.size(); ++v) {
    double bound = static_cast<double>(child.time) + left_[v];
    for (const Running& runs : running_)
      bound += static_cast<double>(runs.finish - child.time) * worths_[v].rates[runs.mode];
    child.bound = std::max(child.bound, bound * (1 - 1e-12));
  }
  // Narrow passes do as well without, and are sooner through. The path is no longer than it would be after all that
  // runs.
  const Ticks over = running_.empty() ? child.time : running_.back().finish;
  const bool may_be_longer = !child.barred.empty() || static_cast<double>(over + rest) > child.bound;
  if (!narrow_ && child.bound < limit_ && may_be_longer)
    child.bound =
        std::max(child.bound, static_cast<double>(path_rest_.least_end(child, running_, child.bound, limit_)));
  child.rank = child.bound;
  if (narrow_) child.rank += kPathInRank * static_cast<double>(path);
  if (finding_) child.rank += kLeftInRank * *std::ranges::max_element(left_);
}

template <std::size_t Words>
void LayeredSearch<Words>::finish_schedule(const Parent& parent, Ticks start, std::span<const OpStart> starts,
                                           const State& child, Ticks ended) {
  for (std::uint32_t step = parent.state.step; step != kNoStep; step = steps_[step].parent)
    best_->ops[steps_[step].op] = {.mode = steps_[step].mode, .start = steps_[step].start};
  for (const OpStart& one : starts) best_->ops[one.op] = {.mode = one.mode, .start = start};
  finish_alone(child.placed, ended);
}

// What is not placed one after another from `ended` on, in the order of the numbers: nothing then comes before what it
// waits for.
template <std::size_t Words>
void LayeredSearch<Words>::finish_alone(const OpSet<Words>& placed, Ticks ended) {
  const Block& block = *block_.block;
  (block_.all - placed).for_each([&](std::size_t i) {
    best_->ops[i] = {.mode = block.mode_offsets[i], .start = ended};
    ended += block.fastest[i];
  });
  best_->makespan = ended;
  limit_ = std::min(limit_, static_cast<double>(ended) * worth_looking_for_);
}

template class LayeredSearch<1>;
template class LayeredSearch<2>;
template class LayeredSearch<4>;

}  // namespace phaze::schedule
