// What an output option names: a file, which may be made anew, or something that is only ever written through.
#pragma once

#include <filesystem>
#include <optional>

#include "phaze/base/result.h"

namespace phaze::cli {

struct OutputTarget {
  std::filesystem::path path;  // links followed, so that two spellings of one file are one path
  bool stream = false;         // a device, a pipe or an open file of this process: whoever replaced it would break it
  std::optional<int> descriptor;  // of a stream that is open already, such as /dev/stdout
};

// Errors name `named`, which need not be there yet. A folder is an error.
Result<OutputTarget> output_target(const std::filesystem::path& named);

}  // namespace phaze::cli
