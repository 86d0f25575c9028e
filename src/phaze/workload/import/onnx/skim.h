// Reading an ONNX file without its weights, in bounded memory.
//
// An export may carry gigabytes of weights inside the file. Only their shapes matter here, so the file is streamed: the
// protobuf wire format is walked field by field, the payload of every large tensor is skipped, and what remains (nodes,
// shapes, small constants) is handed to the protobuf parser.
#pragma once

#include <filesystem>
#include <istream>

#include "phaze/base/progress.h"
#include "phaze/base/result.h"

namespace onnx {
class ModelProto;
}

namespace phaze::workload::onnx {

// Tensors whose payload is longer than this lose it; shape arithmetic needs no more.
inline constexpr std::uint64_t kLargestPayload = 64U << 10U;
// What may remain of a file after skimming.
inline constexpr std::uint64_t kLargestSkimmed = 128U << 20U;
// Nodes, initializers and descriptions of values; each costs far more memory parsed than in the file.
inline constexpr std::uint64_t kMostEntries = 4U << 20U;

Result<::onnx::ModelProto> skim(std::istream& file, Progress& progress);

Result<::onnx::ModelProto> skim(const std::filesystem::path& path, Progress& progress);

}  // namespace phaze::workload::onnx
