// What is left of a block takes at least as long as its longest path beside what runs.
//
// An operator starts no sooner than what runs leaves room for its mode, in an exclusive mode not before all of it has
// ended, and in one that it is barred from never. One that runs for long on few cores keeps the chain that everything
// waits for from using all of them.
#pragma once

#include <span>
#include <vector>

#include "phaze/schedule/search_block.h"
#include "phaze/schedule/search_state.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class PathRest {
 public:
  // The block must outlive its use here.
  void begin(const SearchBlock<Words>& block);

  // All ways to go on from the state end at this or later. No more is found out than that it is `limit` or more; and 0
  // is the answer where paths say no more than `bound`, for which no operator is looked at that would end by then even
  // if it waited for all that runs.
  Ticks least_end(const SearchState<Words>& state, std::span<const Running> running, double bound, double limit);

 private:
  OpSet<Words> late_after(const SearchState<Words>& state, Ticks over, double bound) const;

  const SearchBlock<Words>* block_ = nullptr;
  std::vector<Units> held_;  // per number of operators that have finished, and resource
  std::vector<Ticks> finishes_;
};

extern template class PathRest<1>;
extern template class PathRest<2>;
extern template class PathRest<4>;

}  // namespace phaze::schedule
