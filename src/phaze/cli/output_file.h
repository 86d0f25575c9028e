// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::cli {

// Writes beside the target and renames, so that a failure leaves nothing half written. Links stay and lead to the new
// text; devices and pipes are written through.
Status write_file(const std::filesystem::path& path, std::string_view text);

struct OutputFile {
  std::filesystem::path path;
  std::string text;
};

// All of them, or none: those that are there stay as they are until every text is on the disk.
Status write_files(std::span<const OutputFile> files);

struct OutputOption {
  std::string name;
  std::filesystem::path path;  // empty: not given
};

// An error where two of them name one file, however they spell it: the later would replace the earlier. Commands with
// several outputs ask this before they compute anything.
Status name_different_files(std::span<const OutputOption> options);

}  // namespace phaze::cli
