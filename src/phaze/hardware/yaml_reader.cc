#include "phaze/hardware/yaml_reader.h"

#include <fstream>
#include <iterator>

namespace phaze::hardware {
namespace {

constexpr std::uintmax_t kLargestFile = 1U << 20U;

}  // namespace

Result<YAML::Node> parse_yaml(std::string_view text) {
  try {
    YAML::Node document = YAML::Load(std::string(text));
    if (!document.IsMap()) return Error{"is not a YAML map", "line 1", "write it as 'key: value' lines"};
    return document;
  } catch (const YAML::Exception& exception) {
    return Error{"is not valid YAML: " + exception.msg, "line " + std::to_string(exception.mark.line + 1)};
  }
}

Result<std::string> read_text_file(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure))
    return Error{failure ? "cannot be read: " + failure.message() : "is not a file", path.string()};
  if (std::filesystem::file_size(path, failure) > kLargestFile) return Error{"is larger than 1 MiB", path.string()};
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return Error{"cannot be read", path.string()};
  return text;
}

Result<std::string> scalar(const YAML::Node& node, std::string_view key) {
  if (!node.IsScalar()) return Error{"key '" + std::string(key) + "' needs a plain value", line_of(node)};
  return node.Scalar();
}

}  // namespace phaze::hardware
