#include "phaze/search/executor.h"

#include <utility>

#include "phaze/base/in_parallel.h"

namespace phaze::search {
namespace {

class ThreadExecutor final : public Executor {
 public:
  ThreadExecutor(unsigned threads, Work work) : threads_(threads), work_(std::move(work)) {}

  Result<std::vector<std::string>> run(const std::vector<std::string>& tasks) override {
    std::vector<std::string> answers(tasks.size());
    in_parallel(threads_, tasks.size(), [&](std::size_t i) { answers[i] = work_(tasks[i]); });
    return answers;
  }

 private:
  unsigned threads_;
  Work work_;
};

}  // namespace

std::unique_ptr<Executor> make_thread_executor(unsigned threads, Work work) {
  return std::make_unique<ThreadExecutor>(threads, std::move(work));
}

}  // namespace phaze::search
