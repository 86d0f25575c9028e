// What is left after a moment at which nothing runs takes at least so long, by phases (phases.h).
//
// As if there were enough of every resource, and only exclusive modes kept others from running beside them:
//
//     g(S) = the least time from a moment at which S is done and nothing runs to the end.
//
// With eight cores and more this is close to the truth where the work of resources is far from it, and a state of the
// search (exact.h) from which even this is too long is of no use. Unlike the bound on the whole block it is wanted for
// any S, and only as far as it is below what there is time for: sets are looked at as they are asked for, and no
// further than that. Where a simple bound (the longest path, what the others are worth) says that time does not
// suffice, that will do; it may be more than g.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/op_set_map.h"
#include "phaze/schedule/search_block.h"
#include "phaze/schedule/search_state.h"
#include "phaze/schedule/search_worth.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class PhaseRest {
 public:
  // The block and its worths must outlive their use here. No more sets than `most` are looked at: after that, bounds
  // are simple ones.
  void begin(const SearchBlock<Words>& block, std::span<const SearchWorth> worths, std::uint64_t most);

  // A bound on what the others take, once these are done: at least g(done), or at least `most` if that is less, as far
  // as sets may be looked at.
  Ticks least(const OpSet<Words>& done, Ticks most);
  // All ways to go on from a state end at this or later, or at `limit` if that is less. What runs, by rising finish, is
  // part of a phase that ends when all of it has finished, or later, when something else has.
  Ticks least_end(const SearchState<Words>& state, std::span<const Running> running, Ticks limit);
  // Sets looked at since begin().
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  struct Known {
    Ticks at_least = 0;
    bool final = false;  // there is no more to find out
  };
  struct Finish {
    Ticks time;
    std::uint32_t op;
  };

  // What simple bounds know of what is not done.
  struct Left {
    double worth = 0;         // of all of it
    std::size_t longest = 0;  // all that stands before this among longest_first is done
  };

  Left left_after(const OpSet<Words>& done) const;
  Ticks simple_bound(const OpSet<Words>& done, Left& left) const;
  Ticks least(const OpSet<Words>& done, Left left, Ticks most);
  Ticks finish_beside_others(std::size_t op, const OpSet<Words>& done, Ticks now) const;
  Ticks look(const OpSet<Words>& done, const Left& left, Ticks most);

  const SearchBlock<Words>* block_ = nullptr;
  const SearchWorth* worth_ = nullptr;        // the one of which there is most
  std::vector<Ticks> alone_, beside_others_;  // the least durations; kNever if there is no such mode
  OpSetMap<Words, Known> known_;
  std::uint64_t looked_at_ = 0, most_ = 0;
  std::vector<Ticks> finish_of_;
  std::vector<Finish> in_phase_;
  std::vector<std::vector<Finish>> finishes_;  // of sets on the way to the one looked at
  std::size_t depth_ = 0;
};

extern template class PhaseRest<1>;
extern template class PhaseRest<2>;
extern template class PhaseRest<4>;

}  // namespace phaze::schedule
