// ONNX files of exported transformers, as LayerGraphs.
#pragma once

#include <filesystem>
#include <string_view>

#include "phaze/base/progress.h"
#include "phaze/base/result.h"
#include "phaze/workload/layer_graph.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::workload::onnx {

// Errors name the file and, where there is one, the node. Warnings (unsupported operators, assumed dimensions) are in
// the graph.
Result<LayerGraph> read_onnx(const std::filesystem::path& path, const WorkloadOptions& options, Progress& progress);

// The same from memory; `name` becomes the model's name.
Result<LayerGraph> parse_onnx(std::string_view bytes, std::string name, const WorkloadOptions& options);

}  // namespace phaze::workload::onnx
