// Who does the work of a round: threads of this process, or processes on many machines.
//
// Work is a function from a message to a message that depends on nothing else, so that it does not matter who does it,
// when, or in which order; every process makes the same function from the same command line.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "phaze/base/result.h"

namespace phaze::search {

using Work = std::function<std::string(const std::string& task)>;  // called from several threads at once

class Executor {
 public:
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // The answers, in the order of the tasks. What goes wrong elsewhere is an error here.
  virtual Result<std::vector<std::string>> run(const std::vector<std::string>& tasks) = 0;

 protected:
  Executor() = default;
};

// Threads of this process; 0: as many as there are cores.
std::unique_ptr<Executor> make_thread_executor(unsigned threads, Work work);

}  // namespace phaze::search
