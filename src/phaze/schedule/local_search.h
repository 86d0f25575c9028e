// Better schedules of a block from a good one, by small changes.
//
// A schedule is encoded as an order of operators and a mode for each; the serial scheme (heuristics.h) turns the two
// into starts. A change moves one operator elsewhere in the order or gives it another mode. Changes are kept by late
// acceptance (Burke and Bykov 2017): a schedule replaces the one at hand when it is no longer than that, or than the
// one a fixed number of changes ago. What lists cannot see is found this way: that it pays to run a vector operator
// slowly, in a mode that leaves the bandwidth which products beside it need.
//
// It starts from the schedule given, or from one made for this: operators that leave alone the resource with the most
// work take slow modes, which hold less of the others, in the order of the longest rest behind them.
//
// The changes follow a generator of fixed seed, so that the same block always gets the same schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/heuristics.h"

namespace phaze::schedule {

class LocalSearch {
 public:
  // Shortens `schedule` until it takes at most `enough`, `tries` changes have been tried, or `stop` says so. A unit of
  // `stop` pays for kTriesPerUnit of them.
  void improve(const Block& block, Ticks enough, std::uint64_t tries, Stop& stop, BlockSchedule& schedule);

 private:
  static constexpr std::uint64_t kTriesPerUnit = 4;

  void start_from(const Block& block, const BlockSchedule& schedule);
  void start_sparingly(const Block& block, std::size_t scarcest, Units most);
  std::size_t below(std::size_t bound);
  bool change(const Block& block);
  bool move(const Block& block, std::size_t position);

  ListScheduler lists_;
  std::uint64_t random_ = 0;
  std::vector<std::uint32_t> order_, modes_, changed_order_, changed_modes_;
  std::vector<Ticks> rest_, history_;
  BlockSchedule candidate_;
};

}  // namespace phaze::schedule
