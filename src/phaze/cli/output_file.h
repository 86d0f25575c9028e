// Files that appear whole or not at all.
#pragma once

#include <filesystem>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::cli {

// Writes beside the target and renames, so that a failure leaves nothing half written.
Status write_file(const std::filesystem::path& path, std::string_view text);

// Graphviz text as a picture, through the `dot` program.
Status write_svg(const std::filesystem::path& path, std::string_view dot);

}  // namespace phaze::cli
