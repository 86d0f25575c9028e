#include "phaze/schedule/exact.h"

#include <algorithm>
#include <limits>

namespace phaze::schedule {
namespace {

constexpr Ticks kNever = std::numeric_limits<Ticks>::max();
constexpr std::size_t kFirstSlots = 128;
constexpr std::uint32_t kMostCompared = 32;

}  // namespace

template <std::size_t Words>
PassResult LayeredSearch<Words>::pass(const Block& block, const std::vector<SearchWorth>& worths, std::size_t width,
                                      Ticks enough, BlockSchedule& best, Stop& stop) {
  block_ = &block;
  worths_ = &worths;
  best_ = &best;
  limit_ = static_cast<double>(best.makespan) * (1 - kTimeTolerance);
  const std::size_t n = block.size;
  before_.resize(n);
  all_ = {};
  for (std::size_t i = 0; i < n; ++i) {
    before_[i] = block.set_of<Words>(block.before_row(i));
    all_.insert(i);
  }
  longest_first_.resize(n);
  for (std::size_t i = 0; i < n; ++i) longest_first_[i] = static_cast<std::uint32_t>(i);
  std::ranges::stable_sort(longest_first_, [&](std::uint32_t a, std::uint32_t b) {
    return block.fastest[a] + block.tails[a] > block.fastest[b] + block.tails[b];
  });
  steps_.clear();
  now_.clear();
  now_.states.push_back({.step = std::numeric_limits<std::uint32_t>::max()});
  for (const SearchWorth& worth : worths) {
    double total = 0;
    for (const double part : worth.least) total += part;
    now_.left.push_back(total);
  }
  PassResult result{.least_cut = std::numeric_limits<double>::infinity()};
  for (placed_count_ = 0; placed_count_ < n && !now_.states.empty(); ++placed_count_) {
    kept_.clear();
    for (std::size_t i = 0; i < now_.states.size(); ++i)
      if (!now_.states[i].dead && now_.states[i].bound < limit_) kept_.push_back(static_cast<std::uint32_t>(i));
    const auto earlier = [&](std::uint32_t a, std::uint32_t b) {
      const double x = now_.states[a].bound, y = now_.states[b].bound;
      return x != y ? x < y : a < b;
    };
    if (kept_.size() > width) {
      std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(width), kept_.end(), earlier);
      for (std::size_t i = width; i < kept_.size(); ++i)
        result.least_cut = std::min(result.least_cut, now_.states[kept_[i]].bound);
      kept_.resize(width);
      result.complete = false;
    }
    std::sort(kept_.begin(), kept_.end(), earlier);
    next_.clear();
    rehash(kFirstSlots);
    for (std::size_t at = 0; at < kept_.size(); ++at) {
      if (now_.states[kept_[at]].bound >= limit_) break;  // sorted, so all that follow too
      ++result.states;
      if (!stop.spend()) {
        result.complete = false;
        result.stopped = true;
        for (std::size_t i = at; i < kept_.size(); ++i)
          result.least_cut = std::min(result.least_cut, now_.states[kept_[i]].bound);
        for (const State& state : next_.states)
          if (!state.dead) result.least_cut = std::min(result.least_cut, state.bound);
        return result;
      }
      expand(kept_[at]);
      if (best.makespan <= enough) return result;
    }
    std::swap(now_, next_);
  }
  return result;
}

template <std::size_t Words>
void LayeredSearch<Words>::expand(std::size_t index) {
  const Block& block = *block_;
  const std::size_t resources = block.resources;
  const State state = now_.states[index];
  const Running* running = now_.running.data() + state.running_begin;
  by_finish_.clear();
  for (std::uint32_t r = 0; r < state.running_count; ++r) by_finish_.emplace_back(running[r].finish, r);
  std::sort(by_finish_.begin(), by_finish_.end());
  // held_[q]: what is held once the q operators that finish first have finished.
  const std::size_t pieces = by_finish_.size() + 1;
  held_.assign(pieces * resources, 0);
  for (std::size_t q = by_finish_.size(); q-- > 0;) {
    const Units* demand = block.demand(running[by_finish_[q].second].mode);
    for (std::size_t k = 0; k < resources; ++k) held_[q * resources + k] = held_[(q + 1) * resources + k] + demand[k];
  }
  const Ticks all_done = by_finish_.empty() ? state.time : by_finish_.back().first;

  candidates_.clear();
  OpSet<Words> may_be_exclusive;
  Ticks room = kNever;  // the earliest end of anything that does not need the chip for itself
  (all_ - state.placed).for_each([&](std::size_t op) {
    if (!before_[op].subset_of(state.placed)) return;
    Ticks ready = state.time;
    std::size_t piece = 0;
    for (std::size_t q = 0; q < by_finish_.size(); ++q)
      if (before_[op].contains(running[by_finish_[q].second].op)) {
        ready = by_finish_[q].first;
        piece = q + 1;
      }
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
      if (block.modes[m].exclusive) {
        if (!state.barred.contains(op)) {
          may_be_exclusive.insert(op);
          candidates_.push_back({static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(m), all_done});
        }
        continue;
      }
      const Units* demand = block.demand(m);
      for (std::size_t q = piece;; ++q) {
        bool fits = true;
        for (std::size_t k = 0; k < resources && fits; ++k)
          fits = held_[q * resources + k] + demand[k] <= kCapacityUnits;
        if (!fits) continue;
        const Ticks start = q == piece ? ready : by_finish_[q - 1].first;
        room = std::min(room, start + block.modes[m].duration);
        candidates_.push_back({static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(m), start});
        break;
      }
    }
  });
  OpSet<Words> tried_exclusively;
  for (const Candidate& candidate : candidates_) {
    if (candidate.start >= room) continue;
    if (block.modes[candidate.mode].exclusive) {
      add_child(index, candidate.op, candidate.mode, candidate.start, tried_exclusively);
      tried_exclusively.insert(candidate.op);
    } else {
      add_child(index, candidate.op, candidate.mode, candidate.start,
                candidate.start >= all_done ? may_be_exclusive : OpSet<Words>());
    }
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::add_child(std::size_t index, std::size_t op, std::size_t mode, Ticks start,
                                     const OpSet<Words>& newly_barred) {
  const Block& block = *block_;
  const State& parent = now_.states[index];
  const Ticks finish = start + block.modes[mode].duration;
  const bool exclusive = block.modes[mode].exclusive;
  State child;
  child.placed = parent.placed;
  child.placed.insert(op);
  const OpSet<Words> unplaced = all_ - child.placed;
  child.barred = (parent.barred | newly_barred) & unplaced;
  // Nothing can start beside an exclusive mode.
  child.time = exclusive ? finish : start;
  child.running_begin = static_cast<std::uint32_t>(next_.running.size());
  Ticks path = finish + block.tails[op];
  Ticks makespan = finish;
  for (std::uint32_t r = 0; r < parent.running_count; ++r) {
    const Running& running = now_.running[parent.running_begin + r];
    makespan = std::max(makespan, running.finish);
    if (running.finish <= child.time) continue;
    path = std::max(path, running.finish + block.tails[running.op]);
    next_.running.push_back(running);
  }
  if (!exclusive) next_.running.push_back({static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(mode), finish});
  child.running_count = static_cast<std::uint32_t>(next_.running.size()) - child.running_begin;
  const auto drop = [&] { next_.running.resize(child.running_begin); };

  if (placed_count_ + 1 == block.size) {
    drop();
    if (makespan < best_->makespan) finish_schedule(parent.step, op, mode, start, makespan);
    return;
  }
  for (const std::uint32_t i : longest_first_)
    if (unplaced.contains(i)) {
      path = std::max(path, child.time + block.fastest[i] + block.tails[i]);
      break;
    }
  child.bound = std::max(parent.bound, static_cast<double>(path));
  const std::size_t first_left = next_.left.size();
  const std::vector<SearchWorth>& worths = *worths_;
  for (std::size_t v = 0; v < worths.size(); ++v) {
    const SearchWorth& worth = worths[v];
    double left = now_.left[index * worths.size() + v];
    left -= parent.barred.contains(op) ? worth.shareable[op] : worth.least[op];
    (newly_barred - parent.barred).for_each([&](std::size_t i) {
      if (i != op) left += worth.shareable[i] - worth.least[i];
    });
    double bound = static_cast<double>(child.time) + left;
    for (std::uint32_t r = 0; r < child.running_count; ++r) {
      const Running& running = next_.running[child.running_begin + r];
      bound += static_cast<double>(running.finish - child.time) * worth.rates[running.mode];
    }
    child.bound = std::max(child.bound, bound * (1 - 1e-12));
    next_.left.push_back(left);
  }
  if (child.bound >= limit_ || !insert(child)) {
    drop();
    next_.left.resize(first_left);
    return;
  }
  next_.states.back().step = static_cast<std::uint32_t>(steps_.size());
  steps_.push_back({parent.step, static_cast<std::uint32_t>(op), static_cast<std::uint32_t>(mode), start});
}

template <std::size_t Words>
bool LayeredSearch<Words>::dominates(const State& a, const State& b) const {
  if (a.time > b.time || !a.barred.subset_of(b.barred)) return false;
  for (std::uint32_t i = 0; i < a.running_count; ++i) {
    const Running& mine = next_.running[a.running_begin + i];
    if (mine.finish <= b.time) continue;
    bool covered = false;
    for (std::uint32_t j = 0; j < b.running_count && !covered; ++j) {
      const Running& other = next_.running[b.running_begin + j];
      if (other.op != mine.op) continue;
      covered = other.finish >= mine.finish;
      if (other.mode != mine.mode)
        for (std::size_t k = 0; k < block_->resources && covered; ++k)
          covered = block_->demand(mine.mode)[k] <= block_->demand(other.mode)[k];
      break;
    }
    if (!covered) return false;
  }
  return true;
}

// Adds the state to the next layer unless one there dominates it; kills those that it dominates. Many modes make many
// states of one set, so a state is compared with the latest few of them only, and with its twins, which differ in what
// is barred at most. What is not compared is merely not dropped.
template <std::size_t Words>
bool LayeredSearch<Words>::insert(State& state) {
  if ((next_.states.size() + 1) * 2 > table_.size()) rehash(table_.size() * 4);
  std::uint64_t twin = mix(state.placed.hash() ^ static_cast<std::uint64_t>(state.time));
  std::uint64_t sum = 0;  // whatever the order of what is running
  for (std::uint32_t r = 0; r < state.running_count; ++r) {
    const Running& running = next_.running[state.running_begin + r];
    sum += mix(static_cast<std::uint64_t>(running.finish) ^ mix(running.mode));
  }
  state.twin_hash = mix(twin ^ sum);
  const std::size_t mask = table_.size() - 1;
  std::uint32_t& twins = twin_table_[state.twin_hash & mask];
  for (std::uint32_t at = twins; at != 0; at = next_.states[at - 1].next_twin) {
    State& other = next_.states[at - 1];
    if (other.dead || other.twin_hash != state.twin_hash || other.placed != state.placed) continue;
    if (dominates(other, state)) return false;
  }
  std::uint32_t& same = table_[state.placed.hash() & mask];
  std::uint32_t compared = 0;
  for (std::uint32_t at = same; at != 0 && compared < kMostCompared; at = next_.states[at - 1].next_same) {
    State& other = next_.states[at - 1];
    if (other.dead || other.placed != state.placed) continue;
    if (dominates(other, state)) return false;
    if (dominates(state, other)) other.dead = true;
    ++compared;
  }
  state.next_same = same;
  state.next_twin = twins;
  next_.states.push_back(state);
  same = twins = static_cast<std::uint32_t>(next_.states.size());
  return true;
}

template <std::size_t Words>
void LayeredSearch<Words>::rehash(std::size_t slots) {
  table_.assign(slots, 0);
  twin_table_.assign(slots, 0);
  for (std::size_t i = 0; i < next_.states.size(); ++i) {
    State& state = next_.states[i];
    std::uint32_t& same = table_[state.placed.hash() & (slots - 1)];
    std::uint32_t& twins = twin_table_[state.twin_hash & (slots - 1)];
    state.next_same = same;
    state.next_twin = twins;
    same = twins = static_cast<std::uint32_t>(i + 1);
  }
}

template <std::size_t Words>
void LayeredSearch<Words>::finish_schedule(std::uint32_t parent, std::size_t op, std::size_t mode, Ticks start,
                                           Ticks makespan) {
  best_->ops[op] = {.mode = static_cast<std::uint32_t>(mode), .start = start};
  for (std::uint32_t step = parent; step != std::numeric_limits<std::uint32_t>::max(); step = steps_[step].parent)
    best_->ops[steps_[step].op] = {.mode = steps_[step].mode, .start = steps_[step].start};
  best_->makespan = makespan;
  limit_ = static_cast<double>(makespan) * (1 - kTimeTolerance);
}

template class LayeredSearch<1>;
template class LayeredSearch<2>;
template class LayeredSearch<4>;

}  // namespace phaze::schedule
