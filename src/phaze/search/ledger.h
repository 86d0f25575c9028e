// What a search has found out, kept in a run database between rounds, and taken up again from there.
//
// A search writes what changed since its last entry, always between two rounds, in one transaction. Rounds follow from
// the records and states of the chips alone, so that a process that takes them up does what the first one would have
// done.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "phaze/run_db/writer.h"
#include "phaze/search/chip_work.h"
#include "phaze/search/search.h"

namespace phaze::search {

class Ledger {
 public:
  // With `resume`, goes on with the run in the file, if it is this one; begins where there is none.
  static Result<Ledger> open(const std::string& path, bool resume, const run_db::Description& description,
                             const Problem& problem);

  // What an earlier process wrote.
  struct SavedState {
    std::size_t chip = 0;
    std::size_t model = 0;
    std::string saved;
  };
  Result<std::vector<SavedState>> states();
  struct SavedSearch {
    bool ended = false;  // every chip is accounted for
    std::vector<std::pair<std::size_t, ChipRecord>> records;
  };
  Result<SavedSearch> search(std::size_t search);

  struct Entry {
    std::size_t search = 0;
    const std::vector<std::size_t>* models = nullptr;
    const Outcome* outcome = nullptr;
    run_db::RunStatus status = run_db::RunStatus::kRunning;
    std::vector<std::size_t> records;  // chips whose record changed
    struct Change {
      std::size_t chip = 0;
      std::size_t model = 0;
      const ModelState* state = nullptr;
    };
    std::vector<Change> states;
  };
  // Entries wait for a moment, so that many rounds share a transaction.
  bool due() const { return Clock::now() >= next_; }
  Status write(const Entry& entry);

  // Documents about the answer; afterwards the file is complete.
  Status finish(std::vector<run_db::Artefact> artefacts, run_db::RunStatus status);

 private:
  using Clock = std::chrono::steady_clock;
  Ledger(run_db::Writer writer, const Problem& problem, double seconds_before)
      : writer_(std::move(writer)), problem_(&problem), seconds_before_(seconds_before) {}
  double seconds() const;

  run_db::Writer writer_;
  const Problem* problem_;
  double seconds_before_;  // of earlier processes
  Clock::time_point started_ = Clock::now();
  Clock::time_point next_ = started_;
};

}  // namespace phaze::search
