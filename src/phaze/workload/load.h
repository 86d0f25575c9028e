// MODEL as people name it: a zoo name, a path to a config.json, or a path to an .onnx file.
#pragma once

#include <string_view>

#include "phaze/base/progress.h"
#include "phaze/base/result.h"
#include "phaze/workload/layer_graph.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::workload {

Result<LayerGraph> load_model(std::string_view model, const WorkloadOptions& options, Progress& progress);

}  // namespace phaze::workload
