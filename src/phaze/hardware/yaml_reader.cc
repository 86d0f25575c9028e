#include "phaze/hardware/yaml_reader.h"

namespace phaze::hardware {
Result<YAML::Node> parse_yaml(std::string_view text) {
  try {
    YAML::Node document = YAML::Load(std::string(text));
    if (!document.IsMap()) return Error{"is not a YAML map", "line 1", "write it as 'key: value' lines"};
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
