#include "phaze/workload/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "phaze/base/text_file.h"
#include "phaze/workload/import/hf/read_config.h"
#include "phaze/workload/import/onnx/read_onnx.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::workload {

Result<LayerGraph> load_model(std::string_view model, const WorkloadOptions& options, Progress& progress) {
  const std::filesystem::path path(model);
  const auto names = zoo_names();
  if (std::ranges::find(names, model) != names.end()) {
    const auto entry = zoo_entry(model);
    if (!entry) return entry.error();
    return build(entry->config, options);
  }
  const bool looks_like_path = model.find('/') != std::string_view::npos || path.has_extension();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return Error{"is a folder", path.string(), "name the config.json or .onnx file in it"};
  if (path.extension() == ".onnx") return onnx::read_onnx(path, options, progress);
  if (path.extension() == ".json" || std::filesystem::is_regular_file(path, ignored)) {
    const auto config = hf::read_config(path);
    if (!config) return config.error();
    auto graph = build(*config, options);
    if (!graph) return within(path.string(), graph.error());
    return graph;
  }
  const auto unknown = zoo_entry(model).error();
  return Error{unknown.message, "MODEL",
               looks_like_path && !unknown.hint.starts_with("did")
                   ? "no such file either; 'phaze model list' lists the zoo"
                   : unknown.hint};
}

std::string published_config(std::string_view model) {
  const auto names = zoo_names();
  if (std::ranges::find(names, model) != names.end()) return zoo_entry(model)->published;
  if (std::filesystem::path(model).extension() == ".onnx") return {};
  const auto text = read_text_file(model);
  return text ? *text : std::string();
}

}  // namespace phaze::workload
