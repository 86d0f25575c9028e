// Exact search over one block: dynamic programming over downsets, with bounds, in beams and by rising bounds.
//
// A state is what the future needs to know of a schedule's beginning: the set S of operators placed, a time t before
// which all of them have started and at or after which all others will, and of the operators still running at t their
// modes and finishes. A step places a set X of operators, all at the same moment, and passes on to the next finish.
// Operators are thus placed by rising start.
//
// Why this reaches an optimum. Let V(N) be the least makespan of all ways to complete state N with starts at or after
// its t. Claim: V(N) is the least V over the children kept. Among the best completions take one with the least sum of
// finishes, and in it the first start, at time s, and the set X of all that starts then. Could one of them start
// earlier, at s' with t ≤ s' < s? Before s only what runs in N is running, and from s on it holds what it held before
// and for no longer; so the completion with it at s' would be valid, no longer, and of smaller sum. Hence s is the
// earliest fit of every member of X, one of the moments at which something that runs in N finishes, or t. And could
// anything start between s and the next finish f? It could as well start at s, for the same reason. So the state after
// X, with time f, is a child that the rest completes. (This is the argument that active schedules suffice, for several
// modes: the modes are part of the step. Sets that start together are the extension alternatives of Stinson, Davis and
// Khumawala 1978.)
//
// Most passes that look for schedules place one operator a step, and time stands at its start as long as something else
// could start, too. The argument is the same, without f. There are far more states: all subsets of what starts
// together. But as a beam they often find better schedules, since it chooses after every operator.
//
// Some rules drop children and keep the claim:
//
//  - Room before. If some operator y could, in some mode, run to its end before s, or beside X from s to its end before
//    f, then the child is dropped: in the completion above, y could be moved there, ending sooner than its start, which
//    again lowers the sum.
//  - Nothing in the way. Let the demands of an operator y in the fastest of its modes that are not exclusive be
//    uncontested: whatever may run beside it in such modes, there is enough for all. If y could start at s and end
//    while something still runs that has started by then, it does. In the completion above it could be moved there:
//    nothing is in its way, since no exclusive mode can start before its end either, and it would end sooner.
//  - Exclusive modes. An exclusive mode (block.h) tolerates nothing beside it, so it is a barrier. Let e be a moment at
//    which nothing runs and x is free to start, and let x run later in an exclusive mode, from e' on. Moving x to e and
//    all between e and e' back by its duration keeps every constraint and the makespan. So at such a moment it can be
//    decided for good: x exclusively now, or never exclusively. Of several such operators the first in index order goes
//    first; a child that starts the k-th of them bars the earlier ones, and a child that passes the moment with others
//    bars them all. A state therefore also has the set B of barred operators, and V(N) counts completions that respect
//    it. This does not disturb the rules above: what these look at depends on e, not on which operator runs there, and
//    they move no operator into an exclusive mode.
//    An operator that nothing waits for need not run exclusively before the end: moved there, all behind it comes
//    forward by its duration. So it is neither started in this way nor barred. Instead, a state is completed as it is
//    with all that is unplaced one after another, which is a schedule worth knowing in any case.
//  - Order of equals. Let a and b have the same modes and all that b precedes follow a (two products of one shape whose
//    results nobody in the block waits for, say), and let all that precedes a have finished by the start of b. If a
//    completion starts a later, exchanging the two, with their modes, keeps the makespan and the sum of finishes. It
//    keeps every constraint if the same operators wait for both, or if a does not finish later than before: if b starts
//    in the fastest mode that a may have. So b is not started while a is unplaced, as long as the exchange puts no
//    barred operator into an exclusive mode: with both barred or neither, always; with only a barred, if b starts in a
//    mode that is not exclusive, because then neither does a. What is passed over in an exclusive mode for this reason
//    is not barred by those that come after it. If a and b start together, a has the faster mode, for the same reason.
//  - Needless groups. What runs between two moments at which nothing runs, in modes that are not exclusive, is a group.
//    Let every operator of a group have an exclusive mode that takes no longer than its least work for some resource,
//    the same for all (on a chip: it can use all of the bandwidth by itself), and let none of them have been barred
//    when the group began. Then they may as well run exclusively, one after another, by rising finish in the group: by
//    the finish of the j-th the resource has done at least the work of the first j, so that each of them ends no later
//    than before. So a group needs an operator of another kind, and a state whose group ends without one is dropped.
//
//    Why that keeps an optimum, whatever dominance (below) drops. A state is needless as long as its group has no
//    operator of another kind. Needless states dominate only needless states of the same group, which began in the same
//    state A. Claim: of every state N that is not needless, the search finds a schedule no longer than V(N). By
//    induction, from states with all operators placed downwards. If something runs in N, its children are not needless
//    as long as the group goes on, and the claim follows as above. Otherwise N is the beginning of a group or of an
//    exclusive operator. If a best completion runs an operator exclusively that is free in N and that others wait for,
//    a child that is no group does as well. Otherwise consider the best completions with the fewest operators in modes
//    that are not exclusive: in none of these is the first group needless, since it could be dissolved. Those of them
//    that begin as states alive do, of this group and needless, may at some layer be represented by one of them alone;
//    of its completions take one with the least sum of finishes among operators unplaced. It obeys the rules above:
//    the first two could move an operator out of an exclusive mode, but that would shorten the schedule. Its next state
//    is alive, or dominated by one of the same group, which has such a completion as well, or by one that is not
//    needless, for which the claim is known; and it is needless no more before the group ends.
//
// After a step, time is put forward to the first moment at which something unplaced could start: what is not possible
// before it is no matter of choice. States then differ only in what the future can tell apart, and their bounds see
// what stays unused until then.
//
// Dominance (state_layer.h). Of two states with the same S, the first dominates when t1 ≤ t2, B1 ⊆ B2, at no moment
// from t2 on more is held of a resource in the first than in the second, what runs last in the first ends by t2 or no
// later than in the second, and so does every operator that something unplaced waits for. Then from t2 on the first has
// everything free and finished that the second has, every completion of the second completes the first, and V1 ≤ V2:
// the second is dropped. Who holds what does not matter: the many operators for which nobody waits, gradients of
// weights above all, stand for each other. What is not contested does not count as held: as long as the first holds it,
// all that runs may run beside it, and there is enough for all. States with the same S have as many operators placed,
// and when a layer of states with so many is expanded all its states are known.
//
// Two more kinds of states are compared. First, of operators with the same modes that nothing waits for it does not
// matter which are placed, among those that are free by t: exchanging two of them in all that follows changes nothing.
// So S counts as if the first of them were placed, and as many. Second, a state with one operator more in S dominates
// under the same conditions: a completion without that operator is no longer. Such a state is in the next layer, and
// may come too late; of those that are there when a state is expanded, the latest are looked at. It must not be
// needless: the claim above is then known of it, because more is placed in it. What it has lost so far, time that no
// worth was earned in, is less by what that operator is worth; no state has lost less than nothing, so that only
// operators that are worth no more than what has been lost are looked for.
//
// Most pairs are told apart by a few numbers per state (key_index.h), none of which is larger in a state that
// dominates. One is the moment at which a resource would be free if what is held of it were done as densely as
// possible, c = t + Σ share·(finish − t): a resource is held at most whole between t1 and t2, and no more of it from t2
// on, so that c1 ≤ c2. Another is the first moment from t on after which at most half of the resource is held.
//
// Bounds. Worths (bounds.h) count the ticks that the unplaced operators and the rests of the running ones must still
// earn; heads and tails count paths. Paths are followed beside what runs: an operator starts no sooner than what runs
// leaves room for its mode, exclusive modes not before all of it has ended, and barred ones never. One that runs for
// long on few cores keeps the chain that everything waits for from using all of them, and that shows at once. Only
// operators that would end too late if they waited for all that runs are looked at for that. States that cannot beat
// the best schedule by kTimeTolerance, and by the gap that may be left, are dropped.
//
// Phases. Where exclusive modes matter more than the work of resources, a pass for the proof also bounds states by when
// they would end if only these modes kept operators apart (phase_rest.h). That takes longer, so it is done when they
// are about to be expanded; or before they are even added, where it drops most. The same is asked of the machines that
// the scarcest resource amounts to, as long as it drops states enough (machine_rest.h).
//
// Moments. Of the sets that fit, only those are looked at that leave little enough unused until the next finish
// (moment.h).
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
// By rising bounds. A proof has to look at all states whose bounds are below the optimum, and need not look at others.
// Layer by layer, with the best schedule known so far as the limit, a pass sees far more of them if that is not very
// good. So a pass for the proof goes through the layers several times: states with a bound of `below` or more wait in
// their layers, and `below` rises from the least bound on, such that every time some more come up. In the end about as
// many states have been expanded as A* would have, while those of a front are still compared in bulk, and schedules
// are found on the way. Thousands of states may share a bound, those that lead to the best schedule with those that do
// not; so of a layer some come up at once, the others when the pass has been through and has not found a schedule that
// makes them needless. If the budget ends before, no schedule is shorter than the least bound of a state that waits,
// which is about the last `below`. The price is memory: layers are kept until the end. Where that is too much, all
// states come up at once, in a last round that gives layers back as it goes. (Passes that began anew with rising limits
// expanded nearly twice as many states: each repeats what those before it did.)
//
// The same subproblem (a downset and what runs beside it) is thus solved once, however many orders lead to it. Cutsets
// are due to Demeulemeester and Herroelen (1992), for several modes to Sprecher and Drexl (1998).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/machine_rest.h"
#include "phaze/schedule/moment.h"
#include "phaze/schedule/order_of_equals.h"
#include "phaze/schedule/path_rest.h"
#include "phaze/schedule/phase_rest.h"
#include "phaze/schedule/search_block.h"
#include "phaze/schedule/search_state.h"
#include "phaze/schedule/search_worth.h"
#include "phaze/schedule/state_layer.h"

namespace phaze::schedule {

struct PassLimits {
  std::size_t width = 0;               // states of a layer
  bool together = false;               // all that starts at a moment is placed at once
  Ticks enough = 0;                    // a schedule as short as this ends the pass
  double gap = 0;                      // what is shorter by no more than this share is of no use
  bool ends_where_too_narrow = false;  // for the whole or nothing
  bool by_bounds = false;              // states of lower bounds come first
  bool phases = false;                 // bounds count phases (phase_rest.h) in
};

struct PassResult {
  bool complete = true;  // nothing was cut: all was seen that is of use
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
  PassResult pass(const Block& block, std::span<const SearchWorth> worths, const PassLimits& limits,
                  BlockSchedule& best, Stop& stop);

 private:
  using State = SearchState<Words>;
  struct Step {
    std::uint32_t parent;
    std::uint32_t op, mode;
    Ticks start;
  };
  // A state as it is expanded.
  struct Parent {
    const State& state;
    std::span<const Running> running;
    std::span<const double> left;
    std::size_t placed;  // so many operators
    Ticks all_done;
    std::size_t longest;  // the first of longest_first that is unplaced
    Ticks moment(std::size_t piece) const { return piece == 0 ? state.time : running[piece - 1].finish; }
  };
  // One way to start an operator beside what runs, at the earliest moment at which it fits.
  struct Candidate {
    OpStart start;
    std::uint32_t piece;  // operators running in the parent that have finished by then
  };
  // What is decided with a child about exclusive modes, and what that adds to the worth of what is unplaced.
  struct Barring {
    OpSet<Words> ops;
    std::vector<double> price;
    void clear(std::size_t worths) {
      ops = {};
      price.assign(worths, 0);
    }
  };

  void begin(const Block& block, std::span<const SearchWorth> worths, const PassLimits& limits, BlockSchedule& best,
             const Stop& stop);
  double least_bound(const PassLimits& limits) const;
  bool expand_layer(std::size_t placed, const PassLimits& limits, Stop& stop);
  bool end_at(std::size_t placed, std::size_t at);
  bool raise_limit();
  template <typename Visit>
  void for_each_waiting(Visit&& visit) const;
  bool is_dominated_by_more(std::size_t placed, std::uint32_t index) const;
  void keep_best(const StateLayer<Words>& layer, std::size_t most);
  void expand(std::size_t placed, std::size_t index);
  void find_candidates(const Parent& parent);
  OpSet<Words> free_at(std::size_t piece) const;
  void bar(std::size_t op, Barring& barring) const;
  void start_exclusively(const Parent& parent);
  void start_one(const Parent& parent, std::size_t piece);
  void start_together(const Parent& parent, std::size_t piece);
  bool leaves_room(const Parent& parent, std::size_t piece, const OpSet<Words>& others,
                   const MomentFiller::Filling& filling) const;
  void add_child(const Parent& parent, std::size_t piece, std::span<const OpStart> starts, const Barring& barring);
  void put_time_forward(State& state);
  bool waits_by_phases(StateLayer<Words>& layer, std::uint32_t index);
  void count_phases_in(State& state, std::span<const Running> running);
  bool waits_by_machines(std::size_t placed, std::uint32_t index);
  void set_bound(const Parent& parent, State& child);
  void finish_schedule(const Parent& parent, Ticks start, std::span<const OpStart> starts, const State& child,
                       Ticks ended);
  void finish_alone(const OpSet<Words>& placed, Ticks ended);

  SearchBlock<Words> block_;
  std::span<const SearchWorth> worths_;
  BlockSchedule* best_ = nullptr;
  PassResult* result_ = nullptr;
  double worth_looking_for_ = 1;  // below this share of the best schedule
  double limit_ = 0;              // states with a bound of this or more are of no use
  double below_ = 0;              // states with a bound of this or more wait
  bool narrow_ = false;
  bool finding_ = false;  // rather than proving
  bool together_ = false;
  bool phases_ = false;
  bool all_came_up_ = true;  // with bounds below below_
  double worth_of_all_ = 0;  // of the first worth
  PathRest<Words> path_rest_;
  PhaseRest<Words> phase_rest_;  // where these count
  std::uint64_t asked_phases_ = 0, waited_by_phases_ = 0;
  bool machines_ = false;
  MachineRest<Words> machine_rest_;
  struct Asked {
    std::uint64_t sums = 0, waited = 0;
  };
  std::vector<Asked> asked_machines_;      // by the number of operators placed
  double owed_ = 0;                        // units of work done beside states
  double affordable_ = 0;                  // no more than so many, for the next state
  std::uint64_t most_sets_ = 0;            // that may be looked at for it
  std::vector<StateLayer<Words>> layers_;  // by the number of operators placed
  bool a_layer_is_full_ = false;
  std::vector<Step> steps_;
  std::vector<std::uint32_t> kept_;
  std::vector<double> bounds_;         // of states that wait
  std::vector<std::size_t> of_front_;  // states seen
  std::vector<Candidate> candidates_;
  std::vector<Candidate> exclusive_;
  std::vector<OpStart> starts_;
  std::vector<std::uint32_t> free_from_;  // per operator: the piece from which on nothing before it is running
  OrderOfEquals<Words> equals_;
  OpSet<Words> available_;  // operators of which that is known
  Ticks room_ = 0;          // the earliest end of anything that does not need the chip for itself
  Barring nothing_, tried_, all_;
  MomentFiller filler_;
  std::vector<double> left_, left_then_;
  std::vector<Running> running_;  // of a child
  std::vector<Units> held_;       // per piece and resource: what is held once so many have finished
  std::vector<Units> free_;
};

extern template class LayeredSearch<1>;
extern template class LayeredSearch<2>;
extern template class LayeredSearch<4>;

}  // namespace phaze::schedule
