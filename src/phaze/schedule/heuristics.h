// List scheduling: good schedules of a block in microseconds.
//
// Operators are taken in the order of a priority; a mode rule says in which mode each runs.
//  - The parallel scheme walks through time and starts what fits, most urgent first. It never leaves a resource idle
//  that
//    a ready operator could use.
//  - The serial scheme takes operators in a fixed order and puts each at the earliest time at which it fits, also
//  before
//    operators placed earlier. Some order and choice of modes leads it to an optimal schedule (Kolisch 1996), which is
//    not true of the parallel scheme.
//  - Forward-backward improvement (Li and Willis 1992): place operators again from the end, latest finish first, then
//    from the start, earliest start first, as long as that shortens the schedule. Modes may change on the way.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/schedule/block.h"

namespace phaze::schedule {

enum class ModeRule : std::uint8_t {
  kFastest,         // the shortest mode, waiting for it if need be
  kEarliestFinish,  // whichever ends first, given what is free
  kThrifty,         // the mode that takes the least share of its scarcest resource times duration
};

enum class Priority : std::uint8_t {
  kLongestTail,  // least total time left behind it
  kMostWork,     // largest share of a resource times duration, itself and all behind it
};

class ListScheduler {
 public:
  // Tries the rules in turn until the makespan is at most `enough`. `best` holds the best schedule found.
  void run(const Block& block, Ticks enough, BlockSchedule& best);

  // Every operator alone in its fastest mode.
  static void run_serially(const Block& block, BlockSchedule& schedule);

  // Places `order` (a permutation in which predecessors come first) by the serial scheme, with the mode of every
  // operator given. Gives up, and returns false, as soon as the schedule would not end before `limit`.
  bool serial_scheme(const Block& block, const std::vector<std::uint32_t>& order,
                     const std::vector<std::uint32_t>& modes, Ticks limit, BlockSchedule& schedule);
  // Shortens `schedule` from both ends. `reversed` is the block with time running backwards.
  void improve(const Block& block, const Block& reversed, BlockSchedule& schedule);

 private:
  // Both schemes with a mode rule; they, too, give up where they would not end before `limit`. The thrifty modes must
  // have been found.
  bool parallel_scheme(const Block& block, const std::vector<double>& urgency, ModeRule rule, Ticks limit,
                       BlockSchedule& schedule);
  bool serial_scheme(const Block& block, const std::vector<std::uint32_t>& order, ModeRule rule, Ticks limit,
                     BlockSchedule& schedule);
  void start_serial_scheme(const Block& block, BlockSchedule& schedule);
  Ticks earliest_start(const Block& block, std::size_t op) const;
  void place(const Block& block, std::size_t op, const BlockPlacement& placement, BlockSchedule& schedule);
  void set_urgency(const Block& block, Priority priority);
  void find_thrifty_modes(const Block& block);
  // The earliest start of `mode` at or after `earliest` in the profile.
  Ticks earliest_fit(const Block& block, std::size_t mode, Ticks earliest) const;
  void occupy(const Block& block, std::size_t mode, Ticks start);

  // What is held from moments_[i] to moments_[i + 1]; the last piece lasts for ever.
  std::vector<Ticks> moments_;
  std::vector<Units> held_;
  std::vector<double> urgency_;
  std::vector<std::uint32_t> thrifty_;  // per operator: the mode of the least work
  std::vector<double> least_work_;
  std::vector<std::uint64_t> finished_;  // operators, as bits
  std::vector<std::uint32_t> order_, waiting_, running_;
  std::vector<Ticks> finish_;
  std::vector<Units> free_;
  BlockSchedule candidate_, other_;
};

}  // namespace phaze::schedule
