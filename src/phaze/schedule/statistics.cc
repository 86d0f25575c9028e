#include "phaze/schedule/statistics.h"

#include <algorithm>

namespace phaze::schedule {

Statistics& Statistics::operator+=(const Statistics& other) {
  blocks += other.blocks;
  largest_block = std::max(largest_block, other.largest_block);
  closed_by_lists += other.closed_by_lists;
  closed_by_phases += other.closed_by_phases;
  closed_by_antichains += other.closed_by_antichains;
  closed_by_search += other.closed_by_search;
  pivots += other.pivots;
  states += other.states;
  passes += other.passes;
  milp_nodes += other.milp_nodes;
  return *this;
}

}  // namespace phaze::schedule
