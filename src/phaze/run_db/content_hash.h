// Names for contents: equal files have equal hashes, and different ones differ unless somebody works at it.
#pragma once

#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::run_db {

// XXH3 of 128 bits as 32 hexadecimal digits.
std::string content_hash(std::string_view text);
// Reads the file in pieces: ONNX files have gigabytes.
Result<std::string> file_hash(const std::string& path);

}  // namespace phaze::run_db
