// A build without MPI.
#include <cstdlib>

#include "phaze/search/mpi_world.h"

namespace phaze::search {

int launched_rank() { return 0; }

MpiWorld::MpiWorld() = default;
MpiWorld::~MpiWorld() = default;

void MpiWorld::abort(int code) { std::_Exit(code); }

Status MpiWorld::agree(const Status& own) { return own; }

std::unique_ptr<Executor> MpiWorld::make_executor(unsigned threads, Work work) {
  return make_thread_executor(threads, std::move(work));
}

void MpiWorld::serve(unsigned, const Work&) {}

}  // namespace phaze::search
