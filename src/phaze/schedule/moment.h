// What may start together at a moment.
//
// Between a moment and the first finish of all that runs then, nothing becomes free to start. So a set of operators
// that are free starts at that moment, in some modes, possibly none, and what they and those running leave unused until
// the first of them finishes is lost for good. A set is good enough if the bound with that loss is below a limit. Few
// sets are, of the many mixtures of modes that fit.
//
// How sets are found. First it is chosen what finishes first, one of those running or a member of the set, and so the
// time u until which nothing changes; the other members take at least as long. With that, the bound of a set is
//
//     u + Σ over what is unplaced of its worth + Σ over what runs of rate · (finish − u),
//
// so that a member adds rate · (finish − u) less its worth, which is fixed, and mostly negative. Sets then grow
// operator by operator in the order given. What operators yet to come can take off the bound is at most the sum of what
// each can take off it, and at most what is still lost until u: all sets that follow are passed over where that is too
// little.
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

  // Of the modes of a block, so many resources each.
  struct Demands {
    const Units* units = nullptr;
    std::size_t resources = 0;
  };

  // All must outlive their use here. Operators run side by side as far as these demands allow.
  void prepare(const Block& block, const Demands& demands, std::span<const SearchWorth> worths) {
    block_ = &block;
    demands_ = demands;
    worths_ = worths;
  }

  // Calls visit(filling) for every set, not empty, that is good enough and to which allowed(start, those before it) has
  // not said no for any of its members. False if it ended before: visit() said no, or `most` sets were looked at.
  template <typename Allowed, typename Visit>
  bool for_each(const Moment& moment, std::uint64_t most, Allowed&& allowed, Visit&& visit) {
    begin(moment);
    if (!moment.running.empty()) {
      begin_until(moment, moment.running.front().finish, kNobody);
      if (!for_each_from(moment, 0, most, allowed, visit)) return false;
    }
    for (std::size_t place = 0; place < moment.starts.size(); ++place) {
      if (!may_finish_first(moment, place)) continue;
      if (++looked_at_ > most) return false;
      begin_until(moment, finishes_[place], place);
      if (is_good_enough(moment.limit) && !visit(filling())) return false;
      if (!for_each_from(moment, 0, most, allowed, visit)) return false;
    }
    return true;
  }
  // Sets looked at by the last call.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

  // A start that may join the set.
  struct Member {
    OpStart start;
    std::uint32_t next_op;  // the next member of another operator
  };

  void begin(const Moment& moment);
  // The sets in which nothing finishes before `until`: the start at `first` does then, or something that runs.
  void begin_until(const Moment& moment, Ticks until, std::size_t first);
  bool may_finish_first(const Moment& moment, std::size_t place) const;

  void add(const OpStart& start, const double* changes) {
    const std::size_t resources = demands_.resources, worths = worths_.size(), before = chosen_.size();
    chosen_.push_back(start);
    const Units *units = demand(start.mode), *left = free_.data() + before * resources;
    for (std::size_t k = 0; k < resources; ++k) free_[(before + 1) * resources + k] = left[k] - units[k];
    for (std::size_t v = 0, at = before * worths; v < worths; ++v, ++at) {
      rates_[at + worths] = rates_[at] + worths_[v].rates[start.mode];
      bounds_[at + worths] = bounds_[at] + changes[v];
    }
  }

  bool is_good_enough(double limit) const {
    const double* bounds = this->bounds();
    bool good = true;
    for (std::size_t v = 0; v < worths_.size(); ++v) good = good && bounds[v] * (1 - 1e-12) < limit;
    return good;
  }

  bool may_become_good_enough(double limit, std::size_t next) const {
    if (next == members_.size()) return false;
    const double *bounds = this->bounds(), *rates = this->rates(), *off = still_off_.data() + next * worths_.size();
    bool may = true;
    for (std::size_t v = 0; v < worths_.size(); ++v) {
      const double lost = length_ * std::max(0.0, 1 - rates[v]);
      may = may && (bounds[v] - std::min(off[v], lost)) * (1 - 1e-12) < limit;
    }
    return may;
  }

  template <typename Allowed, typename Visit>
  bool for_each_from(const Moment& moment, std::size_t from, std::uint64_t most, Allowed& allowed, Visit& visit) {
    if (!may_become_good_enough(moment.limit, from)) return true;
    for (std::size_t i = from; i < members_.size(); ++i) {
      const OpStart& start = members_[i].start;
      if (!fits(start) || !allowed(start, std::span<const OpStart>(chosen_))) continue;
      if (++looked_at_ > most) return false;
      add(start, changes_.data() + i * worths_.size());
      if (is_good_enough(moment.limit) && !visit(filling())) return false;
      if (!for_each_from(moment, members_[i].next_op, most, allowed, visit)) return false;
      chosen_.pop_back();
    }
    return true;
  }

  Filling filling() const { return {chosen_, until_, {free(), demands_.resources}}; }

  // With the set chosen so far.
  const Units* free() const { return free_.data() + chosen_.size() * demands_.resources; }
  const double* rates() const { return rates_.data() + chosen_.size() * worths_.size(); }
  const double* bounds() const { return bounds_.data() + chosen_.size() * worths_.size(); }

  const Units* demand(std::size_t mode) const { return demands_.units + mode * demands_.resources; }
  bool fits(const OpStart& start) const {
    const Units *units = demand(start.mode), *left = free();
    bool fits = true;
    for (std::size_t k = 0; k < demands_.resources; ++k) fits = fits && units[k] <= left[k];
    return fits;
  }

  const Block* block_ = nullptr;
  Demands demands_;
  std::span<const SearchWorth> worths_;
  Ticks until_ = 0;
  double length_ = 0;  // of the time until then
  std::vector<OpStart> chosen_;
  // For every set on the way to the one chosen, the empty one first; what is behind that is there for its memory.
  std::vector<Units> free_;     // per resource
  std::vector<double> rates_;   // per worth: what is earned a tick
  std::vector<double> bounds_;  // per worth
  std::vector<double> fixed_;   // per worth: of the bound, what does not depend on `until`, before anything starts
  // Of what may start.
  std::vector<Ticks> finishes_;  // kNever if it is then too late
  std::vector<double> earns_;    // per worth: a tick
  std::vector<double> worth_;    // per worth: as long as it is unplaced
  std::vector<Member> members_;
  std::vector<double> changes_;    // per member and worth: what it adds to the bound
  std::vector<double> still_off_;  // the same: what it and those behind it take off the bound at most
  std::uint64_t looked_at_ = 0;
};

}  // namespace phaze::schedule
