#include "phaze/cli/output_file.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <string>

namespace phaze::cli {
namespace {

std::filesystem::path beside(const std::filesystem::path& path, std::string_view suffix) {
  return path.string() + "." + std::to_string(getpid()) + std::string(suffix);
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
  if (!file) return Error{std::string("cannot be written: ") + std::strerror(errno != 0 ? errno : EIO), named.string()};
  return Done{};
}

Status move_into_place(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code failure;
  std::filesystem::rename(from, to, failure);
  if (failure) return Error{"cannot be written: " + failure.message(), to.string()};
  return Done{};
}

}  // namespace

Status write_files(std::span<const OutputFile> files) {
  std::deque<Removing> temporaries;
  for (const OutputFile& file : files) {
    // A rename would find out too late.
    std::error_code ignored;
    if (std::filesystem::is_directory(file.path, ignored))
      return Error{"is a folder", file.path.string(), "name a file"};
    temporaries.emplace_back(beside(file.path, "." + std::to_string(temporaries.size()) + ".tmp"));
    if (auto status = write_whole(temporaries.back().path(), file.text, file.path); !status) return status;
  }
  for (std::size_t i = 0; i < files.size(); ++i)
    if (auto status = move_into_place(temporaries[i].path(), files[i].path); !status) return status;
  return Done{};
}

Status write_file(const std::filesystem::path& path, std::string_view text) {
  const OutputFile file{path, std::string(text)};
  return write_files({&file, 1});
}

Status write_svg(const std::filesystem::path& path, std::string_view dot) {
  const Removing source(beside(path, ".dot"));
  const Removing picture(beside(path, ".svg"));
  if (auto status = write_whole(source.path(), dot, path); !status) return status;
  std::string program = "dot", format = "-Tsvg", output = "-o" + picture.path().string(),
              input = source.path().string();
  std::array<char*, 5> arguments = {program.data(), format.data(), output.data(), input.data(), nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, "dot", nullptr, nullptr, arguments.data(), environ) != 0)
    return Error{"needs the 'dot' program of Graphviz", path.string(),
                 "install the package graphviz, or write a .dot file"};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{"Graphviz could not draw the graph", path.string(), "write a .dot file instead"};
  return move_into_place(picture.path(), path);
}

}  // namespace phaze::cli
