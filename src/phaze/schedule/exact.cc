#include "phaze/schedule/exact.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace phaze::schedule {
namespace {

constexpr std::size_t kFirstSlots = 128;
// Of its front, a new state is compared at once with so many others, the latest; when the layer is complete, with all
// of a part of this size.
constexpr std::size_t kMostCompared = 4;
constexpr std::size_t kMostIndexed = 4096;
constexpr std::uint32_t kNoStep = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kNotYet = std::numeric_limits<std::uint32_t>::max();
constexpr double kPathInRank = 0.5;
// What is left will be done a little less well than bounds say. Without this, states that have put off most of the work
// look better than those that have done it.
constexpr double kLeftInRank = 0.01;
// Of so many parts of a layer, states of one front take at most one, as long as there are others.
constexpr std::size_t kFrontsInLayer = 20;
// A state costs a unit of the budget. In fronts of thousands the comparisons take longer than all else, and so many of
// them cost one, too.
constexpr std::uint64_t kComparisonsPerUnit = 64;
// A layer is made with room for this many times the states that a pass keeps, since some will be dominated.
constexpr std::size_t kSpare = 4;

// States of a layer that leave enough of the budget for the layers that follow. A pass that stops in the middle has
// found no schedule, and a bound that is no better than that of its first states.
std::size_t affordable(const Stop& stop, std::size_t layers_left) {
  constexpr std::size_t kMostLayers = 4;
  return std::max<std::size_t>(1, stop.work_left() / std::min(kMostLayers, layers_left));
}

bool same_modes(const Block& block, std::size_t a, std::size_t b) {
  const std::size_t first = block.mode_offsets[a], other = block.mode_offsets[b];
  const std::size_t count = block.mode_offsets[a + 1] - first;
  if (block.mode_offsets[b + 1] - other != count) return false;
  for (std::size_t m = 0; m < count; ++m) {
    const BlockMode &x = block.modes[first + m], &y = block.modes[other + m];
    if (x.duration != y.duration || x.exclusive != y.exclusive) return false;
    if (!std::equal(block.demand(first + m), block.demand(first + m) + block.resources, block.demand(other + m)))
      return false;
  }
  return true;
}

}  // namespace

template <std::size_t Words>
PassResult LayeredSearch<Words>::pass(const Block& block, const std::vector<SearchWorth>& worths,
                                      const PassLimits& limits, BlockSchedule& best, Stop& stop) {
  const std::size_t width = limits.width;
  block_ = &block;
  worths_ = &worths;
  best_ = &best;
  limit_ = static_cast<double>(best.makespan) * (1 - kTimeTolerance);
  const std::size_t n = block.size;
  prepare(block);
  filler_.prepare(block, worths);
  steps_.clear();
  now_.clear();
  now_.states.push_back({.alone = std::reduce(block.fastest.begin(), block.fastest.end()), .step = kNoStep});
  for (const SearchWorth& worth : worths) {
    double total = 0;
    for (const double part : worth.least) total += part;
    now_.left.push_back(total);
  }
  comparisons_ = 0;
  most_children_ = kSpare * width;
  path_in_rank_ = width <= kNarrow ? kPathInRank : 0;
  finding_ = width <= kWidestToFind;
  PassResult result{.least_cut = std::numeric_limits<double>::infinity()};
  result_ = &result;
  if (now_.states.front().alone < best.makespan) finish_schedule(kNoStep, {}, 0);
  for (placed_count_ = 0; placed_count_ < n && !now_.states.empty(); ++placed_count_) {
    kept_.clear();
    for (std::size_t i = 0; i < now_.states.size(); ++i)
      if (!now_.states[i].dead && now_.states[i].bound < limit_) kept_.push_back(static_cast<std::uint32_t>(i));
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      const double x = now_.states[a].rank, y = now_.states[b].rank;
      return x != y ? x < y : a < b;
    };
    const std::size_t most = std::min(width, affordable(stop, n - placed_count_));
    // Of what is not looked at any more, the least bound remains.
    const auto end_at = [&](std::size_t at) {
      result.complete = false;
      result.stopped = true;
      for (std::size_t i = at; i < kept_.size(); ++i)
        result.least_cut = std::min(result.least_cut, now_.states[kept_[i]].bound);
      for (const State& state : next_.states)
        if (!state.dead) result.least_cut = std::min(result.least_cut, state.bound);
      return result;
    };
    next_.clear();
    if (kept_.size() > most) {
      if (limits.ends_where_too_narrow) return end_at(0);
      if (finding_) {
        std::sort(kept_.begin(), kept_.end(), earlier);
        put_few_of_each_front_first(most);
      } else {
        std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(most), kept_.end(), earlier);
      }
      for (std::size_t i = most; i < kept_.size(); ++i)
        result.least_cut = std::min(result.least_cut, now_.states[kept_[i]].bound);
      kept_.resize(most);
      result.complete = false;
    }
    std::sort(kept_.begin(), kept_.end(), earlier);
    least_ranks_.clear();
    used_fronts_ = 0;
    rehash(kFirstSlots);
    for (std::size_t at = 0; at < kept_.size(); ++at) {
      if (now_.states[kept_[at]].bound >= limit_) continue;
      ++result.states;
      if (!stop.spend()) return end_at(at);
      expand(kept_[at]);
      if (best.makespan <= limits.enough) return {.complete = false, .stopped = true, .states = result.states};
      if (limits.ends_where_too_narrow && least_ranks_.size() == most_children_) return end_at(at + 1);
    }
    drop_dominated();
    stop.spend(comparisons_ / kComparisonsPerUnit);
    comparisons_ %= kComparisonsPerUnit;
    std::swap(now_, next_);
  }
  return result;
}

// Of states by rising rank, those beyond the share of their front go behind all others.
template <std::size_t Words>
void LayeredSearch<Words>::put_few_of_each_front_first(std::size_t most) {
  const std::size_t share = std::max<std::size_t>(1, most / kFrontsInLayer);
  of_front_.assign(used_fronts_, 0);
  std::stable_partition(kept_.begin(), kept_.end(),
                        [&](std::uint32_t i) { return of_front_[now_.states[i].front]++ < share; });
}

template <std::size_t Words>
void LayeredSearch<Words>::prepare(const Block& block) {
  const std::size_t n = block.size;
  before_.resize(n);
  after_.resize(n);
  all_ = {};
  for (std::size_t i = 0; i < n; ++i) {
    before_[i] = block.set_of<Words>(block.before_row(i));
    after_[i] = block.set_of<Words>(block.after_row(i));
    all_.insert(i);
  }
  longest_first_.resize(n);
  for (std::size_t i = 0; i < n; ++i) longest_first_[i] = static_cast<std::uint32_t>(i);
  std::ranges::stable_sort(longest_first_, [&](std::uint32_t a, std::uint32_t b) {
    return block.fastest[a] + block.tails[a] > block.fastest[b] + block.tails[b];
  });
  lightest_.assign(n * block.resources, kCapacityUnits + 1);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
      if (!block.modes[m].exclusive)
        for (std::size_t k = 0; k < block.resources; ++k) {
          Units& least = lightest_[i * block.resources + k];
          least = std::min(least, block.demand(m)[k]);
        }
  demand_hashes_.assign(block.modes.size(), 0);
  std::vector<double> work(block.resources, 0);
  for (std::size_t m = 0; m < block.modes.size(); ++m)
    for (std::size_t k = 0; k < block.resources; ++k) {
      demand_hashes_[m] = mix(demand_hashes_[m] ^ static_cast<std::uint64_t>(block.demand(m)[k]));
      work[k] += static_cast<double>(block.demand(m)[k]) * static_cast<double>(block.modes[m].duration);
    }
  scarcest_first_.clear();
  for (std::size_t k = 0; k < block.resources; ++k)
    if (work[k] > 0) scarcest_first_.push_back(static_cast<std::uint32_t>(k));
  std::ranges::stable_sort(scarcest_first_, [&](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });
  equals_before_.assign(n, {});
  for (std::size_t b = 0; b < n; ++b)
    for (std::size_t a = 0; a < n; ++a) {
      const bool goes_first = after_[b].subset_of(after_[a]) && (a < b || after_[a] != after_[b]);
      if (goes_first && same_modes(block, a, b)) equals_before_[b].insert(a);
    }
}

template <std::size_t Words>
bool LayeredSearch<Words>::goes_after_an_equal(const State& state, const Candidate& candidate) const {
  const std::size_t op = candidate.op;
  const bool exclusive = block_->modes[candidate.mode].exclusive;
  OpSet<Words> waiting;
  (equals_before_[op] - state.placed).for_each([&](std::size_t a) {
    if (free_from_[a] <= candidate.piece) waiting.insert(a);
  });
  if (waiting.empty()) return false;
  if (state.barred.contains(op)) return !(waiting & state.barred).empty();
  return !exclusive || !(waiting - state.barred).empty();
}

template <std::size_t Words>
void LayeredSearch<Words>::expand(std::size_t index) {
  const Block& block = *block_;
  const std::size_t resources = block.resources;
  const State state = now_.states[index];
  const Running* running = now_.running.data() + state.running_begin;
  // held_[q]: what is held once the q operators that finish first have finished.
  const std::size_t count = state.running_count;
  held_.assign((count + 1) * resources, 0);
  for (std::size_t q = count; q-- > 0;) {
    const Units* demand = block.demand(running[q].mode);
    for (std::size_t k = 0; k < resources; ++k) held_[q * resources + k] = held_[(q + 1) * resources + k] + demand[k];
  }
  const auto moment = [&](std::size_t piece) { return piece == 0 ? state.time : running[piece - 1].finish; };
  const Ticks all_done = moment(count);
  const std::vector<SearchWorth>& worths = *worths_;
  rest_.assign((count + 1) * worths.size(), 0);
  for (std::size_t q = 0; q < count; ++q)
    for (std::size_t v = 0; v < worths.size(); ++v)
      for (std::size_t r = q; r < count; ++r)
        rest_[q * worths.size() + v] +=
            static_cast<double>(running[r].finish - moment(q)) * worths[v].rates[running[r].mode];

  candidates_.clear();
  OpSet<Words> may_be_exclusive;
  Ticks room = kNever;  // the earliest end of anything that does not need the chip for itself
  free_from_.assign(block.size, kNotYet);
  (all_ - state.placed).for_each([&](std::size_t op) {
    if (!before_[op].subset_of(state.placed)) return;
    std::uint32_t piece = 0;
    for (std::uint32_t q = 0; q < count; ++q)
      if (before_[op].contains(running[q].op)) piece = q + 1;
    free_from_[op] = piece;
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
      if (block.modes[m].exclusive) {
        if (!state.barred.contains(op) && !after_[op].empty()) {
          may_be_exclusive.insert(op);
          candidates_.push_back({static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(m),
                                 static_cast<std::uint32_t>(count), all_done});
        }
        continue;
      }
      const Units* demand = block.demand(m);
      for (std::size_t q = piece;; ++q) {
        bool fits = true;
        for (std::size_t k = 0; k < resources && fits; ++k)
          fits = held_[q * resources + k] + demand[k] <= kCapacityUnits;
        if (!fits) continue;
        room = std::min(room, moment(q) + block.modes[m].duration);
        candidates_.push_back(
            {static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(m), static_cast<std::uint32_t>(q), moment(q)});
        break;
      }
    }
  });
  price_of_all_.assign(worths.size(), 0);
  price_of_tried_.assign(worths.size(), 0);
  for (std::size_t v = 0; v < worths.size(); ++v)
    may_be_exclusive.for_each([&](std::size_t i) { price_of_all_[v] += worths[v].shareable[i] - worths[v].least[i]; });
  nothing_.assign(worths.size(), 0);
  OpSet<Words> tried_exclusively;
  for (const Candidate& candidate : candidates_) {
    if (candidate.start >= room) continue;
    if (goes_after_an_equal(state, candidate)) continue;
    if (block.modes[candidate.mode].exclusive) {
      add_child(index, candidate, tried_exclusively, price_of_tried_);
      tried_exclusively.insert(candidate.op);
      for (std::size_t v = 0; v < worths.size(); ++v)
        price_of_tried_[v] += worths[v].shareable[candidate.op] - worths[v].least[candidate.op];
    } else if (candidate.start >= all_done) {
      add_child(index, candidate, may_be_exclusive, price_of_all_);
    } else {
      add_child(index, candidate, {}, nothing_);
    }
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::add_child(std::size_t index, const Candidate& candidate, const OpSet<Words>& newly_barred,
                                     const std::vector<double>& price_of_barring) {
  const Block& block = *block_;
  const State& parent = now_.states[index];
  const std::size_t op = candidate.op, mode = candidate.mode;
  const Ticks finish = candidate.start + block.modes[mode].duration;
  const bool exclusive = block.modes[mode].exclusive;
  const Running* running = now_.running.data() + parent.running_begin;
  // What can be seen without making the state: most children end here.
  if (static_cast<double>(finish + block.tails[op]) >= limit_) return;
  const std::vector<SearchWorth>& worths = *worths_;
  left_.resize(worths.size());
  double least = std::max(parent.bound, static_cast<double>(finish + block.tails[op]));
  const bool newly = newly_barred.contains(op);
  for (std::size_t v = 0; v < worths.size(); ++v) {
    const SearchWorth& worth = worths[v];
    double left = now_.left[index * worths.size() + v] + price_of_barring[v];
    // Barred by this very step, it has been priced as shareable.
    left -= newly || parent.barred.contains(op) ? worth.shareable[op] : worth.least[op];
    left_[v] = left;
    const double bound = exclusive ? static_cast<double>(finish) + left
                                   : static_cast<double>(candidate.start) + left +
                                         rest_[candidate.piece * worths.size() + v] +
                                         static_cast<double>(finish - candidate.start) * worth.rates[mode];
    least = std::max(least, bound * (1 - 1e-12));
    if (least >= limit_) return;
  }
  State child;
  child.placed = parent.placed;
  child.placed.insert(op);
  child.alone = parent.alone - block.fastest[op];
  // A schedule: all that is left, one after another.
  Ticks ended = finish;
  if (parent.running_count > 0) ended = std::max(ended, running[parent.running_count - 1].finish);
  if (ended + child.alone < best_->makespan) {
    finish_schedule(parent.step, child.placed, ended);
    best_->ops[op] = {.mode = static_cast<std::uint32_t>(mode), .start = candidate.start};
  }
  if (placed_count_ + 1 == block.size) return;
  child.barred = (parent.barred | newly_barred) - child.placed;
  // Nothing can start beside an exclusive mode.
  child.time = exclusive ? finish : candidate.start;
  child.running_begin = static_cast<std::uint32_t>(next_.running.size());
  if (!exclusive) {
    std::uint32_t r = candidate.piece;
    for (; r < parent.running_count && running[r].finish <= finish; ++r) next_.running.push_back(running[r]);
    next_.running.push_back({static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(mode), finish});
    for (; r < parent.running_count; ++r) next_.running.push_back(running[r]);
    child.running_count = static_cast<std::uint32_t>(next_.running.size()) - child.running_begin;
    put_time_forward(child);
  }
  const auto drop = [&] { next_.running.resize(child.running_begin); };
  Ticks end = finish + block.tails[op], path = finish + block.paths[op];
  const Running* rests = next_.running.data() + child.running_begin;
  for (std::uint32_t r = 0; r < child.running_count; ++r) {
    end = std::max(end, rests[r].finish + block.tails[rests[r].op]);
    path = std::max(path, rests[r].finish + block.paths[rests[r].op]);
  }
  for (const std::uint32_t i : longest_first_)
    if (!child.placed.contains(i)) {
      end = std::max(end, child.time + block.fastest[i] + block.tails[i]);
      path = std::max(path, child.time + block.fastest[i] + block.paths[i]);
      break;
    }
  child.bound = std::max(parent.bound, static_cast<double>(end));
  for (std::size_t v = 0; v < worths.size(); ++v) {
    double bound = static_cast<double>(child.time) + left_[v];
    for (std::uint32_t r = 0; r < child.running_count; ++r)
      bound += static_cast<double>(rests[r].finish - child.time) * worths[v].rates[rests[r].mode];
    child.bound = std::max(child.bound, bound * (1 - 1e-12));
  }
  child.rank = child.bound + path_in_rank_ * static_cast<double>(path);
  if (finding_) child.rank += kLeftInRank * *std::ranges::max_element(left_);
  if (child.bound >= limit_ || is_cut(child) || !can_be_filled(child) || !insert(child)) return drop();
  least_ranks_.push_back(child.rank);
  std::ranges::push_heap(least_ranks_);
  if (least_ranks_.size() > most_children_) {
    std::ranges::pop_heap(least_ranks_);
    least_ranks_.pop_back();
  }
  next_.left.insert(next_.left.end(), left_.begin(), left_.end());
  next_.states.back().step = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({parent.step, static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(mode), candidate.start});
}

// Once the next layer has states enough, one with a rank above all of theirs would not be kept: it is not even added.
template <std::size_t Words>
bool LayeredSearch<Words>::is_cut(const State& state) {
  if (least_ranks_.size() < most_children_ || state.rank < least_ranks_.front()) return false;
  result_->least_cut = std::min(result_->least_cut, state.bound);
  result_->complete = false;
  return true;
}

template <std::size_t Words>
bool LayeredSearch<Words>::can_be_filled(const State& state) {
  if (state.running_count == 0 || finding_) return true;
  const std::span running(next_.running.data() + state.running_begin, state.running_count);
  OpSet<Words> finished = state.placed;
  for (const Running& runs : running) finished.erase(runs.op);
  free_ops_.clear();
  (all_ - state.placed).for_each([&](std::size_t op) {
    if (before_[op].subset_of(finished))
      free_ops_.push_back({static_cast<std::uint32_t>(op), state.barred.contains(op)});
  });
  return filler_.can_fill({.time = state.time, .running = running, .free = free_ops_, .left = left_, .limit = limit_});
}

// To the first moment at which something could start: its predecessors have finished and the least that it may demand
// is free. Operators that have finished by then leave the list of those running, which is at the end of next_.running.
template <std::size_t Words>
void LayeredSearch<Words>::put_time_forward(State& state) {
  const Block& block = *block_;
  const std::size_t resources = block.resources;
  Running* running = next_.running.data() + state.running_begin;
  free_.assign(resources, kCapacityUnits);
  OpSet<Words> finished = state.placed;
  for (std::uint32_t r = 0; r < state.running_count; ++r) {
    finished.erase(running[r].op);
    for (std::size_t k = 0; k < resources; ++k) free_[k] -= block.demand(running[r].mode)[k];
  }
  const auto something_may_start = [&] {
    bool may = false;
    (all_ - state.placed).for_each([&](std::size_t i) {
      if (may || !before_[i].subset_of(finished)) return;
      may = true;
      for (std::size_t k = 0; k < resources && may; ++k) may = lightest_[i * resources + k] <= free_[k];
    });
    return may;
  };
  std::uint32_t over = 0;
  while (over < state.running_count && !something_may_start()) {
    finished.insert(running[over].op);
    for (std::size_t k = 0; k < resources; ++k) free_[k] += block.demand(running[over].mode)[k];
    state.time = running[over].finish;
    ++over;
    // What ends at the same moment makes room at the same moment.
    while (over < state.running_count && running[over].finish == state.time) {
      finished.insert(running[over].op);
      for (std::size_t k = 0; k < resources; ++k) free_[k] += block.demand(running[over].mode)[k];
      ++over;
    }
  }
  std::copy(running + over, running + state.running_count, running);
  state.running_count -= over;
  next_.running.resize(state.running_begin + state.running_count);
}

template <std::size_t Words>
bool LayeredSearch<Words>::dominates(const State& a, const State& b) const {
  if (a.time > b.time || !a.barred.subset_of(b.barred)) return false;
  const Running* mine = next_.running.data() + a.running_begin;
  const Running* theirs = next_.running.data() + b.running_begin;
  std::uint32_t first = 0;
  while (first < a.running_count && mine[first].finish <= b.time) ++first;
  if (first == a.running_count) return true;
  if (b.running_count == 0 || mine[a.running_count - 1].finish > theirs[b.running_count - 1].finish) return false;
  for (std::uint32_t r = first; r < a.running_count; ++r) {
    if (!awaited(a, mine[r].op)) continue;
    bool covered = false;
    for (std::uint32_t other = 0; other < b.running_count && !covered; ++other)
      covered = theirs[other].op == mine[r].op && theirs[other].finish >= mine[r].finish;
    if (!covered) return false;
  }
  // Both hold less and less, so it suffices to look at b's time and whenever something of b's has ended.
  for (const std::uint32_t k : scarcest_first_) {
    Units held = 0, held_by_other = 0;
    for (std::uint32_t r = first; r < a.running_count; ++r) held += block_->demand(mine[r].mode)[k];
    for (std::uint32_t r = 0; r < b.running_count; ++r) held_by_other += block_->demand(theirs[r].mode)[k];
    if (held > held_by_other) return false;
    std::uint32_t over = first;
    for (std::uint32_t ended = 0; ended < b.running_count; ++ended) {
      held_by_other -= block_->demand(theirs[ended].mode)[k];
      for (; over < a.running_count && mine[over].finish <= theirs[ended].finish; ++over)
        held -= block_->demand(mine[over].mode)[k];
      const bool more_ends = ended + 1 < b.running_count && theirs[ended + 1].finish == theirs[ended].finish;
      if (held > held_by_other && !more_ends) return false;
    }
  }
  return true;
}

template <std::size_t Words>
Key LayeredSearch<Words>::key_of(const State& state) const {
  const auto time = static_cast<float>(state.time);
  Key key{.numbers = {time, time, time}, .state = 0};
  const Running* running = next_.running.data() + state.running_begin;
  for (std::uint32_t r = 0; r < state.running_count; ++r)
    if (awaited(state, running[r].op)) key.numbers[2] = static_cast<float>(running[r].finish);
  if (state.running_count > 0) key.numbers[1] = static_cast<float>(running[state.running_count - 1].finish);
  float* const moments = key.numbers.data() + Key::kPacked + Key::kResources;
  std::fill_n(moments, Key::kLevels.size(), time);
  for (std::size_t k = 0; k < Key::kResources; ++k) {
    double packed = 0;
    Units held = 0;
    for (std::uint32_t r = k < scarcest_first_.size() ? state.running_count : 0; r-- > 0;) {
      const Units demand = block_->demand(running[r].mode)[scarcest_first_[k]];
      packed += static_cast<double>(running[r].finish - state.time) * static_cast<double>(demand);
      if (k > 0) continue;
      const Units before = held;
      held += demand;
      for (std::size_t level = 0; level < Key::kLevels.size(); ++level) {
        const auto most = static_cast<Units>(Key::kLevels[level] * static_cast<double>(kCapacityUnits));
        if (before <= most && held > most) moments[level] = static_cast<float>(running[r].finish);
      }
    }
    key.numbers[Key::kPacked + k] =
        static_cast<float>(static_cast<double>(state.time) + packed / static_cast<double>(kCapacityUnits));
  }
  return key;
}

template <std::size_t Words>
typename LayeredSearch<Words>::Front& LayeredSearch<Words>::front_of(const OpSet<Words>& placed) {
  std::uint32_t& slot = table_[placed.hash() & (table_.size() - 1)];
  for (std::uint32_t at = slot; at != 0; at = fronts_[at - 1].next)
    if (fronts_[at - 1].placed == placed) return fronts_[at - 1];
  if (used_fronts_ == fronts_.size()) fronts_.emplace_back();
  Front& front = fronts_[used_fronts_++];
  front.placed = placed;
  front.keys.clear();
  front.next = slot;
  slot = static_cast<std::uint32_t>(used_fronts_);
  return front;
}

// A twin has the same time and holds the same for as long; no more is barred in it.
template <std::size_t Words>
bool LayeredSearch<Words>::has_twin(State& state) {
  std::uint64_t sum = 0;  // whatever the order of what is running
  for (std::uint32_t r = 0; r < state.running_count; ++r) {
    const Running& running = next_.running[state.running_begin + r];
    const std::uint64_t who = awaited(state, running.op) ? running.op + 1 : 0;
    sum += mix(static_cast<std::uint64_t>(running.finish) ^ demand_hashes_[running.mode] ^ who);
  }
  state.twin_hash = mix(mix(state.placed.hash() ^ static_cast<std::uint64_t>(state.time)) ^ sum);
  std::uint32_t& twins = twin_table_[state.twin_hash & (twin_table_.size() - 1)];
  for (std::uint32_t at = twins; at != 0; at = next_.states[at - 1].next_twin) {
    const State& other = next_.states[at - 1];
    if (other.dead || other.twin_hash != state.twin_hash || other.placed != state.placed) continue;
    if (dominates(other, state)) return true;
  }
  state.next_twin = twins;
  return false;
}

// Adds the state to the next layer unless one there dominates it; kills those that it dominates. Many modes make many
// states of one set, so a state is compared with its twins and with the latest of the others only; with all of them
// once the layer is complete.
template <std::size_t Words>
bool LayeredSearch<Words>::insert(State& state) {
  if ((next_.states.size() + 1) * 2 > table_.size()) rehash(table_.size() * 4);
  if (has_twin(state)) return false;
  Key key = key_of(state);
  key.state = static_cast<std::uint32_t>(next_.states.size());
  Front& front = front_of(state.placed);
  state.front = static_cast<std::uint32_t>(&front - fronts_.data());
  std::vector<Key>& keys = front.keys;
  const std::size_t begin = keys.size() - std::min(keys.size(), kMostCompared);
  for (std::size_t i = keys.size(); i-- > begin;)
    if (keys[i].nowhere_larger(key) && dominates(next_.states[keys[i].state], state)) return false;
  std::size_t kept = begin;
  for (std::size_t i = begin; i < keys.size(); ++i) {
    State& other = next_.states[keys[i].state];
    if (key.nowhere_larger(keys[i]) && dominates(state, other))
      other.dead = true;
    else
      keys[kept++] = keys[i];
  }
  keys.resize(kept);
  keys.push_back(key);
  next_.states.push_back(state);
  twin_table_[state.twin_hash & (twin_table_.size() - 1)] = static_cast<std::uint32_t>(next_.states.size());
  return true;
}

// Once a layer is complete, its states are compared with all others of their fronts, before any of them is expanded.
// Very large fronts are cut into parts of similar states, so that the effort per state stays the same.
template <std::size_t Words>
void LayeredSearch<Words>::drop_dominated() {
  for (std::size_t i = 0; i < used_fronts_; ++i) {
    std::vector<Key>& keys = fronts_[i].keys;
    if (keys.size() <= kMostCompared) continue;
    std::erase_if(keys, [&](const Key& key) { return next_.states[key.state].bound >= limit_; });
    if (keys.size() > kMostIndexed) std::ranges::stable_sort(keys, {}, &Key::packed);
    for (std::size_t from = 0; from < keys.size(); from += kMostIndexed)
      drop_dominated(std::span(keys).subspan(from, std::min(kMostIndexed, keys.size() - from)));
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::drop_dominated(std::span<Key> keys) {
  index_.build(keys);
  for (std::size_t place = 0; place < keys.size(); ++place) {
    State& state = next_.states[keys[place].state];
    state.dead = index_.any_nowhere_larger(keys[place], [&](std::uint32_t other) {
      ++comparisons_;
      return other != keys[place].state && dominates(next_.states[other], state);
    });
    // What it dominates is dominated by what dominates it, too.
    if (state.dead) index_.remove(place);
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::rehash(std::size_t slots) {
  table_.assign(slots, 0);
  twin_table_.assign(slots, 0);
  for (std::size_t i = 0; i < used_fronts_; ++i) {
    std::uint32_t& slot = table_[fronts_[i].placed.hash() & (slots - 1)];
    fronts_[i].next = slot;
    slot = static_cast<std::uint32_t>(i + 1);
  }
  for (std::size_t i = 0; i < next_.states.size(); ++i) {
    std::uint32_t& twins = twin_table_[next_.states[i].twin_hash & (slots - 1)];
    next_.states[i].next_twin = twins;
    twins = static_cast<std::uint32_t>(i + 1);
  }
}

// The steps up to `last`, and what is not placed one after another from `ended` on, in the order of the numbers:
// nothing then comes before what it waits for.
template <std::size_t Words>
void LayeredSearch<Words>::finish_schedule(std::uint32_t last, const OpSet<Words>& placed, Ticks ended) {
  for (std::uint32_t step = last; step != kNoStep; step = steps_[step].parent)
    best_->ops[steps_[step].op] = {.mode = steps_[step].mode, .start = steps_[step].start};
  (all_ - placed).for_each([&](std::size_t i) {
    best_->ops[i] = {.mode = block_->mode_offsets[i], .start = ended};
    ended += block_->fastest[i];
  });
  best_->makespan = ended;
  limit_ = static_cast<double>(ended) * (1 - kTimeTolerance);
}

template class LayeredSearch<1>;
template class LayeredSearch<2>;
template class LayeredSearch<4>;

}  // namespace phaze::schedule
