// Which of several operators with the same modes starts first (exact.h, "Order of equals").
#pragma once

#include <span>
#include <vector>

#include "phaze/schedule/moment.h"
#include "phaze/schedule/search_block.h"
#include "phaze/schedule/search_state.h"

namespace phaze::schedule {

// Keeps its memory from one moment to the next.
template <std::size_t Words>
class OrderOfEquals {
 public:
  using State = SearchState<Words>;

  // The block must outlive its use here.
  void prepare(const SearchBlock<Words>& block) {
    block_ = &block;
    go_first_.resize(block.block->modes.size());
  }

  // Whether one of its equals that are free, and do not start with it, goes first.
  bool goes_after(const State& state, const OpStart& start, const OpSet<Words>& free_ops) const;

  // Before sets are made of what may start at a moment: these, while so many are free.
  void begin_moment(const State& state, std::span<const OpStart> starts, const OpSet<Words>& free_ops);
  // Whether a set may grow by this one. Sets begin with what finishes first and then grow by rising number of the
  // operators.
  bool may_join(const OpStart& start, std::span<const OpStart> joined) const;

 private:
  OpSet<Words> before(const State& state, const OpStart& start) const;

  const SearchBlock<Words>* block_ = nullptr;
  std::vector<OpSet<Words>> go_first_;  // per mode in which something may start: free equals of a lower number
};

extern template class OrderOfEquals<1>;
extern template class OrderOfEquals<2>;
extern template class OrderOfEquals<4>;

}  // namespace phaze::schedule
