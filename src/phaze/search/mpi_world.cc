#include "phaze/search/mpi_world.h"

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <thread>
#include <utility>

#include "phaze/base/bytes.h"
#include "phaze/base/in_parallel.h"

namespace phaze::search {
namespace {

enum Tag : int { kTasks = 1, kAnswers = 2, kDismissed = 3 };

// A message of MPI counts its bytes in an int.
constexpr std::size_t kMostBytes = std::size_t{1} << 28;

// Waiting without burning a core that a worker could use.
void rest() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

const char* launcher_variable() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* value = std::getenv(name)) return value;  // NOLINT(concurrency-mt-unsafe): nobody sets it
  return nullptr;
}

void send(const std::string& bytes, int rank, Tag tag) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

struct Message {
  int rank = 0;
  int tag = 0;
  std::string bytes;
};

// The next message if there is one.
bool receive(Message& message) {
  int there = 0;
  MPI_Message handle = MPI_MESSAGE_NULL;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &handle, &status);
  if (there == 0) return false;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  message.rank = status.MPI_SOURCE;
  message.tag = status.MPI_TAG;
  message.bytes.resize(static_cast<std::size_t>(size));
  MPI_Mrecv(message.bytes.data(), size, MPI_BYTE, &handle, &status);
  return true;
}

class MpiExecutor final : public Executor {
 public:
  MpiExecutor(int size, unsigned threads, Work work) : threads_(threads), work_(std::move(work)) {
    for (int rank = 1; rank < size; ++rank) idle_.push_back(rank);
  }
  MpiExecutor(const MpiExecutor&) = delete;
  MpiExecutor& operator=(const MpiExecutor&) = delete;
  ~MpiExecutor() override {
    for (const int rank : idle_) send("", rank, kDismissed);
  }

  Result<std::vector<std::string>> run(const std::vector<std::string>& tasks) override {
    std::vector<std::string> answers(tasks.size());
    std::atomic<std::size_t> next = 0;
    std::exception_ptr own_failure;
    std::atomic<bool> own_done = false;
    Error failure;
    const std::size_t workers = idle_.size();
    {
      std::jthread crew([&] {
        try {
          in_parallel(threads_, tasks.size(), [&](std::size_t) {
            const std::size_t i = next++;
            if (i < tasks.size()) answers[i] = work_(tasks[i]);
          });
        } catch (...) {
          own_failure = std::current_exception();
          next = tasks.size();
        }
        own_done = true;
      });
      Message message;
      while (true) {
        while (!idle_.empty() && next < tasks.size()) {
          const std::string bundle = take(tasks, next, workers);
          if (bundle.empty()) break;
          send(bundle, idle_.back(), kTasks);
          idle_.pop_back();
        }
        if (receive(message)) {
          idle_.push_back(message.rank);
          if (!unpack(message, answers, failure)) next = tasks.size();
        } else if (own_done && idle_.size() == workers && next >= tasks.size()) {
          break;
        } else {
          rest();
        }
      }
    }
    if (own_failure) std::rethrow_exception(own_failure);
    if (!failure.message.empty()) return failure;
    return answers;
  }

 private:
  // A share of what is left that gets smaller as less is left.
  std::string take(const std::vector<std::string>& tasks, std::atomic<std::size_t>& next, std::size_t workers) const {
    ByteWriter bundle;
    const std::size_t begun = next;
    if (begun >= tasks.size()) return {};
    const std::size_t share = std::max<std::size_t>(1, (tasks.size() - begun) / (4 * (workers + 1)));
    for (std::size_t n = 0; n < share && bundle.bytes().size() < kMostBytes; ++n) {
      const std::size_t i = next++;
      if (i >= tasks.size()) break;
      bundle.put(i);
      bundle.put_text(tasks[i]);
    }
    return bundle.bytes();
  }

  static bool unpack(const Message& message, std::vector<std::string>& answers, Error& failure) {
    ByteReader reader(message.bytes);
    const std::string said(reader.get_text());
    if (!said.empty()) {
      failure = {said, "rank " + std::to_string(message.rank)};
      return false;
    }
    while (!reader.whole() && !reader.missing()) {
      const auto i = reader.get<std::size_t>();
      answers.at(i) = reader.get_text();
    }
    return true;
  }

  unsigned threads_;
  Work work_;
  std::vector<int> idle_;
};

// What went wrong, or nothing, and then the answers.
std::string do_bundle(const std::string& bundle, unsigned threads, const Work& work) {
  std::vector<std::pair<std::size_t, std::string>> tasks;
  ByteReader reader(bundle);
  while (!reader.whole() && !reader.missing()) {
    const auto i = reader.get<std::size_t>();
    tasks.emplace_back(i, reader.get_text());
  }
  std::string failure;
  try {
    in_parallel(threads, tasks.size(), [&](std::size_t i) { tasks[i].second = work(tasks[i].second); });
  } catch (...) {
    failure = caught().message;
  }
  ByteWriter writer;
  writer.put_text(failure);
  if (!failure.empty()) return writer.bytes();
  for (const auto& [i, answer] : tasks) {
    writer.put(i);
    writer.put_text(answer);
  }
  return writer.bytes();
}

}  // namespace

int launched_rank() {
  const char* rank = launcher_variable();
  return rank == nullptr ? 0 : std::atoi(rank);
}

MpiWorld::MpiWorld() {
  if (launcher_variable() == nullptr) return;
  int provided = 0;
  // Threads work; the one that made the world talks.
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiWorld::~MpiWorld() {
  int begun = 0;
  MPI_Initialized(&begun);
  if (begun != 0) MPI_Finalize();
}

void MpiWorld::abort(int code) {
  MPI_Abort(MPI_COMM_WORLD, code);
  std::_Exit(code);
}

Status MpiWorld::agree(const Status& own) {
  if (size_ == 1) return own;
  const int none = std::numeric_limits<int>::max();
  const int mine = own ? none : rank_;
  int first = none;
  MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (first == none) return Done{};
  ByteWriter writer;
  if (first == rank_) {
    writer.put_text(own.error().message);
    writer.put_text(own.error().place);
    writer.put_text(own.error().hint);
  }
  std::string bytes = writer.bytes();
  std::uint64_t size = bytes.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, first, MPI_COMM_WORLD);
  bytes.resize(size);
  MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, first, MPI_COMM_WORLD);
  ByteReader reader(bytes);
  Error error;
  error.message = reader.get_text();
  error.place = reader.get_text();
  error.hint = reader.get_text();
  if (first > 0) error = within("rank " + std::to_string(first), std::move(error));
  return error;
}

std::unique_ptr<Executor> MpiWorld::make_executor(unsigned threads, Work work) {
  if (size_ == 1) return make_thread_executor(threads, std::move(work));
  return std::make_unique<MpiExecutor>(size_, threads, std::move(work));
}

void MpiWorld::serve(unsigned threads, const Work& work) {
  Message message;
  while (true) {
    if (!receive(message))
      rest();
    else if (message.tag == kDismissed)
      return;
    else
      send(do_bundle(message.bytes, threads, work), 0, kAnswers);
  }
}

}  // namespace phaze::search
