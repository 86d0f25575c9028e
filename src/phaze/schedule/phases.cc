#include "phaze/schedule/phases.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
// Longer than any schedule; hundreds of it still add up.
constexpr Ticks kTooLong = 16 * kSerialTicks;

}  // namespace

template <std::size_t Words>
void Phases<Words>::prepare(const Block& block) {
  block_ = &block;
  const std::size_t n = block.size;
  all_ = last_ = {};
  before_.resize(n);
  just_before_.resize(n);
  shareable_.assign(n, kNone);
  exclusive_.assign(n, kNone);
  for (std::uint32_t i = 0; i < n; ++i) {
    all_.insert(i);
    before_[i] = just_before_[i] = block.set_of<Words>(block.before_row(i));
    before_[i].for_each([&](std::size_t j) { just_before_[i] = just_before_[i] - before_[j]; });
    if (block.set_of<Words>(block.after_row(i)).empty()) last_.insert(i);
    // Modes stand by rising duration: the first of a kind is the fastest.
    for (std::uint32_t m = block.mode_offsets[i + 1]; m-- > block.mode_offsets[i];)
      (block.modes[m].exclusive ? exclusive_ : shareable_)[i] = m;
  }
  order_by_falling([&](std::uint32_t i) { return block.fastest[i] + block.tails[i]; }, n, longest_first_);
  find_work();
  alone_.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    alone_[i] = exclusive_[i] == kNone ? kTooLong : block.modes[exclusive_[i]].duration;
  finishes_.assign(n, 0);
  states_.clear();
  index_.clear();
  by_size_.resize(std::max(by_size_.size(), n + 1));
  for (std::vector<std::uint32_t>& states : by_size_) states.clear();
}

template <std::size_t Words>
void Phases<Words>::find_work() {
  const std::vector<Ticks> work = least_work(*block_);
  const std::size_t resources = block_->resources;
  work_.assign(block_->size, 0);
  Ticks most = 0;
  for (std::size_t k = 0; k < resources; ++k) {
    Ticks sum = 0;
    for (std::size_t i = 0; i < block_->size; ++i) sum += work[i * resources + k];
    if (sum <= most) continue;
    most = sum;
    for (std::size_t i = 0; i < block_->size; ++i) work_[i] = work[i * resources + k];
  }
}

// Whether the rest, by its work or its paths, takes too long.
template <std::size_t Words>
bool Phases<Words>::is_too_late(const State& state) const {
  if (state.time + state.left >= limit_) return true;
  for (const std::uint32_t i : longest_first_)
    if (!state.done.contains(i)) return state.time + block_->fastest[i] + block_->tails[i] >= limit_;
  return false;
}

template <std::size_t Words>
void Phases<Words>::offer(const State& state) {
  if (state.time + state.left >= limit_) return;
  const auto next = static_cast<std::uint32_t>(states_.size());
  const std::uint32_t index = index_.emplace(state.done, next);
  if (index != next) {
    State& known = states_[index];
    if (state.time < known.time) known = state;
  } else {
    by_size_[state.size].push_back(index);
    states_.push_back(state);
  }
  if (state.size == block_->size) limit_ = state.time;
}

template <std::size_t Words>
void Phases<Words>::set_finishes(const OpSet<Words>& done) {
  (all_ - done).for_each([&](std::size_t i) {
    Ticks start = shareable_[i] == kNone ? kNever : 0;
    (just_before_[i] - done).for_each([&](std::size_t earlier) { start = std::max(start, finishes_[earlier]); });
    finishes_[i] = start == kNever ? kNever : start + block_->modes[shareable_[i]].duration;
  });
}

template <std::size_t Words>
void Phases<Words>::expand(std::uint32_t index) {
  const State state = states_[index];
  if (is_too_late(state)) return;
  const OpSet<Words> left = all_ - state.done;
  if (state.time + state.alone < limit_)
    offer({.done = all_,
           .time = state.time + state.alone,
           .step = Step::kExclusive,
           .parent = index,
           .size = static_cast<std::uint32_t>(block_->size)});
  (left - last_).for_each([&](std::size_t i) {
    if (exclusive_[i] == kNone || !before_[i].subset_of(state.done)) return;
    OpSet<Words> done = state.done;
    done.insert(i);
    offer({.done = done,
           .time = state.time + alone_[i],
           .step = Step::kExclusive,
           .parent = index,
           .size = state.size + 1,
           .left = state.left - work_[i],
           .alone = state.alone - alone_[i]});
  });
  // A phase after a phase is one phase.
  if (state.step == Step::kPhase) return;
  set_finishes(state.done);
  by_finish_.clear();
  left.for_each([&](std::size_t i) {
    if (finishes_[i] < limit_ - state.time) by_finish_.push_back({finishes_[i], static_cast<std::uint32_t>(i)});
  });
  std::ranges::sort(by_finish_, {}, &Finish::time);
  OpSet<Words> done = state.done;
  Ticks work_left = state.left, alone = state.alone;
  for (std::size_t at = 0; at < by_finish_.size(); ++at) {
    const Ticks length = by_finish_[at].time;
    done.insert(by_finish_[at].op);
    work_left -= work_[by_finish_[at].op];
    alone -= alone_[by_finish_[at].op];
    if (at + 1 == by_finish_.size() || by_finish_[at + 1].time > length)
      offer({.done = done,
             .time = state.time + length,
             .step = Step::kPhase,
             .parent = index,
             .size = state.size + static_cast<std::uint32_t>(at + 1),
             .left = work_left,
             .alone = alone});
  }
}

template <std::size_t Words>
Ticks Phases<Words>::bound(const Block& block, Ticks limit, Stop& stop, BlockSchedule& sequence) {
  prepare(block);
  limit_ = limit;
  // The first state is like one after an exclusive operator: a phase may follow.
  offer({.left = std::reduce(work_.begin(), work_.end()), .alone = std::reduce(alone_.begin(), alone_.end())});
  // A step adds operators, so that the time of a set is final once all smaller ones are done with.
  for (std::size_t size = 0; size < block.size; ++size)
    for (const std::uint32_t state : by_size_[size]) {
      if (!stop.spend()) return 0;
      expand(state);
    }
  if (limit_ < limit) write(*index_.find(all_), sequence);
  return limit_;
}

template <std::size_t Words>
void Phases<Words>::write(std::uint32_t last, BlockSchedule& sequence) {
  sequence.ops.assign(block_->size, {});
  sequence.makespan = states_[last].time;
  for (std::uint32_t at = last; !states_[at].done.empty(); at = states_[at].parent) {
    const State& state = states_[at];
    const State& parent = states_[state.parent];
    if (state.step == Step::kPhase) set_finishes(parent.done);
    Ticks now = parent.time;
    (state.done - parent.done).for_each([&](std::size_t i) {
      if (state.step == Step::kPhase) {
        sequence.ops[i] = {.mode = shareable_[i],
                           .start = parent.time + finishes_[i] - block_->modes[shareable_[i]].duration};
      } else {
        sequence.ops[i] = {.mode = exclusive_[i], .start = now};
        now += block_->modes[exclusive_[i]].duration;
      }
    });
  }
}

template class Phases<1>;
template class Phases<2>;
template class Phases<4>;

}  // namespace phaze::schedule
