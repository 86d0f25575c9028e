// Writes a run to its database, one transaction per batch; other processes may read meanwhile.
//
//   auto run = Writer::open("run.db", Writer::Mode::kResume, description);
//   if (!run) return run.error();
//   if (run->fresh()) run->write_problem(models, chips);
//   run->commit({.fates = ...});
//
// Killed at any moment, the file holds everything up to the last commit.
#pragma once

#include <string>
#include <vector>

#include "phaze/run_db/file_lock.h"
#include "phaze/run_db/rows.h"
#include "phaze/run_db/sqlite.h"

namespace phaze::run_db {

class Writer {
 public:
  enum class Mode : std::uint8_t {
    kNew,     // a file that holds a run already is an error
    kResume,  // goes on with the run if it is this one; begins where there is none
  };
  static Result<Writer> open(const std::string& path, Mode mode, const Description& description);

  // Nothing of the problem is in it yet.
  bool fresh() const { return fresh_; }
  // Once, before anything else. Chips are numbered in this order.
  Status write_problem(const std::vector<ModelRow>& models, const std::vector<ChipRow>& chips);
  Status commit(const Batch& batch);
  // Everything into the one file, so that it can be moved or read from a folder that cannot be written, without the
  // states of chips that are settled.
  Status finish();

  // What an earlier process had found out.
  Database& database() { return database_; }

 private:
  Writer(FileLock lock, Database database) : lock_(std::move(lock)), database_(std::move(database)) {}
  Status begin(const Description& description);

  FileLock lock_;  // outlives the connection
  Database database_;
  bool fresh_ = false;
};

}  // namespace phaze::run_db
