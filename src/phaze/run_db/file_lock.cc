#include "phaze/run_db/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace phaze::run_db {

Result<FileLock> FileLock::acquire(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) return Error{std::string("cannot be written: ") + std::strerror(errno), path};
  FileLock lock(descriptor);
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = off_t{1} << 62;
  range.l_len = 1;
  // A lock of the open file, not of the process: it survives that SQLite closes descriptors of the same file.
  if (fcntl(descriptor, F_OFD_SETLK, &range) == 0) return lock;
  if (errno == EAGAIN || errno == EACCES)
    return Error{"another process is working on it", path, "wait for its end, or give --out another name"};
  return Error{std::string("cannot be locked: ") + std::strerror(errno), path};
}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

}  // namespace phaze::run_db
