// Phases: what the exclusive modes of a block alone cost, exactly.
//
// Suppose that there were enough of every resource, and that only exclusive modes (block.h) kept others from running
// beside them. A schedule is then a sequence of exclusive operators and of phases between them, in which all else runs
// in its fastest shareable mode, as early as it can. At a moment when nothing runs, all that matters of the past is the
// set S of operators that are done, and
//
//     f(S) = the least time after which S may be done and nothing runs
//
// follows from two kinds of steps. An operator whose predecessors are in S runs exclusively. Or there is a phase: in
// its length L, all is done that, started as early as possible, finishes within L. To leave out some of that would gain
// nothing, since whatever is done later could as well be dropped there. So of the phases from S only those matter that
// end when something finishes, one per operator that is not in S.
//
// Operators for which nobody waits (gradients of weights) may as well run exclusively at the very end: moving one there
// brings all behind it forward by its duration. So they do so only where all that is left runs exclusively, and sets
// that differ in which of them are done need not be told apart; of a backward layer of 30 operators some hundred sets
// remain. All that is left may run in that way after any set, which soon says how short a sequence there is.
//
// f of all operators bounds the makespan, since the schedules of the block are among those counted. Sets after which
// the rest cannot end before the limit are passed over; for that, paths and the work of resources count. The best
// sequence, with every operator as early as it is there, is a schedule of the block if resources suffice at every
// moment, and then the best. With eight cores or more they mostly do: a layer has some six operators to run at once.
#pragma once

#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/op_set.h"
#include "phaze/schedule/op_set_map.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class Phases {
 public:
  // A bound on the makespan, `limit` at most; 0 if the budget ends first. Where it is below the limit, `sequence`
  // becomes what it was found with: it keeps the order of operators, but not always the capacities.
  Ticks bound(const Block& block, Ticks limit, Stop& stop, BlockSchedule& sequence);

 private:
  enum class Step : std::uint8_t { kExclusive, kPhase };
  struct State {
    OpSet<Words> done;
    Ticks time = 0;
    Step step = Step::kExclusive;  // how it came about
    std::uint32_t parent = 0;
    std::uint32_t size = 0;  // operators done
    Ticks left = 0;          // work for the resource with the most
    Ticks alone = 0;         // what is left, one after another
  };

  void prepare(const Block& block);
  void expand(std::uint32_t index);
  // The set as one that may be reached at this moment.
  void offer(const State& state);
  bool is_too_late(const State& state) const;
  void find_work();
  // When operators that are not done finish if all start as early as they can, from this moment on.
  void set_finishes(const OpSet<Words>& done);
  void write(std::uint32_t last, BlockSchedule& sequence);

  const Block* block_ = nullptr;
  Ticks limit_ = 0;
  OpSet<Words> all_, last_;  // last_: those for which nobody waits
  std::vector<OpSet<Words>> before_, just_before_;
  std::vector<std::uint32_t> shareable_, exclusive_;  // mode per operator; kNone
  std::vector<Ticks> work_;                           // least, per operator, for the resource with the most
  std::vector<Ticks> alone_;                          // per operator, in its exclusive mode
  std::vector<std::uint32_t> longest_first_;          // operators by what remains from their start on
  std::vector<Ticks> finishes_;
  struct Finish {
    Ticks time;
    std::uint32_t op;
  };
  std::vector<Finish> by_finish_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> by_size_;  // states by the number of operators done
  OpSetMap<Words, std::uint32_t> index_;
};

extern template class Phases<1>;
extern template class Phases<2>;
extern template class Phases<4>;

}  // namespace phaze::schedule
