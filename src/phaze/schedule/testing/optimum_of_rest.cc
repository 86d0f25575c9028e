#include "phaze/schedule/testing/optimum_of_rest.h"

#include <gtest/gtest.h>

#include <vector>

#include "phaze/schedule/block_solver.h"
#include "phaze/schedule/large.h"

namespace phaze::schedule::testing {

Ticks optimum_of_rest(const Block& block, const OpSet<1>& done) {
  std::vector<std::uint32_t> left_out;
  done.for_each([&](std::size_t i) { left_out.push_back(static_cast<std::uint32_t>(i)); });
  Large rest;
  if (!keep_all_but(block, left_out, rest)) return 0;
  BlockResult best;
  Statistics statistics;
  Stop stop;
  BlockSolver().solve(rest.block, {}, stop, best, statistics);
  EXPECT_TRUE(best.optimal);
  return best.schedule.makespan;
}

}  // namespace phaze::schedule::testing
