// States of the search (exact.h) with the same number of operators placed, and the dominance between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/key_index.h"
#include "phaze/schedule/search_block.h"
#include "phaze/schedule/search_state.h"

namespace phaze::schedule {

template <std::size_t Words>
class StateLayer {
 public:
  using State = SearchState<Words>;

  // Empties the layer. Beyond `most` states, only those with a lower rank than one of these are of use. The block must
  // outlive the layer.
  void begin(const SearchBlock<Words>& block, std::size_t most);
  // The same, and gives memory back where there is much of it.
  void end();

  std::size_t size() const { return states_.size(); }
  const State& state(std::size_t i) const { return states_[i].state; }
  bool dead(std::size_t i) const { return states_[i].dead; }  // dominated by another one
  std::size_t front(std::size_t i) const { return states_[i].front; }
  std::size_t fronts() const { return used_fronts_; }
  // By rising finish.
  std::span<const Running> running(std::size_t i) const {
    return {running_.data() + states_[i].running_begin, states_[i].running_count};
  }
  // Per worth: what the unplaced operators are worth.
  std::span<const double> left(std::size_t i, std::size_t worths) const { return {left_.data() + i * worths, worths}; }

  bool full() const { return least_ranks_.size() == most_; }
  bool outranks_all(double rank) const { return full() && rank >= least_ranks_.front(); }

  // Adds the state unless one here dominates it; kills those that it dominates. Many modes make many states of one set,
  // so a state is compared with its twins and with the latest of the others only; with all of them by drop_dominated().
  bool insert(const State& state, std::span<const Running> running, std::span<const double> left);

  // States that are alive and have not been taken yet, or have been put back.
  std::span<const std::uint32_t> waiting() const { return waiting_; }
  // Takes those of them with a bound below this, and at most so many, of the least bounds. Those with a bound of
  // `limit` or more wait no longer. False if others below were left.
  bool take(double below, double limit, std::size_t most, std::vector<std::uint32_t>& taken);
  // To wait again, the same state with a higher bound.
  void put_back(std::uint32_t i, const State& state) {
    states_[i].state = state;
    waiting_.push_back(i);
  }

  // Compares states that have been taken with all others of their fronts, and leaves those that none dominates. Very
  // large fronts are cut into parts of similar states, so that the effort per state stays the same. States with a bound
  // of `limit` or more are left alone. Returns the number of comparisons.
  std::uint64_t drop_dominated(double limit, std::vector<std::uint32_t>& taken);

  // Whether a state here dominates one in which one of these operators is unplaced, and which else has the same placed.
  bool dominates_without(const OpSet<Words>& ops, const State& state, std::span<const Running> running) const;

 private:
  struct Entry {
    State state;
    std::uint64_t twin_hash = 0;  // of all but what is barred
    std::uint32_t running_begin = 0;
    std::uint32_t running_count = 0;
    std::uint32_t front = 0;
    std::uint32_t next_twin = 0;  // next state in the same slot of twin_table_, plus one
    bool dead = false;
    bool compared = false;  // with all others, right now
  };
  // States with the same operators placed, but for which of equal ends.
  struct Front {
    OpSet<Words> placed;
    std::vector<Key> keys;
    std::uint32_t next = 0;  // front in the same slot of table_, plus one
    bool compared = false;   // some of its states are, right now
  };

  bool awaited(const State& state, std::size_t op) const { return !block_->after[op].subset_of(state.placed); }
  bool dominates(const State& a, std::span<const Running> mine, const State& b, std::span<const Running> theirs) const;
  bool dominates(std::uint32_t a, const State& b, std::span<const Running> theirs) const {
    return dominates(states_[a].state, running(a), b, theirs);
  }
  OpSet<Words> placed_but_for_equals(OpSet<Words> placed, std::span<const Running> running) const;
  std::uint64_t twin_hash(const OpSet<Words>& placed, const State& state, std::span<const Running> running) const;
  bool has_twin(std::uint64_t hash, const OpSet<Words>& placed, const State& state,
                std::span<const Running> running) const;
  Key key_of(const State& state, std::span<const Running> running) const;
  const Front* find_front(const OpSet<Words>& placed) const;
  Front& front_of(const OpSet<Words>& placed);
  void drop_dominated(std::span<Key> keys, std::uint64_t& comparisons);
  void rehash(std::size_t slots);

  const SearchBlock<Words>* block_ = nullptr;
  std::size_t most_ = 0;
  std::vector<Entry> states_;
  std::vector<Running> running_;
  std::vector<double> left_;
  std::vector<std::uint32_t> waiting_;
  std::vector<Front> fronts_;  // those beyond used_fronts_ are there for their memory
  std::size_t used_fronts_ = 0;
  std::vector<std::uint32_t> table_;       // fronts by the set of operators placed
  std::vector<std::uint32_t> twin_table_;  // states by the time and what is held, too
  std::vector<double> least_ranks_;        // at most most_; a heap once there are so many
  KeyIndex index_;
};

extern template class StateLayer<1>;
extern template class StateLayer<2>;
extern template class StateLayer<4>;

}  // namespace phaze::schedule
