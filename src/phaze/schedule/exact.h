// Exact search over one block: dynamic programming over downsets, with bounds, in widening beams.
//
// A state is what the future needs to know of a schedule's beginning: the set S of operators placed, the time t of the
// last start, and of the operators still running at t their modes and finishes. A step places one more operator whose
// predecessors are in S, in one of its modes, at the earliest time at or after t at which it fits. Operators are thus
// placed by rising start.
//
// Why this reaches an optimum. Let V(N) be the least makespan of all ways to complete state N with starts at or after
// its t. Claim: V(N) is the least V over the children kept. Among the best completions take one with the least sum of
// finishes, and in it the first start, of operator x in mode m at time s. Could x start earlier, at s' with t ≤ s' < s?
// Before s only what runs in N is running, and from s on x holds what it held before and for no longer; so the
// completion with x at s' would be valid, no longer, and of smaller sum. Hence s is the earliest fit, and the state
// after this step is a child that the rest completes. (This is the argument that active schedules suffice, for several
// modes: the mode is part of the step.) Two rules drop children and keep the claim:
//
//  - Room before. If some operator y could, in some mode, run to its end before s, then the child (x, m, s) is dropped:
//    in the completion above, y could be moved there, ending sooner than its start, which again lowers the sum.
//  - Exclusive modes. An exclusive mode (block.h) tolerates nothing beside it, so it is a barrier. Let e be a moment at
//    which nothing runs and x is free to start, and let x run later in an exclusive mode, from e' on. Moving x to e and
//    all between e and e' back by its duration keeps every constraint and the makespan. So at such a moment it can be
//    decided for good: x exclusively now, or never exclusively. Of several such operators the first in index order goes
//    first; a child that starts the k-th of them bars the earlier ones, and a child that passes the moment with an
//    operator in another mode bars them all. A state therefore also has the set B of barred operators, and V(N) counts
//    completions that respect it. The two rules do not disturb each other: what the first one looks at depends on e,
//    not on which operator runs there, and it moves no operator into an exclusive mode.
//    An operator that nothing waits for need not run exclusively before the end: moved there, all behind it comes
//    forward by its duration. So it is neither started in this way nor barred. Instead, a state is completed as it is
//    with all that is unplaced one after another, which is a schedule worth knowing in any case.
//  - Order of equals. Let a and b have the same modes and all that b precedes follow a (two products of one shape whose
//    results nobody in the block waits for, say), and let all that precedes a have finished by the start of b. If a
//    completion starts a later, exchanging the two keeps every constraint, the makespan and the sum of finishes. So b
//    is not started while a is unplaced, as long as the exchange puts no barred operator into an exclusive mode: with
//    both barred or neither, always; with only a barred, if b starts in a mode that is not exclusive, because then
//    neither does a. What is passed over in an exclusive mode for this reason is not barred by those that come after
//    it.
//
// After a step, time is put forward to the first moment at which something unplaced could start: what is not possible
// before it is no matter of choice. States then differ only in what the future can tell apart, and their bounds see
// what stays unused until then.
//
// Dominance. Of two states with the same S, the first dominates when t1 ≤ t2, B1 ⊆ B2, at no moment from t2 on more is
// held of a resource in the first than in the second, what runs last in the first ends by t2 or no later than in the
// second, and so does every operator that something unplaced waits for. Then from t2 on the first has everything free
// and finished that the second has, every completion of the second completes the first, and V1 ≤ V2: the second is
// dropped. Who holds what does not matter: the many operators for which nobody waits, gradients of weights above all,
// stand for each other. Since S grows by one operator a step, states are compared within a layer, and when a layer is
// expanded all its states are known.
//
// Most pairs are told apart by a few numbers per state (key_index.h), none of which is larger in a state that
// dominates. One is the moment at which a resource would be free if what is held of it were done as densely as
// possible, c = t + Σ share·(finish − t): a resource is held at most whole between t1 and t2, and no more of it from t2
// on, so that c1 ≤ c2. Another is the first moment from t on after which at most half of the resource is held.
//
// Bounds. Worths (bounds.h) count the ticks that the unplaced operators and the rests of the running ones must still
// earn; heads and tails count paths. States that cannot beat the best schedule by kTimeTolerance are dropped.
//
// Moments. Passes for the proof also drop a state if nothing that is free at its time could fill the time until the
// next finish well enough (moment.h).
//
// Beams. A pass keeps at most `width` states a layer, those of the least rank. If nothing was cut, the pass was the
// whole search and the best schedule is optimal. Otherwise the least bound among the states cut is still a bound on
// every schedule the pass has not seen, and a wider pass follows. The first passes serve as heuristics. All is
// deterministic: ties are broken by the order of generation.
//
// The rank of a narrow pass is the bound, which most states of the first layers share because it counts the work of the
// scarcest resource, and half of the longest path that is left: of two states that waste as little, the one that is
// further along the chain everything waits for is the more promising. On backward layers this makes a pass of 128
// states as good as one of 1000 by bounds alone. Bounds promise that all that is left wastes nothing, so that in all
// passes that look for schedules what is left counts a hundredth more. And since states of one front are alike, none
// may fill a layer: of the modes that gradients of weights can take there are thousands of mixtures, and a schedule
// that leaves all of them for later would not survive beside these. Wide passes are there for the proof and rank by the
// bound: what they cut then bounds the most.
//
// The same subproblem (a downset and what runs beside it) is thus solved once, however many orders lead to it. Cutsets
// are due to Demeulemeester and Herroelen (1992), for several modes to Sprecher and Drexl (1998).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/key_index.h"
#include "phaze/schedule/moment.h"
#include "phaze/schedule/search_worth.h"

namespace phaze::schedule {

struct PassLimits {
  std::size_t width = 0;               // states of a layer
  Ticks enough = 0;                    // a schedule as short as this ends the pass
  bool ends_where_too_narrow = false;  // for the whole or nothing
};

struct PassResult {
  bool complete = true;  // nothing was cut: what is not better than the bound was seen
  bool stopped = false;  // before its end
  double least_cut = 0;  // least bound among the states cut or not seen; of no meaning if complete
  std::uint64_t states = 0;
};

// Passes of at most this width follow the longest path.
inline constexpr std::size_t kNarrow = 256;
// By this width a pass has usually found the best schedule there is, or will not; wider ones are there for the proof.
inline constexpr std::size_t kWidestToFind = 4096;

template <std::size_t Words>
class LayeredSearch {
 public:
  // One pass. Improves `best` when it finds a shorter schedule.
  PassResult pass(const Block& block, const std::vector<SearchWorth>& worths, const PassLimits& limits,
                  BlockSchedule& best, Stop& stop);

 private:
  struct State {
    OpSet<Words> placed;
    OpSet<Words> barred;
    Ticks time = 0;
    Ticks alone = 0;  // what is unplaced takes one after another
    double bound = 0;
    double rank = 0;
    std::uint32_t step = 0;           // how it came about
    std::uint32_t running_begin = 0;  // into the layer's running list, by rising finish
    std::uint32_t running_count = 0;
    std::uint32_t front = 0;      // of its layer
    std::uint32_t next_twin = 0;  // next state of the layer in the same slot of twin_table_, plus one
    std::uint64_t twin_hash = 0;  // of all but what is barred
    bool dead = false;
  };
  struct Step {
    std::uint32_t parent;
    std::uint32_t op, mode;
    Ticks start;
  };
  struct Layer {
    std::vector<State> states;
    std::vector<Running> running;
    std::vector<double> left;  // per state and worth: what the unplaced operators are worth
    void clear() {
      states.clear();
      running.clear();
      left.clear();
    }
  };

  // States of the next layer with the same operators placed.
  struct Front {
    OpSet<Words> placed;
    std::vector<Key> keys;
    std::uint32_t next = 0;  // front in the same slot of table_, plus one
  };

  struct Candidate {
    std::uint32_t op, mode;
    std::uint32_t piece;  // operators running in the parent that have finished by the start
    Ticks start;
  };

  void prepare(const Block& block);
  void put_few_of_each_front_first(std::size_t most);
  bool goes_after_an_equal(const State& state, const Candidate& candidate) const;
  void expand(std::size_t index);
  void add_child(std::size_t index, const Candidate& candidate, const OpSet<Words>& newly_barred,
                 const std::vector<double>& price_of_barring);
  void put_time_forward(State& state);
  bool is_cut(const State& state);
  bool can_be_filled(const State& state);
  bool awaited(const State& state, std::size_t op) const { return !after_[op].subset_of(state.placed); }
  bool dominates(const State& a, const State& b) const;
  Key key_of(const State& state) const;
  Front& front_of(const OpSet<Words>& placed);
  bool has_twin(State& state);
  bool insert(State& state);
  void drop_dominated();
  void drop_dominated(std::span<Key> keys);
  void rehash(std::size_t slots);
  void finish_schedule(std::uint32_t last, const OpSet<Words>& placed, Ticks ended);

  const Block* block_ = nullptr;
  const std::vector<SearchWorth>* worths_ = nullptr;
  BlockSchedule* best_ = nullptr;
  PassResult* result_ = nullptr;
  double limit_ = 0;  // states with a bound of this or more are of no use
  std::vector<OpSet<Words>> before_, after_;
  std::vector<OpSet<Words>> equals_before_;    // those that go first by the order of equals, once they are free
  std::vector<Units> lightest_;                // per operator and resource: the least that a shareable mode demands
  std::vector<std::uint32_t> longest_first_;   // operators by what remains from their start on
  std::vector<std::uint32_t> scarcest_first_;  // resources that are demanded at all, the one with the most work first
  std::vector<std::uint64_t> demand_hashes_;   // of modes
  OpSet<Words> all_;
  std::size_t placed_count_ = 0;
  Layer now_, next_;
  std::vector<Step> steps_;
  std::vector<Front> fronts_;  // of the next layer; those beyond used_fronts_ are there for their memory
  std::size_t used_fronts_ = 0;
  std::vector<std::uint32_t> table_;       // fronts by the set of operators placed
  std::vector<std::uint32_t> twin_table_;  // states by the time and what is held, too
  std::vector<std::uint32_t> kept_;
  std::vector<std::size_t> of_front_;  // states seen
  std::vector<Candidate> candidates_;
  std::vector<std::uint32_t> free_from_;  // per operator: the piece from which on nothing before it is running
  KeyIndex index_;
  MomentFiller filler_;
  std::vector<Moment::Free> free_ops_;
  std::vector<Units> held_, free_;
  std::vector<double> rest_;         // per piece and worth: what the operators running then still earn
  std::vector<double> least_ranks_;  // of the next layer, at most most_children_, as a heap
  std::size_t most_children_ = 0;
  std::uint64_t comparisons_ = 0;
  double path_in_rank_ = 0;
  bool finding_ = false;  // rather than proving
  std::vector<double> price_of_all_, price_of_tried_, nothing_, left_;
};

extern template class LayeredSearch<1>;
extern template class LayeredSearch<2>;
extern template class LayeredSearch<4>;

}  // namespace phaze::schedule
