#include "phaze/schedule/phase_rest.h"

#include <algorithm>
#include <numeric>

namespace phaze::schedule {
template <std::size_t Words>
void PhaseRest<Words>::begin(const SearchBlock<Words>& search_block, std::span<const SearchWorth> worths,
                             std::uint64_t most) {
  block_ = &search_block;
  const auto total = [](const SearchWorth& worth) { return std::reduce(worth.least.begin(), worth.least.end()); };
  worth_ = &*std::ranges::max_element(worths, {}, total);
  const Block& block = *search_block.block;
  alone_.assign(block.size, kNever);
  beside_others_.assign(block.size, kNever);
  for (std::size_t i = 0; i < block.size; ++i) {
    // Modes stand by rising duration: the first of a kind is the fastest.
    for (std::size_t m = block.mode_offsets[i + 1]; m-- > block.mode_offsets[i];)
      (block.modes[m].exclusive ? alone_ : beside_others_)[i] = block.modes[m].duration;
  }
  finish_of_.assign(block.size, 0);
  finishes_.resize(std::max(finishes_.size(), block.size + 1));
  known_.clear();
  looked_at_ = 0;
  most_ = most;
  depth_ = 0;
}

// The longest path, and what all is worth.
template <std::size_t Words>
Ticks PhaseRest<Words>::simple_bound(const OpSet<Words>& done, Left& left) const {
  const Block& block = *block_->block;
  while (done.contains(block_->longest_first[left.longest])) ++left.longest;
  const std::uint32_t longest = block_->longest_first[left.longest];
  return std::max(block.fastest[longest] + block.tails[longest], static_cast<Ticks>(left.worth - kWorthRounding));
}

template <std::size_t Words>
typename PhaseRest<Words>::Left PhaseRest<Words>::left_after(const OpSet<Words>& done) const {
  Left left;
  (block_->all - done).for_each([&](std::size_t i) { left.worth += worth_->least[i]; });
  return left;
}

template <std::size_t Words>
Ticks PhaseRest<Words>::least(const OpSet<Words>& done, Ticks most) {
  return least(done, left_after(done), most);
}

template <std::size_t Words>
Ticks PhaseRest<Words>::least(const OpSet<Words>& done, Left left, Ticks most) {
  if (done == block_->all) return 0;
  if (const Known* known = known_.find(done); known != nullptr)
    if (known->final || known->at_least >= most) return known->at_least;
  const Ticks simple = simple_bound(done, left);
  if (simple >= most || looked_at_ >= most_) return simple;
  const Ticks found = look(done, left, most);
  known_.emplace(done, {}) = {.at_least = found, .final = found < most};
  return found;
}

template <std::size_t Words>
Ticks PhaseRest<Words>::least_end(const SearchState<Words>& state, std::span<const Running> running, Ticks limit) {
  OpSet<Words> done = state.placed;
  Left left = left_after(done);
  const auto go_on = [&](Ticks time) {
    if (time < limit) limit = std::min(limit, time + least(done, left, limit - time));
  };
  const auto put_in_phase = [&](std::size_t op) {
    done.insert(op);
    left.worth -= worth_->least[op];
  };
  if (running.empty()) {
    go_on(state.time);
    return limit;
  }
  const Ticks end = running.back().finish;
  finish_of_.assign(block_->block->size, state.time);
  for (const Running& runs : running) finish_of_[runs.op] = runs.finish;
  in_phase_.clear();
  (block_->all - state.placed).for_each([&](std::size_t i) {
    finish_of_[i] = finish_beside_others(i, {}, state.time);
    if (finish_of_[i] <= end)
      put_in_phase(i);
    else if (finish_of_[i] < limit)
      in_phase_.push_back({finish_of_[i], static_cast<std::uint32_t>(i)});
  });
  std::ranges::sort(in_phase_, {}, &Finish::time);
  go_on(end);
  for (std::size_t at = 0; at < in_phase_.size();) {
    const Ticks time = in_phase_[at].time;
    for (; at < in_phase_.size() && in_phase_[at].time == time; ++at) put_in_phase(in_phase_[at].op);
    go_on(time);
  }
  return limit;
}

// With what it waits for, but for `done`, at its earliest.
template <std::size_t Words>
Ticks PhaseRest<Words>::finish_beside_others(std::size_t op, const OpSet<Words>& done, Ticks now) const {
  Ticks start = now;
  (block_->just_before[op] - done).for_each([&](std::size_t i) { start = std::max(start, finish_of_[i]); });
  return start == kNever || beside_others_[op] == kNever ? kNever : start + beside_others_[op];
}

template <std::size_t Words>
Ticks PhaseRest<Words>::look(const OpSet<Words>& done, const Left& of_left, Ticks most) {
  ++looked_at_;
  const OpSet<Words> left = block_->all - done;
  std::vector<Finish>& finishes = finishes_[depth_];
  finishes.clear();
  bool may_end = left.subset_of(block_->last);
  Ticks end = 0;
  left.for_each([&](std::size_t i) {
    finish_of_[i] = finish_beside_others(i, done, 0);
    if (finish_of_[i] < most) finishes.push_back({finish_of_[i], static_cast<std::uint32_t>(i)});
    if (!block_->last.contains(i)) return;
    if (alone_[i] == kNever)
      may_end = false;
    else
      end += alone_[i];
  });
  if (may_end) most = std::min(most, end);
  ++depth_;
  const auto go_on = [&](const OpSet<Words>& then, const Left& of_rest, Ticks time) {
    if (time < most) most = std::min(most, time + least(then, of_rest, most - time));
  };
  left.for_each([&](std::size_t i) {
    if (block_->last.contains(i) || alone_[i] == kNever || !block_->before[i].subset_of(done)) return;
    OpSet<Words> then = done;
    then.insert(i);
    go_on(then, {.worth = of_left.worth - worth_->least[i], .longest = of_left.longest}, alone_[i]);
  });
  std::ranges::sort(finishes, {}, &Finish::time);
  OpSet<Words> then = done;
  Left of_rest = of_left;
  for (std::size_t at = 0; at < finishes.size() && finishes[at].time < most; ++at) {
    then.insert(finishes[at].op);
    of_rest.worth -= worth_->least[finishes[at].op];
    if (at + 1 == finishes.size() || finishes[at + 1].time > finishes[at].time) go_on(then, of_rest, finishes[at].time);
  }
  --depth_;
  return most;
}

template class PhaseRest<1>;
template class PhaseRest<2>;
template class PhaseRest<4>;

}  // namespace phaze::schedule
