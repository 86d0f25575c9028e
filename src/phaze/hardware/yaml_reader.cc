#include "phaze/hardware/yaml_reader.h"

#include <set>

namespace phaze::hardware {

Status check_keys(const YAML::Node& map) {
  std::set<std::string> seen;
  for (const auto& entry : map)
    if (entry.first.IsScalar() && !seen.insert(entry.first.Scalar()).second)
      return Error{"key '" + entry.first.Scalar() + "' is there twice", line_of(entry.first), "leave one of them out"};
  return Done{};
}

Result<YAML::Node> parse_yaml(std::string_view text) {
  try {
    YAML::Node document = YAML::Load(std::string(text));
    if (!document.IsMap()) return Error{"is not a YAML map", "line 1", "write it as 'key: value' lines"};
    if (const Status once = check_keys(document); !once) return once.error();
    for (const auto& entry : document)
      if (entry.second.IsMap())
        if (const Status once = check_keys(entry.second); !once) return once.error();
    return document;
  } catch (const YAML::Exception& exception) {
    return Error{"is not valid YAML: " + exception.msg, "line " + std::to_string(exception.mark.line + 1)};
  }
}

Result<std::string> scalar(const YAML::Node& node, std::string_view key) {
  if (!node.IsScalar()) return Error{"key '" + std::string(key) + "' needs a plain value", line_of(node)};
  return node.Scalar();
}

}  // namespace phaze::hardware
