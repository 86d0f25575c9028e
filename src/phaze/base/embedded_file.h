// A text file compiled into the binary (see cmake/EmbedFiles.cmake).
#pragma once

#include <span>
#include <string_view>

namespace phaze {

struct EmbeddedFile {
  std::string_view name;  // file name without its extension
  std::string_view text;
};

}  // namespace phaze
