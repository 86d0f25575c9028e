// mpirun -n N draws_on_ranks DRAWS CHIPS: searches over chips drawn at random from the space of 2024, for three models
// and all objectives in turn, find the same on the ranks of this job as on one thread: answer, gap, and what became of
// every chip by which bound. Ends with 1 where they do not.
#include <cstdio>
#include <cstdlib>

#include "phaze/search/chip_work.h"
#include "phaze/search/mpi_world.h"
#include "phaze/search/testing/random_problem.h"

namespace phaze::search {
namespace {

bool same(const Outcome& a, const Outcome& b) {
  bool equal = a.best == b.best && a.pruned_at == b.pruned_at && a.gap == b.gap && a.optimal == b.optimal;
  for (std::size_t chip = 0; chip < a.chips.size(); ++chip) {
    const ChipRecord &one = a.chips[chip], &other = b.chips[chip];
    equal = equal && one.fate == other.fate && one.level == other.level && one.bound == other.bound &&
            one.score == other.score;
  }
  return equal;
}

int run(std::uint32_t draws, std::size_t chips) {
  MpiWorld world;
  int differing = 0;
  for (std::uint32_t seed = 0; seed < draws; ++seed) {
    const Problem problem = random_problem(300 + seed, chips, 3);
    if (!world.leads()) {
      ChipWorker worker(problem);
      world.serve(1, [&](const std::string& task) { return worker(task); });
      continue;
    }
    const Outcome together =
        outcome_of(problem, {.executor = [&](Work work) { return world.make_executor(1, std::move(work)); }});
    if (same(together, outcome_of(problem, {.threads = 1}))) continue;
    ++differing;
    std::fprintf(stderr, "seed %u differs on %d ranks\n", seed, world.size());
  }
  return differing == 0 ? 0 : 1;
}

}  // namespace
}  // namespace phaze::search

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: draws_on_ranks DRAWS CHIPS\n");
    return 2;
  }
  return phaze::search::run(static_cast<std::uint32_t>(std::atoi(arguments[1])),
                            static_cast<std::size_t>(std::atoi(arguments[2])));
}
