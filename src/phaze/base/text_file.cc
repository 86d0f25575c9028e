#include "phaze/base/text_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace phaze {

Result<std::string> read_text_file(const std::filesystem::path& path) {
  const auto unreadable = [&] {
    return Error{std::string("cannot be read: ") + std::strerror(errno != 0 ? errno : EIO), path.string()};
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Error{"is a folder, not a file", path.string()};
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable();
  std::string text;
  std::array<char, 1 << 16> piece{};
  while (file) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLargestTextFile)
      return Error{"is larger than " + std::to_string(kLargestTextFile >> 20U) + " MiB", path.string(),
                   "name another file"};
  }
  if (file.bad()) return unreadable();
  return text;
}

}  // namespace phaze
