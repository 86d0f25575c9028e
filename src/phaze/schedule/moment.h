// What may start together at a moment.
//
// Between a moment and the first finish of all that runs then, nothing becomes free to start. So a set of operators
// that are free starts at that moment, in some modes, possibly none, and what they and those running leave unused until
// the first of them finishes is lost for good. A set is good enough if the bound with that loss is below a limit. Few
// sets are, of the many mixtures of modes that fit.
//
// How sets are found: operator by operator, in the order given. Let the bound of a set be
//
//     until + fixed − rates · until,   fixed = Σ over what is unplaced of its worth + Σ over what runs of rate ·
//     finish,
//
// with `rates` the sum over what runs. An operator added with rate r earns at least its worth, so that its finish f and
// worth u have r · (f − time) ≥ u, and `fixed` rises by r · time at least. If operators yet to come add rates of at
// most E (no more than 1 − rates is left) and the first finish is at least `soonest`, then every set that follows has a
// bound of at least
//
//     fixed + time · (1 − rates) + (soonest − time) · (1 − rates − E),
//
// and all of them are passed over where that reaches the limit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/search_state.h"
#include "phaze/schedule/search_worth.h"

namespace phaze::schedule {

// An operator that may start, and how.
struct OpStart {
  std::uint32_t op, mode;
  bool barred;  // from exclusive modes, so that it is worth what it earns in the others
};

struct Moment {
  Ticks time = 0;
  std::span<const Running> running;  // after this moment; by rising finish
  std::span<const OpStart> starts;   // those of an operator side by side, none of them exclusive
  std::span<const double> left;      // per worth: what the unplaced operators are worth
  double limit = 0;                  // bounds of this or more are too high
};

// Keeps its memory from one moment to the next.
class MomentFiller {
 public:
  // A set that may start.
  struct Filling {
    std::span<const OpStart> starts;  // by rising place among those of the moment
    Ticks until;                      // the first finish
    std::span<const Units> free;      // per resource, until then
  };

  // The block and its worths must outlive their use here.
  void prepare(const Block& block, const std::vector<SearchWorth>& worths) {
    block_ = &block;
    worths_ = &worths;
  }

  // Whether nothing or some set is good enough. Looks at some tens of sets; where there are more and none of these will
  // do, it says yes. Something must be running.
  bool can_fill(const Moment& moment);

  // Calls visit(filling) for every set, not empty, that is good enough and to which allowed(start, those before it) has
  // not said no for any of its members. False if it ended before, after looking at `most` sets.
  template <typename Allowed, typename Visit>
  bool for_each(const Moment& moment, std::uint64_t most, Allowed&& allowed, Visit&& visit) {
    begin(moment);
    return for_each_from(moment, 0, most, allowed, visit);
  }
  // Sets looked at by the last call.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  void begin(const Moment& moment);
  // Adds the start at this place to the set. False if it does not fit or makes the schedule too long.
  bool add(const Moment& moment, std::size_t place);
  void remove();
  bool is_good_enough(double limit) const;
  bool may_become_good_enough(const Moment& moment, std::size_t first) const;

  template <typename Allowed, typename Visit>
  bool for_each_from(const Moment& moment, std::size_t first, std::uint64_t most, Allowed& allowed, Visit& visit) {
    for (std::size_t place = first; place < moment.starts.size(); ++place) {
      if (++looked_at_ > most) return false;
      if (!allowed(moment.starts[place], std::span<const OpStart>(chosen_)) || !add(moment, place)) continue;
      if (is_good_enough(moment.limit)) visit(Filling{chosen_, until(), free()});
      const std::size_t next = next_op_[place];
      if (may_become_good_enough(moment, next) && !for_each_from(moment, next, most, allowed, visit)) return false;
      remove();
    }
    return true;
  }

  // What runs with the set chosen so far, until the first of it finishes.
  Ticks until() const { return untils_.back(); }
  std::span<const Units> free() const { return std::span(free_).last(block_->resources); }
  std::span<const double> rates() const { return std::span(rates_).last(worths_->size()); }
  std::span<const double> fixed() const { return std::span(fixed_).last(worths_->size()); }

  const Block* block_ = nullptr;
  const std::vector<SearchWorth>* worths_ = nullptr;
  std::vector<OpStart> chosen_;
  // For every set on the way to the one chosen, the empty one first.
  std::vector<Ticks> untils_;
  std::vector<Units> free_;    // per resource
  std::vector<double> rates_;  // per worth: what is earned a tick
  std::vector<double> fixed_;  // per worth
  // For every place among the starts and the one behind the last.
  std::vector<std::uint32_t> next_op_;  // the place of the next operator
  std::vector<Ticks> shortest_;         // of the starts from there on
  std::vector<double> most_rates_;      // per worth: of the operators from there on together
  std::uint64_t looked_at_ = 0;
};

}  // namespace phaze::schedule
