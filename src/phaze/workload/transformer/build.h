// From a TransformerConfig to the LayerGraph of its training step.
#pragma once

#include <cstdint>

#include "phaze/base/result.h"
#include "phaze/workload/layer_graph.h"
#include "phaze/workload/transformer/config.h"

namespace phaze::workload {

enum class AttentionKind : std::uint8_t {
  kEager,  // scores are written out
  kFlash,  // fused and tiled
};

struct WorkloadOptions {
  std::int64_t sequence = 0;    // 0: the model's own
  std::int64_t microbatch = 0;  // 0: one, or what an ONNX file fixes
  TensorParallel parallel;
  AttentionKind attention = AttentionKind::kEager;
  bool fuse = false;

  bool operator==(const WorkloadOptions&) const = default;
};

Result<LayerGraph> build(const TransformerConfig& config, const WorkloadOptions& options);

}  // namespace phaze::workload
