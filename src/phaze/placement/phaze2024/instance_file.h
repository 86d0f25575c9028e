// Reads the input files of the 2024 placement tool.
//
//   {"maxMemoryPerDevice": 17179869184, "maxDevices": 16, "bandwidth": 25e9, "mbsInBatch": 512,
//    "activationRecomputation": true, "optimizerAlgorithm": "Adam",
//    "nodes": {"1": [{"id": 0, "parameterSize": 1e9, "activationSize": 1e8, "optimalLatencyFw": 0.1,
//                     "optimalLatencyBw": 0.2, "isTensorParallelized": false}, ...], "2": [...]},
//    "edges": {"1": [{"sourceId": 0, "destId": 1, "communicationCost": 1e7}, ...], "2": [...]},
//    "fixedPP": 4, "fixedTMPC": 2, "fixedDP": 2, "numTransformerLayers": 96}
//
// The last four keys describe an expert plan and may be absent together. Whole numbers may be written as 8 or 8.0, for
// the released tool's own scripts write the latter.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "phaze/base/result.h"
#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

// The instance in a file, validated. Errors name the file and the key.
Result<Instance> read_instance(const std::filesystem::path& path);

// The same from text; `name` stands for the file in errors.
Result<Instance> parse_instance(std::string_view text, const std::string& name);

}  // namespace phaze::placement::phaze2024
