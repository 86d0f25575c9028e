#include "phaze/schedule/state_layer.h"

#include <algorithm>
#include <array>

#include "phaze/base/hash.h"

namespace phaze::schedule {
namespace {

constexpr std::size_t kFirstSlots = 128;
// Of its front, a new state is compared at once with so many others, the latest; when the layer is complete, with all
// of a part of this size.
constexpr std::size_t kMostCompared = 4;
constexpr std::size_t kMostIndexed = 4096;
// So few are compared one by one: sorting them takes longer.
constexpr std::size_t kMostWithoutIndex = 64;
// And with so many that have one more operator placed.
constexpr std::size_t kMostComparedWithMore = 32;
// Layers with more states than this do not keep their memory.
constexpr std::size_t kMuch = std::size_t{1} << 14U;

// The levels of keys, in units.
constexpr std::array<Units, Key::kLevels.size()> kMostHeld = [] {
  std::array<Units, Key::kLevels.size()> units{};
  for (std::size_t level = 0; level < units.size(); ++level)
    units[level] = static_cast<Units>(Key::kLevels[level] * static_cast<double>(kCapacityUnits));
  return units;
}();

}  // namespace

template <std::size_t Words>
void StateLayer<Words>::begin(const SearchBlock<Words>& block, std::size_t most) {
  block_ = &block;
  most_ = most;
  states_.clear();
  running_.clear();
  left_.clear();
  waiting_.clear();
  least_ranks_.clear();
  used_fronts_ = 0;
  table_.assign(kFirstSlots, 0);
  twin_table_.assign(kFirstSlots, 0);
}

template <std::size_t Words>
void StateLayer<Words>::end() {
  if (states_.size() > kMuch) *this = {};
}

template <std::size_t Words>
bool StateLayer<Words>::dominates(const State& a, std::span<const Running> mine, const State& b,
                                  std::span<const Running> theirs) const {
  if (a.time > b.time || !a.barred.subset_of(b.barred)) return false;
  if (a.needless && !(b.needless && a.group == b.group)) return false;
  std::size_t first = 0;
  while (first < mine.size() && mine[first].finish <= b.time) ++first;
  if (first == mine.size()) return true;
  if (theirs.empty() || mine.back().finish > theirs.back().finish) return false;
  for (std::size_t r = first; r < mine.size(); ++r) {
    if (!awaited(a, mine[r].op)) continue;
    const bool covered = std::ranges::any_of(
        theirs, [&](const Running& other) { return other.op == mine[r].op && other.finish >= mine[r].finish; });
    if (!covered) return false;
  }
  // Both hold less and less, so it suffices to look at b's time and whenever something of b's has ended.
  for (std::size_t k = 0; k < block_->resources(); ++k) {
    const auto demand = [&](const Running& runs) { return block_->demand(runs.mode)[k]; };
    Units held = 0, held_by_other = 0;
    for (std::size_t r = first; r < mine.size(); ++r) held += demand(mine[r]);
    for (const Running& runs : theirs) held_by_other += demand(runs);
    if (held > held_by_other) return false;
    std::size_t over = first;
    for (std::size_t ended = 0; ended < theirs.size(); ++ended) {
      held_by_other -= demand(theirs[ended]);
      for (; over < mine.size() && mine[over].finish <= theirs[ended].finish; ++over) held -= demand(mine[over]);
      const bool more_ends = ended + 1 < theirs.size() && theirs[ended + 1].finish == theirs[ended].finish;
      if (held > held_by_other && !more_ends) return false;
    }
  }
  return true;
}

template <std::size_t Words>
Key StateLayer<Words>::key_of(const State& state, std::span<const Running> running) const {
  const auto time = static_cast<float>(state.time);
  Key key{.numbers = {time, time, time}, .state = 0};
  for (const Running& runs : running)
    if (awaited(state, runs.op)) key.numbers[Key::kAwaited] = static_cast<float>(runs.finish);
  if (!running.empty()) key.numbers[1] = static_cast<float>(running.back().finish);
  float* const moments = key.numbers.data() + Key::kPacked + Key::kResources;
  std::fill_n(moments, Key::kLevels.size(), time);
  for (std::size_t k = 0; k < Key::kResources; ++k) {
    double packed = 0;
    Units held = 0;
    std::size_t level = Key::kLevels.size();
    for (std::size_t r = k < block_->resources() ? running.size() : 0; r-- > 0;) {
      const Units demand = block_->demand(running[r].mode)[k];
      packed += static_cast<double>(running[r].finish - state.time) * static_cast<double>(demand);
      if (k > 0) continue;
      held += demand;
      while (level > 0 && held > kMostHeld[level - 1]) moments[--level] = static_cast<float>(running[r].finish);
    }
    key.numbers[Key::kPacked + k] =
        static_cast<float>(static_cast<double>(state.time) + packed / static_cast<double>(kCapacityUnits));
  }
  return key;
}

template <std::size_t Words>
const typename StateLayer<Words>::Front* StateLayer<Words>::find_front(const OpSet<Words>& placed) const {
  for (std::uint32_t at = table_[placed.hash() & (table_.size() - 1)]; at != 0; at = fronts_[at - 1].next)
    if (fronts_[at - 1].placed == placed) return &fronts_[at - 1];
  return nullptr;
}

template <std::size_t Words>
typename StateLayer<Words>::Front& StateLayer<Words>::front_of(const OpSet<Words>& placed) {
  if (const Front* front = find_front(placed)) return fronts_[static_cast<std::size_t>(front - fronts_.data())];
  std::uint32_t& slot = table_[placed.hash() & (table_.size() - 1)];
  if (used_fronts_ == fronts_.size()) fronts_.emplace_back();
  Front& front = fronts_[used_fronts_++];
  front.placed = placed;
  front.keys.clear();
  front.compared = false;
  front.next = slot;
  slot = static_cast<std::uint32_t>(used_fronts_);
  return front;
}

// Of equals that nobody waits for and that are free to start or have started, it does not matter which are placed: as
// many are, the first of them.
template <std::size_t Words>
OpSet<Words> StateLayer<Words>::placed_but_for_equals(OpSet<Words> placed, std::span<const Running> running) const {
  const OpSet<Words> all_placed = placed;
  for (const OpSet<Words>& equals : block_->equal_ends) {
    const OpSet<Words> started = equals & all_placed;
    if (started.empty()) continue;
    // Mostly they are the first already.
    const OpSet<Words> passed_over = (equals - started).below(started.last());
    if (passed_over.empty()) continue;
    OpSet<Words> finished = all_placed;
    for (const Running& runs : running) finished.erase(runs.op);
    const auto is_free = [&](std::size_t op) { return block_->before[op].subset_of(finished); };
    if (!passed_over.any_of(is_free)) continue;
    OpSet<Words> free_ops;
    equals.for_each([&](std::size_t op) {
      if (is_free(op)) free_ops.insert(op);
    });
    std::size_t count = (free_ops & all_placed).size();
    placed = placed - free_ops;
    free_ops.for_each([&](std::size_t op) {
      if (count == 0) return;
      placed.insert(op);
      --count;
    });
  }
  return placed;
}

// Of what is held for how long, whatever the order; who holds it matters only where somebody waits.
template <std::size_t Words>
std::uint64_t StateLayer<Words>::twin_hash(const OpSet<Words>& placed, const State& state,
                                           std::span<const Running> running) const {
  std::uint64_t sum = 0;
  for (const Running& runs : running) {
    const std::uint64_t who = awaited(state, runs.op) ? runs.op + 1 : 0;
    sum += mix(static_cast<std::uint64_t>(runs.finish) ^ block_->demand_hashes[runs.mode] ^ who);
  }
  return mix(mix(placed.hash() ^ static_cast<std::uint64_t>(state.time)) ^ sum);
}

// A twin has the same time and holds the same for as long; no more is barred in it.
template <std::size_t Words>
bool StateLayer<Words>::has_twin(std::uint64_t hash, const OpSet<Words>& placed, const State& state,
                                 std::span<const Running> running) const {
  for (std::uint32_t at = twin_table_[hash & (twin_table_.size() - 1)]; at != 0; at = states_[at - 1].next_twin) {
    const Entry& other = states_[at - 1];
    if (other.dead || other.twin_hash != hash || fronts_[other.front].placed != placed) continue;
    if (dominates(at - 1, state, running)) return true;
  }
  return false;
}

template <std::size_t Words>
bool StateLayer<Words>::insert(const State& state, std::span<const Running> running, std::span<const double> left) {
  if ((states_.size() + 1) * 2 > table_.size()) rehash(table_.size() * 4);
  const OpSet<Words> placed = placed_but_for_equals(state.placed, running);
  const std::uint64_t hash = twin_hash(placed, state, running);
  if (has_twin(hash, placed, state, running)) return false;
  Key key = key_of(state, running);
  key.state = static_cast<std::uint32_t>(states_.size());
  Front& front = front_of(placed);
  std::vector<Key>& keys = front.keys;
  const std::size_t begin = keys.size() - std::min(keys.size(), kMostCompared);
  for (std::size_t i = keys.size(); i-- > begin;)
    if (keys[i].nowhere_larger(key) && dominates(keys[i].state, state, running)) return false;
  std::size_t kept = begin;
  for (std::size_t i = begin; i < keys.size(); ++i) {
    Entry& other = states_[keys[i].state];
    if (key.nowhere_larger(keys[i]) && dominates(state, running, other.state, this->running(keys[i].state)))
      other.dead = true;
    else
      keys[kept++] = keys[i];
  }
  keys.resize(kept);
  keys.push_back(key);
  std::uint32_t& twins = twin_table_[hash & (twin_table_.size() - 1)];
  states_.push_back({.state = state,
                     .twin_hash = hash,
                     .running_begin = static_cast<std::uint32_t>(running_.size()),
                     .running_count = static_cast<std::uint32_t>(running.size()),
                     .front = static_cast<std::uint32_t>(&front - fronts_.data()),
                     .next_twin = twins});
  twins = static_cast<std::uint32_t>(states_.size());
  waiting_.push_back(key.state);
  running_.insert(running_.end(), running.begin(), running.end());
  left_.insert(left_.end(), left.begin(), left.end());
  least_ranks_.push_back(state.rank);
  if (least_ranks_.size() == most_) std::ranges::make_heap(least_ranks_);
  if (least_ranks_.size() > most_) {
    std::ranges::push_heap(least_ranks_);
    std::ranges::pop_heap(least_ranks_);
    least_ranks_.pop_back();
  }
  return true;
}

template <std::size_t Words>
bool StateLayer<Words>::take(double below, double limit, std::size_t most, std::vector<std::uint32_t>& taken) {
  taken.clear();
  std::erase_if(waiting_, [&](std::uint32_t i) {
    const double bound = states_[i].state.bound;
    if (states_[i].dead || bound >= limit) return true;
    if (bound >= below) return false;
    taken.push_back(i);
    return true;
  });
  if (taken.size() <= most) return true;
  const auto first_left = taken.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(taken, first_left, [&](std::uint32_t a, std::uint32_t b) {
    const double x = states_[a].state.bound, y = states_[b].state.bound;
    return x != y ? x < y : a < b;
  });
  waiting_.insert(waiting_.end(), first_left, taken.end());
  taken.erase(first_left, taken.end());
  return false;
}

template <std::size_t Words>
std::uint64_t StateLayer<Words>::drop_dominated(double limit, std::vector<std::uint32_t>& taken) {
  std::uint64_t comparisons = 0;
  for (const std::uint32_t i : taken) states_[i].compared = fronts_[states_[i].front].compared = true;
  for (const std::uint32_t i : taken) {
    Front& front = fronts_[states_[i].front];
    std::vector<Key>& keys = front.keys;
    if (!front.compared) continue;
    front.compared = false;
    if (keys.size() <= kMostCompared) continue;
    std::erase_if(keys, [&](const Key& key) { return states_[key.state].state.bound >= limit; });
    if (keys.size() > kMostIndexed) std::ranges::stable_sort(keys, {}, &Key::packed);
    for (std::size_t from = 0; from < keys.size(); from += kMostIndexed)
      drop_dominated(std::span(keys).subspan(from, std::min(kMostIndexed, keys.size() - from)), comparisons);
    std::erase_if(keys, [&](const Key& key) { return states_[key.state].dead; });
  }
  for (const std::uint32_t i : taken) states_[i].compared = false;
  std::erase_if(taken, [&](std::uint32_t i) { return states_[i].dead; });
  return comparisons;
}

template <std::size_t Words>
bool StateLayer<Words>::dominates_without(const OpSet<Words>& ops, const State& state,
                                          std::span<const Running> running) const {
  if (used_fronts_ == 0) return false;
  const Key key = key_of(state, running);
  const OpSet<Words> without = placed_but_for_equals(state.placed, running);
  return ops.any_of([&](std::size_t op) {
    OpSet<Words> with = without;
    if (block_->ends_and_just_before.contains(op)) {
      with = state.placed;
      with.insert(op);
      with = placed_but_for_equals(with, running);
    } else {
      with.insert(op);
    }
    const Front* front = find_front(with);
    if (front == nullptr) return false;
    const std::span<const Key> latest =
        std::span(front->keys).last(std::min(front->keys.size(), kMostComparedWithMore));
    return std::ranges::any_of(latest, [&](const Key& other) {
      return other.nowhere_larger(key) && !states_[other.state].state.needless &&
             dominates(other.state, state, running);
    });
  });
}

template <std::size_t Words>
void StateLayer<Words>::drop_dominated(std::span<Key> keys, std::uint64_t& comparisons) {
  const bool with_index = keys.size() > kMostWithoutIndex;
  if (with_index) index_.build(keys);
  for (std::size_t place = 0; place < keys.size(); ++place) {
    const Key& key = keys[place];
    Entry& entry = states_[key.state];
    if (!entry.compared) continue;
    const auto is_dominated_by = [&](std::uint32_t other) {
      ++comparisons;
      return other != key.state && dominates(other, entry.state, running(key.state));
    };
    // What it dominates is dominated by what dominates it, too: the dead are not asked.
    if (with_index) {
      entry.dead = index_.any_nowhere_larger(key, is_dominated_by);
      if (entry.dead) index_.remove(place);
    } else {
      entry.dead = std::ranges::any_of(keys, [&](const Key& other) {
        return other.nowhere_larger(key) && !states_[other.state].dead && is_dominated_by(other.state);
      });
    }
  }
}

template <std::size_t Words>
void StateLayer<Words>::rehash(std::size_t slots) {
  table_.assign(slots, 0);
  twin_table_.assign(slots, 0);
  for (std::size_t i = 0; i < used_fronts_; ++i) {
    std::uint32_t& slot = table_[fronts_[i].placed.hash() & (slots - 1)];
    fronts_[i].next = slot;
    slot = static_cast<std::uint32_t>(i + 1);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    std::uint32_t& twins = twin_table_[states_[i].twin_hash & (slots - 1)];
    states_[i].next_twin = twins;
    twins = static_cast<std::uint32_t>(i + 1);
  }
}

template class StateLayer<1>;
template class StateLayer<2>;
template class StateLayer<4>;

}  // namespace phaze::schedule
