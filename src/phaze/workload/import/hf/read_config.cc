#include "phaze/workload/import/hf/read_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "phaze/base/json_reader.h"
#include "phaze/base/nearest.h"
#include "phaze/base/text_file.h"
#include "phaze/workload/import/hf/families.h"

namespace phaze::workload::hf {
namespace {

// Rotary and relative positions have no hard limit, and some configurations allow a million tokens: train at most this
// by default.
constexpr std::int64_t kLongestDefaultSequence = 8192;

// "model_type", or, in files that lack it, the family that the class name starts with.
Result<const Family*> find_family(ConfigReader& read) {
  const std::string type = read.text("model_type", "");
  const auto classes = read.texts("architectures");
  if (read.error()) return *read.error();
  for (const Family& family : families())
    if (family.model_type == type) return &family;
  std::string known;
  for (const std::string& name : known_families()) known += (known.empty() ? "" : ", ") + name;
  if (!type.empty())
    return Error{fmt::format("unknown architecture '{}'", type), "key 'model_type'", "known: " + known};
  if (!classes.empty()) {
    std::string start = classes.front().substr(0, std::min(classes.front().find("For"), classes.front().find("Model")));
    std::ranges::transform(start, start.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    for (const Family& family : families()) {
      std::string plain(family.model_type);
      std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
      if (plain == start || (start == "rw" && plain == "falcon")) return &family;
    }
    return Error{fmt::format("unknown architecture '{}'", classes.front()), "key 'architectures'", "known: " + known};
  }
  return Error{"missing", "key 'model_type'", "known: " + known};
}

}  // namespace

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const Family& family : families()) names.emplace_back(family.model_type);
  return names;
}

Result<TransformerConfig> parse_config(std::string_view text, std::string name) {
  const auto document = parse_json<nlohmann::json>(text);
  if (!document) return document.error();
  if (!document->is_object()) return Error{"is not a JSON object", "", "expected a Hugging Face config.json"};
  ConfigReader read(*document);
  const auto family = find_family(read);
  if (!family) return family.error();
  TransformerConfig config{.name = std::move(name), .family = std::string((*family)->model_type)};
  (*family)->read(read, config);
  if (read.error()) return *read.error();
  if (config.embedding_size == 0) config.embedding_size = config.hidden;
  if (config.max_sequence == 0 && config.image_size == 0)
    config.default_sequence = std::min(config.default_sequence, kLongestDefaultSequence);
  return config;
}

Result<TransformerConfig> read_config(const std::filesystem::path& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  std::string name = path.stem().string();
  if (name == "config" && path.has_parent_path())
    name = std::filesystem::absolute(path).parent_path().filename().string();
  if (name.ends_with(".config")) name.resize(name.size() - 7);
  auto config = parse_config(*text, std::move(name));
  if (!config) return within(path.string(), config.error());
  return config;
}

}  // namespace phaze::workload::hf
