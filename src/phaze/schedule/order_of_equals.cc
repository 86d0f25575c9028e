#include "phaze/schedule/order_of_equals.h"

namespace phaze::schedule {

// Those that go first if something starts in this way. Where more operators wait for them, it must not take longer than
// they would.
template <std::size_t Words>
OpSet<Words> OrderOfEquals<Words>::before(const State& state, const OpStart& start) const {
  const OpSet<Words>&equals = block_->equals_before[start.op], &twins = block_->twins_before[start.op];
  if (start.mode == block_->block->mode_offsets[start.op]) return equals;
  return start.mode == block_->fastest_shareable[start.op] ? twins | (equals & state.barred) : twins;
}

template <std::size_t Words>
bool OrderOfEquals<Words>::goes_after(const State& state, const OpStart& start, const OpSet<Words>& free_ops) const {
  const OpSet<Words> waiting = before(state, start) & free_ops;
  if (waiting.empty()) return false;
  if (state.barred.contains(start.op)) return !(waiting & state.barred).empty();
  return !block_->block->modes[start.mode].exclusive || !(waiting - state.barred).empty();
}

template <std::size_t Words>
void OrderOfEquals<Words>::begin_moment(const State& state, std::span<const OpStart> starts,
                                        const OpSet<Words>& free_ops) {
  for (const OpStart& start : starts) {
    OpSet<Words>& first = go_first_[start.mode];
    first = (before(state, start) & free_ops).below(start.op);
    if (state.barred.contains(start.op)) first = first & state.barred;
  }
}

// What goes first and has a lower number has joined by now, or will not. Of equals that start together, the first has
// the faster mode.
template <std::size_t Words>
bool OrderOfEquals<Words>::may_join(const OpStart& start, std::span<const OpStart> joined) const {
  const OpSet<Words>& equals = block_->equals_before[start.op];
  const std::vector<std::uint32_t>& offsets = block_->block->mode_offsets;
  const auto nth_mode = [&](const OpStart& one) { return one.mode - offsets[one.op]; };
  OpSet<Words> missing = go_first_[start.mode];
  for (const OpStart& other : joined) {
    if (equals.contains(other.op) && nth_mode(other) > nth_mode(start)) return false;
    missing.erase(other.op);
  }
  return missing.empty() && (joined.empty() || !block_->equals_before[joined.front().op].contains(start.op) ||
                             nth_mode(start) <= nth_mode(joined.front()));
}

template class OrderOfEquals<1>;
template class OrderOfEquals<2>;
template class OrderOfEquals<4>;

}  // namespace phaze::schedule
