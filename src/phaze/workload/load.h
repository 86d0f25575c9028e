// MODEL as people name it: a zoo name, a path to a config.json, or a path to an .onnx file.
#pragma once

#include <string>
#include <string_view>

#include "phaze/base/progress.h"
#include "phaze/base/result.h"
#include "phaze/workload/layer_graph.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::workload {

Result<LayerGraph> load_model(std::string_view model, const WorkloadOptions& options, Progress& progress);

// The config.json behind a MODEL, as published; empty where there is none (ONNX) or it cannot be read.
std::string published_config(std::string_view model);

}  // namespace phaze::workload
