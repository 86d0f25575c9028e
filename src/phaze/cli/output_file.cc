#include "phaze/cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "phaze/cli/output_target.h"

namespace phaze::cli {
namespace {

Error cannot_be_written(const std::filesystem::path& path, const std::string& reason) {
  return {"cannot be written: " + reason, path.string()};
}

// Removes a temporary file at the end of the scope, if it is still there.
class Removing {
 public:
  explicit Removing(std::filesystem::path path) : path_(std::move(path)) {}
  Removing(const Removing&) = delete;
  Removing& operator=(const Removing&) = delete;
  ~Removing() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Status write_whole(const std::filesystem::path& path, std::string_view text, const std::filesystem::path& named) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  if (!file) return cannot_be_written(named, std::strerror(errno != 0 ? errno : EIO));
  return Done{};
}

Status write_all(int descriptor, std::string_view text, const std::filesystem::path& named) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return cannot_be_written(named, std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

Status write_through(const OutputTarget& target, std::string_view text, const std::filesystem::path& named) {
  if (target.descriptor) return write_all(*target.descriptor, text, named);
  const int descriptor = open(target.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) return cannot_be_written(named, std::strerror(errno));
  Status status = write_all(descriptor, text, named);
  if (close(descriptor) != 0 && status) return cannot_be_written(named, std::strerror(errno));
  return status;
}

}  // namespace

Status write_files(std::span<const OutputFile> files) {
  std::vector<OutputTarget> targets;
  targets.reserve(files.size());
  std::deque<Removing> temporaries;
  for (const OutputFile& file : files) {
    auto target = output_target(file.path);
    if (!target) return target.error();
    const std::string suffix = "." + std::to_string(getpid()) + "." + std::to_string(targets.size()) + ".tmp";
    temporaries.emplace_back(target->path.string() + suffix);
    targets.push_back(std::move(*target));
    if (targets.back().stream) continue;
    if (auto status = write_whole(temporaries.back().path(), file.text, file.path); !status) return status;
  }
  // What went into a stream cannot be taken back, and fails where no rename would: first the streams, then the files.
  for (std::size_t i = 0; i < files.size(); ++i)
    if (targets[i].stream)
      if (auto status = write_through(targets[i], files[i].text, files[i].path); !status) return status;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (targets[i].stream) continue;
    std::error_code failure;
    std::filesystem::rename(temporaries[i].path(), targets[i].path, failure);
    if (failure) return cannot_be_written(files[i].path, failure.message());
  }
  return Done{};
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  const OutputFile file{path, std::string(text)};
  return write_files({&file, 1});
}

Status name_different_files(std::span<const OutputOption> options) {
  std::vector<std::pair<std::filesystem::path, const OutputOption*>> files;
  files.reserve(options.size());
  for (const OutputOption& option : options) {
    if (option.path.empty()) continue;
    const auto target = output_target(option.path);
    if (!target) return target.error();
    if (target->stream) continue;
    for (const auto& [path, other] : files)
      if (path == target->path)
        return Error{"'" + option.path.string() + "' is also the file of " + other->name, option.name,
                     "name different files"};
    files.emplace_back(target->path, &option);
  }
  return Done{};
}

}  // namespace phaze::cli
