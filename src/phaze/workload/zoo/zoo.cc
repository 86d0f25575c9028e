#include "phaze/workload/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "phaze/base/embedded_file.h"
#include "phaze/base/nearest.h"
#include "phaze/workload/import/hf/read_config.h"

namespace phaze {
std::span<const EmbeddedFile> zoo_files();  // generated from data/zoo
}  // namespace phaze

namespace phaze::workload {

std::vector<std::string> zoo_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : zoo_files()) names.emplace_back(file.name);
  std::ranges::sort(names);
  return names;
}

Result<ZooEntry> zoo_entry(std::string_view name) {
  const auto files = zoo_files();
  const auto file = std::ranges::find(files, name, &EmbeddedFile::name);
  if (file == files.end()) {
    const auto names = zoo_names();
    return Error{fmt::format("there is no model '{}'", name), "", suggest(name, names)};
  }
  const auto document = nlohmann::json::parse(file->text, nullptr, false);
  check(document.is_object(), "files in data/zoo are JSON objects");
  std::string published = document.at("config").dump();
  auto config = hf::parse_config(published, std::string(name));
  if (!config) return within("zoo entry", config.error());
  config->default_sequence = document.value("sequence", config->default_sequence);
  return ZooEntry{.config = std::move(*config),
                  .source = document.at("source").get<std::string>(),
                  .note = document.value("note", ""),
                  .published_parameters = document.at("published_parameters").get<std::int64_t>(),
                  .published = std::move(published)};
}

}  // namespace phaze::workload
