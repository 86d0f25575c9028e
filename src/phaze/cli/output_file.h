// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::cli {

// Writes beside the target and renames, so that a failure leaves nothing half written.
Status write_file(const std::filesystem::path& path, std::string_view text);

struct OutputFile {
  std::filesystem::path path;
  std::string text;
};

// All of them, or none: those that are there stay as they are until every text is on the disk.
Status write_files(std::span<const OutputFile> files);

// Graphviz text as a picture, through the `dot` program.
Status write_svg(const std::filesystem::path& path, std::string_view dot);

}  // namespace phaze::cli
