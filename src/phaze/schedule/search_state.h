// A state of the search over a block (exact.h): what the future needs to know of a schedule's beginning.
#pragma once

#include <cstdint>

#include "phaze/schedule/block.h"
#include "phaze/schedule/op_set.h"

namespace phaze::schedule {

// An operator that has started and not finished.
struct Running {
  std::uint32_t op, mode;
  Ticks finish;
};

template <std::size_t Words>
struct SearchState {
  OpSet<Words> placed;
  OpSet<Words> barred;               // from exclusive modes
  OpSet<Words> barred_before_group;  // when the group of what runs began
  Ticks time = 0;
  Ticks alone = 0;  // what is unplaced takes one after another
  double bound = 0;
  double rank = 0;
  std::uint32_t step = 0;          // how it came about
  std::uint32_t group = 0;         // the step of the state that the group began from
  bool bound_by_phases = false;    // its bound counts phases (phase_rest.h) in
  bool bound_by_machines = false;  // and machines (machine_rest.h)
  bool needless = false;           // all of the group could as well run alone
};

}  // namespace phaze::schedule
