// Pictures of graphs.
#pragma once

#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::cli {

// Graphviz text as a picture, through the `dot` program.
Result<std::string> svg_of(std::string_view dot);

}  // namespace phaze::cli
