#include "phaze/search/executor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

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

void in_parallel(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      next = count;
    }
  };
  {
    std::vector<std::jthread> crew;
    const std::size_t size = std::min<std::size_t>(threads, count);
    crew.reserve(size);
    for (std::size_t t = 1; t < size; ++t) crew.emplace_back(loop);
    loop();
  }
  if (failure) std::rethrow_exception(failure);
}

std::unique_ptr<Executor> make_thread_executor(unsigned threads, Work work) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  return std::make_unique<ThreadExecutor>(threads, std::move(work));
}

}  // namespace phaze::search
