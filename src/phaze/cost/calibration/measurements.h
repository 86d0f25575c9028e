// Measured times of a real chip, in the format that scripts/measure-gpu writes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/workload/op.h"

namespace phaze::cost {

// A[m][k] · B[k][n], and the products of its gradients.
struct MeasuredGemm {
  std::string name;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  double forward = 0, input_gradient = 0, weight_gradient = 0;  // seconds
};

struct MeasuredVector {
  workload::VectorOp op = workload::VectorOp::kOther;
  std::int64_t tokens = 0, hidden = 0;
  double forward = 0, forward_backward = 0;  // seconds
};

// A pre-norm transformer block.
struct MeasuredLayer {
  std::string name;
  std::int64_t microbatch = 1, sequence = 0;
  std::int64_t hidden = 0, heads = 0, kv_heads = 0, feed_forward = 0;
  bool gated = false, causal = false, rms_norm = false, dropout = false, flash = false;
  double forward = 0, forward_backward = 0;  // seconds
  double saved_bytes = 0;
};

// A large product on a chip at rest, and after seconds of nothing else.
struct MeasuredSustained {
  std::int64_t m = 0, n = 0, k = 0;
  double burst = 0, sustained = 0;  // seconds
};

struct Measurements {
  std::string device;
  std::vector<MeasuredGemm> gemms;
  std::vector<MeasuredVector> vectors;
  std::vector<MeasuredLayer> layers;
  std::vector<MeasuredSustained> sustained;
};

Result<Measurements> load_measurements(const std::string& path);
Result<Measurements> parse_measurements(std::string_view text);

}  // namespace phaze::cost
