// YAML maps with errors that name line and key. Private to the readers of this part.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "phaze/base/result.h"

namespace phaze::hardware {

inline std::string line_of(const YAML::Node& node) { return "line " + std::to_string(node.Mark().line + 1); }

// An error where a key is there twice: the parser keeps all values of a key and finds the first; a reader might take
// the last.
Status check_keys(const YAML::Node& map);

// The document, which must be a map. Its keys are checked, and those of the maps in it; maps in lists are for those who
// read them. Errors name the line.
Result<YAML::Node> parse_yaml(std::string_view text);

// What a name must end in to be a file whatever else it may look like. A preset comes before a file of the same name.
inline bool is_yaml_name(std::string_view name) { return name.ends_with(".yaml") || name.ends_with(".yml"); }

// The text of a plain value.
Result<std::string> scalar(const YAML::Node& node, std::string_view key);

}  // namespace phaze::hardware
