// One process at a time on one file, until it ends, however it ends.
#pragma once

#include <optional>
#include <string>

#include "phaze/base/result.h"

namespace phaze::run_db {

// Locks one byte far behind the end of the file, which the operating system gives free when the process is gone. SQLite
// locks other bytes, so readers are not disturbed.
class FileLock {
 public:
  // Creates the file if it is not there. An error where another process holds it.
  static Result<FileLock> acquire(const std::string& path);

  FileLock(FileLock&& other) noexcept : descriptor_(other.descriptor_) { other.descriptor_ = -1; }
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace phaze::run_db
