// What is left of the gap of a block, by the antichain bound and passes of the search (exact.h) as they are planned.
//
// The bound comes first. Its prices are worths for the passes, and say which modes are in no schedule shorter than the
// one at hand: passes are run over the block without these, and whenever a shorter schedule is found there are more.
//
// A pass for the proof looks at states of low bounds first (exact.h), so that it does not matter much how good the
// schedule at hand is; with a goal, all that could reach it is looked at, and in one go.
#pragma once

#include <span>
#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/antichain.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/bounds.h"
#include "phaze/schedule/exact.h"
#include "phaze/schedule/goal.h"
#include "phaze/schedule/search_worth.h"
#include "phaze/schedule/statistics.h"

namespace phaze::schedule {

// From which end passes begin. Some blocks are easier from the back, above all where operators have many modes.
enum class Ends : std::uint8_t {
  kFront,
  kBoth,    // one pass from either; the better one goes on, here and later
  kBetter,  // as found by a pass before
};

// One pass of the search (exact.h), as it is planned.
struct PlannedPass {
  std::size_t width = 0;  // states of a layer
  Ends from = Ends::kBetter;
  bool together = false;                  // all that starts at a moment is placed at once
  std::uint64_t part = 1;                 // it may take one of so many parts of the budget that is left,
  std::uint64_t most = Stop::kUnlimited;  // and no more units than this
  bool whole_or_nothing = false;          // it ends where it has not room enough for a proof
  bool by_bounds = false;                 // it looks at states of low bounds first
};

// With many, local search finds what lists and narrow passes do not, and light operators multiply the states.
inline bool has_many_modes(const Block& block) { return block.modes.size() > 2 * block.size; }

// The first pass over a block is of this width.
constexpr std::size_t kFirstWidth = 16;
// A layer of so many states takes a few hundred megabytes.
constexpr std::size_t kWidest = std::size_t{1} << 20U;

constexpr PlannedPass find_first(Ends from) { return {.width = kFirstWidth, .from = from}; }
constexpr PlannedPass find(std::size_t width) { return {.width = width}; }
constexpr PlannedPass prove(std::uint64_t most, std::uint64_t part = 1) {
  return {.width = kWidest, .together = true, .part = part, .most = most, .whole_or_nothing = true};
}
constexpr PlannedPass prove_or_bound(std::uint64_t most = Stop::kUnlimited, std::uint64_t part = 1) {
  return {.width = kWidest, .together = true, .part = part, .most = most, .by_bounds = true};
}

// One of so many parts of the budget that is left. Without a budget there are none, and a deadline comes at any moment.
std::uint64_t one_of(const Stop& stop, std::uint64_t parts);

// Keeps its memory from one block to the next.
template <std::size_t Words>
class BlockSearch {
 public:
  // Raises the bound, and makes ready for passes to come. True if no schedule is shorter than the one at hand.
  bool settle_by_antichains(const Block& block, Ticks by_phases, const Goal& goal, Stop& stop, BlockResult& result,
                            Statistics& statistics);

  // After that. True if it is worth going on after the last pass: the block is still open and there is work left.
  bool search(const Block& block, std::span<const PlannedPass> passes, const Goal& goal, Stop& stop,
              BlockResult& result, Statistics& statistics);
  // The same for a block as it is, without the antichain bound.
  bool search_plainly(const Block& block, std::span<const PlannedPass> passes, const Goal& goal, Stop& stop,
                      BlockResult& result, Statistics& statistics) {
    set_worths(block, {});
    phases_ = phases_lead_ = false;
    better_ = Direction::kForwards;
    return run(block, passes, goal, stop, result, statistics);
  }

  // The block of the last search, or the same without modes that are of no use.
  const Block& kept() const { return *kept_; }

 private:
  enum class Direction : std::uint8_t { kForwards, kBackwards };

  bool run(const Block& block, std::span<const PlannedPass> passes, const Goal& goal, Stop& stop, BlockResult& result,
           Statistics& statistics);
  PassResult run_one(const Block& block, Direction direction, const PlannedPass& planned, const Goal& goal, Stop& stop,
                     BlockResult& result, Statistics& statistics);
  void turn(const Block& block);
  bool drop_modes(const Block& block, double limit, BlockResult& result);
  void set_worths(const Block& block, std::span<const double> rates);

  AntichainBound<Words> antichains_;
  LayeredSearch<Words> search_;
  SimpleBounds bounds_;
  double antichain_bound_ = 0;   // of the block at hand; 0 if there is none
  const Block* kept_ = nullptr;  // the block at hand, or restricted_
  double dropped_for_ = 0;       // schedules shorter than this need no modes left out
  Block restricted_, reversed_;
  Direction better_ = Direction::kForwards;
  bool phases_ = false;       // they say about as much about the block at hand as antichains
  bool phases_lead_ = false;  // or more
  BlockSchedule found_;
  std::vector<std::uint8_t> keep_;
  std::vector<double> rates_;
  std::vector<SearchWorth> worths_, reversed_worths_;
};

extern template class BlockSearch<1>;
extern template class BlockSearch<2>;
extern template class BlockSearch<4>;

}  // namespace phaze::schedule
