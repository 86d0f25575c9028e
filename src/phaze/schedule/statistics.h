// What solving took.
#pragma once

#include <cstdint>

namespace phaze::schedule {

// Counts add up over blocks.
struct Statistics {
  std::uint64_t blocks = 0;           // of two operators or more
  std::uint64_t largest_block = 0;    // operators
  std::uint64_t closed_by_lists = 0;  // blocks whose list schedule met the simple bounds
  std::uint64_t closed_by_phases = 0;
  std::uint64_t closed_by_antichains = 0;
  std::uint64_t closed_by_search = 0;
  std::uint64_t pivots = 0;  // of the antichain LP
  std::uint64_t states = 0;  // expanded by the search
  std::uint64_t passes = 0;
  std::uint64_t milp_nodes = 0;  // of the ILP engine

  Statistics& operator+=(const Statistics& other);
  bool operator==(const Statistics&) const = default;
};

}  // namespace phaze::schedule
