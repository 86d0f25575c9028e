#include "phaze/cli/svg.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace phaze::cli {
namespace {

struct Closing {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Temporary = std::unique_ptr<std::FILE, Closing>;  // has no name, and goes with its last user

// Runs `dot -Tsvg` from one file into the other. False: there is no such program.
bool run_dot(std::FILE* from, std::FILE* into, int& status) {
  posix_spawn_file_actions_t redirections;
  posix_spawn_file_actions_init(&redirections);
  posix_spawn_file_actions_adddup2(&redirections, fileno(from), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&redirections, fileno(into), STDOUT_FILENO);
  std::string program = "dot", format = "-Tsvg";
  std::array<char*, 3> arguments = {program.data(), format.data(), nullptr};
  pid_t child = 0;
  const int failure = posix_spawnp(&child, "dot", &redirections, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&redirections);
  if (failure != 0) return false;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return true;
}

std::string text_of(std::FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 65536> part{};
  while (const std::size_t size = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), size);
  return text;
}

}  // namespace

Result<std::string> svg_of(std::string_view dot) {
  const Temporary source(std::tmpfile()), picture(std::tmpfile());
  const bool written = source != nullptr && picture != nullptr &&
                       std::fwrite(dot.data(), 1, dot.size(), source.get()) == dot.size() &&
                       std::fflush(source.get()) == 0 && std::fseek(source.get(), 0, SEEK_SET) == 0;
  if (!written) return Error{std::string("needs a temporary file: ") + std::strerror(errno)};
  int status = 0;
  if (!run_dot(source.get(), picture.get(), status))
    return Error{"needs the 'dot' program of Graphviz", "", "install the package graphviz, or write a .dot file"};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{"Graphviz could not draw the graph", "", "write a .dot file instead"};
  return text_of(picture.get());
}

}  // namespace phaze::cli
