// Whole files of text that people write: chips, instances, plans.
#pragma once

#include <filesystem>
#include <string>

#include "phaze/base/result.h"

namespace phaze {

// Far more than any of them needs: what is larger was named by mistake.
inline constexpr std::size_t kLargestTextFile = std::size_t{64} << 20;

// The text, from a file or a pipe; an error names the path and what is wrong with it.
Result<std::string> read_text_file(const std::filesystem::path& path);

}  // namespace phaze
