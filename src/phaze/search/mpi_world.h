// The processes of one search on many machines, as mpirun or srun started them; one alone in a build without MPI, or
// without such a launcher.
//
//   MpiWorld world;
//   if (!world.leads()) return world.serve(threads, work);   // until the leader's executor is gone
//   Search search(problem, {.executor = [&](Work work) { return world.make_executor(threads, work); }});
//
// Rank 0 leads: it alone decides, prints and writes. It hands out the tasks of a round as workers ask for more, and
// its own threads take from the same pile. Bundles of tasks shrink towards the end of a round (guided self-scheduling,
// Polychronopoulos and Kuck 1987), so that neither messages nor the slowest worker cost much.
#pragma once

#include <memory>
#include <string>

#include "phaze/base/result.h"
#include "phaze/search/executor.h"

namespace phaze::search {

// What the launcher says in the environment: 0 without one. Needs no MPI.
int launched_rank();

class MpiWorld {
 public:
  MpiWorld();
  ~MpiWorld();  // NOLINT(performance-trivially-destructible): trivial only in builds without MPI
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool leads() const { return rank_ == 0; }

  // To be called by all: success where all have succeeded, otherwise everywhere the error of the first that has not.
  Status agree(const Status& own);
  // Ends all processes at once, for one that cannot go on while others wait for it.
  [[noreturn]] void abort(int code);
  // For the leader, with `threads` of its own.
  std::unique_ptr<Executor> make_executor(unsigned threads, Work work);
  // For the others: works until the leader's executor is destroyed.
  void serve(unsigned threads, const Work& work);

 private:
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace phaze::search
