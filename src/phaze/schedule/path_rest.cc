#include "phaze/schedule/path_rest.h"

#include <algorithm>

namespace phaze::schedule {

template <std::size_t Words>
void PathRest<Words>::begin(const SearchBlock<Words>& block) {
  block_ = &block;
  finishes_.resize(block.block->size);
}

// Operators that what runs until `over` could keep from ending by `bound`, however long they wait for it. All that
// comes before one of them and is unplaced is among them, too: it has the path of that one behind it. What is barred
// has nothing unplaced before it. Operators for which nobody waits are half of a backward layer, and hardly ever the
// last.
template <std::size_t Words>
OpSet<Words> PathRest<Words>::late_after(const SearchState<Words>& state, Ticks over, double bound) const {
  const Block& block = *block_->block;
  const auto is_long = [&](Ticks rest) { return static_cast<double>(over + rest) > bound; };
  OpSet<Words> late = block_->longest[static_cast<std::size_t>(std::ranges::partition_point(block_->rests, is_long) -
                                                               block_->rests.begin())];
  state.barred.for_each([&](std::size_t op) {
    const std::size_t mode = block_->fastest_shareable[op];
    if (mode == block.mode_offsets[op + 1] || is_long(block.modes[mode].duration + block.tails[op])) late.insert(op);
  });
  return late - state.placed - block_->last;
}

template <std::size_t Words>
Ticks PathRest<Words>::least_end(const SearchState<Words>& state, std::span<const Running> running, double bound,
                                 double limit) {
  const Block& block = *block_->block;
  const std::size_t resources = block_->resources();
  if (running.empty() && state.barred.empty()) return 0;
  const OpSet<Words> late = late_after(state, running.empty() ? state.time : running.back().finish, bound);
  if (late.empty()) return 0;
  block_->add_up(running, held_);
  const auto moment = [&](std::size_t piece) { return piece == 0 ? state.time : running[piece - 1].finish; };
  OpSet<Words> not_ended = block_->all - state.placed;
  for (const Running& runs : running) {
    not_ended.insert(runs.op);
    finishes_[runs.op] = runs.finish;
  }
  Ticks end = 0;
  late.any_of([&](std::size_t op) {
    Ticks ready = state.time;
    (block_->just_before[op] & not_ended).for_each([&](std::size_t i) { ready = std::max(ready, finishes_[i]); });
    Ticks finish = kNever;
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
      const Ticks duration = block.modes[m].duration;
      if (ready + duration >= finish) break;
      std::size_t piece = 0;
      if (block.modes[m].exclusive) {
        if (state.barred.contains(op)) continue;
        piece = running.size();
      } else {
        const Units* demand = block_->demand(m);
        for (std::size_t k = 0; k < resources; ++k)
          while (held_[piece * resources + k] + demand[k] > kCapacityUnits) ++piece;
      }
      finish = std::min(finish, std::max(ready, moment(piece)) + duration);
    }
    // Barred, and without another mode: there is no way to go on.
    end = finish == kNever ? kNever : std::max(end, finish + block.tails[op]);
    finishes_[op] = finish;
    return static_cast<double>(end) >= limit;
  });
  return end;
}

template class PathRest<1>;
template class PathRest<2>;
template class PathRest<4>;

}  // namespace phaze::schedule
