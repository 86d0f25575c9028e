// YAML maps with errors that name line and key. Private to the readers of this part.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::hardware {

inline std::string line_of(const YAML::Node& node) { return "line " + std::to_string(node.Mark().line + 1); }

// The document, which must be a map. Errors name the line.
Result<YAML::Node> parse_yaml(std::string_view text);

// What a name must end in to be a file whatever else it may look like. A preset comes before a file of the same name.
inline bool is_yaml_name(std::string_view name) { return name.ends_with(".yaml") || name.ends_with(".yml"); }

// The text of a plain value.
Result<std::string> scalar(const YAML::Node& node, std::string_view key);

}  // namespace phaze::hardware
