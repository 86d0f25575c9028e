#include "phaze/cli/output_target.h"

#include <unistd.h>

#include <string>

namespace phaze::cli {
namespace {

namespace fs = std::filesystem;

// As many as Linux follows.
constexpr int kMostLinks = 40;

// /proc/self/fd/1 names what is open as 1. Opened anew it would be written from its start, over what is there.
std::optional<int> open_descriptor(const fs::path& path) {
  const std::string number = path.filename();
  if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos) return {};
  std::error_code failure;
  if (fs::canonical(path.parent_path(), failure) != "/proc/" + std::to_string(getpid()) + "/fd") return {};
  return std::stoi(number);
}

// The folder by the one name that no link is part of.
fs::path spelled_once(const fs::path& path) {
  std::error_code failure;
  const fs::path folder = fs::weakly_canonical(fs::absolute(path).parent_path(), failure);
  return failure ? path : folder / path.filename();
}

}  // namespace

Result<OutputTarget> output_target(const fs::path& named) {
  fs::path path = named;
  for (int links = 0; links <= kMostLinks; ++links) {
    if (const auto descriptor = open_descriptor(path)) return OutputTarget{path, true, descriptor};
    std::error_code failure;
    switch (fs::symlink_status(path, failure).type()) {
      case fs::file_type::directory: return Error{"is a folder", named.string(), "name a file"};
      case fs::file_type::block:
      case fs::file_type::character:
      case fs::file_type::fifo:
      case fs::file_type::socket: return OutputTarget{path, true, {}};
      case fs::file_type::symlink: {
        const fs::path next = fs::read_symlink(path, failure);
        if (failure) return Error{"cannot be written: " + failure.message(), named.string()};
        path = path.parent_path() / next;
        break;
      }
      default: return OutputTarget{spelled_once(path), false, {}};
    }
  }
  return Error{"is a link that leads back to itself", named.string(), "name a file"};
}

}  // namespace phaze::cli
