// Can what is free at a moment fill it?
//
// Between the time of a state of the search (exact.h) and the first finish of all that runs then, nothing becomes free
// to start. So a set X of operators that are free at that time starts there, possibly none, and what X and those
// running leave unused until the first of them finishes is lost for good. If the bound with that loss cannot beat the
// best schedule, for any X that fits, the state leads nowhere. Of the many mixtures of modes that begin to fill a
// moment most end so: what is left free is then too little for any mode of what is there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/search_worth.h"

namespace phaze::schedule {

struct Running {
  std::uint32_t op, mode;
  Ticks finish;
};

struct Moment {
  struct Free {
    std::uint32_t op;
    bool barred;  // from exclusive modes
  };

  Ticks time = 0;
  std::span<const Running> running;  // by rising finish; at least one
  std::span<const Free> free;
  std::span<const double> left;  // per worth: what the unplaced operators are worth
  double limit = 0;              // bounds of this or more are too high
};

// Keeps its memory from one moment to the next.
class MomentFiller {
 public:
  // The block and its worths must outlive their use here.
  void prepare(const Block& block, const std::vector<SearchWorth>& worths) {
    block_ = &block;
    worths_ = &worths;
  }

  // False if no set is good enough. Looks at some tens of sets, the fastest modes first; where there are more and none
  // of these will do, it says yes.
  bool can_fill(const Moment& moment);

 private:
  // What runs until the first of it finishes.
  struct Filling {
    Ticks until = 0;
    std::vector<Units> free;    // per resource
    std::vector<double> rates;  // per worth: what is earned a tick
    std::vector<double> fixed;  // per worth: the bound at `until`, less what depends on that
  };

  bool can_fill(const Moment& moment, std::size_t depth, std::size_t first);
  bool is_good_enough(const Filling& filling, double limit) const;
  bool add(const Moment& moment, const Moment::Free& free, std::size_t mode, const Filling& filling,
           Filling& with) const;

  const Block* block_ = nullptr;
  const std::vector<SearchWorth>* worths_ = nullptr;
  std::vector<Filling> fillings_;  // those on the way to the one at hand; others are there for their memory
  std::size_t tried_ = 0;
};

}  // namespace phaze::schedule
