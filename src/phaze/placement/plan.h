// A plan: how a model is spread over devices, and what that costs.
//
// Devices are numbered from the inside of the network out: tensor-parallel ranks are neighbours, and then come either
// the data-parallel replicas of a stage or the stages of a pipeline (Order). With v > 1 a pipeline is interleaved: the
// chain is cut into p·v chunks, and device s of a pipeline runs chunks s, p + s, 2p + s, ...
//
// Time per batch of m microbatches, with load L_s = forward + recompute + backward + arrivals of stage s:
//
//   v = 1   (m − 1)·max L + Σ L                 the first microbatch passes all stages, the slowest paces the others
//   v > 1   m·max L + (Σ L − max L)/v           the ramp is one chunk high instead of a stage
//
// and behind it max over s of E_s − (L_1 + ... + L_{s−1})/v. E_s is what stage s does once per batch behind its last
// backward pass: the part of reducing its gradients that the pass does not hide, on the first stage the all-reduce of
// tied embeddings between first and last stage, the optimizer step, and under ZeRO the part of gathering new parameters
// that the next forward pass does not hide. Stage s ends so much earlier, and starts into the next batch so much later
// than the first, that the loads in front of it are its head start.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "phaze/placement/layers.h"

namespace phaze::placement {

enum class Order : std::uint8_t { kDataInside, kPipelineInside };
inline constexpr std::array<Order, 2> kOrders = {Order::kDataInside, Order::kPipelineInside};

struct Strategy {
  std::size_t table = 0;  // of the request: width, microbatch, sequence parallelism
  std::int64_t pipeline = 1;
  std::int64_t data_parallel = 1;
  std::int64_t interleave = 1;
  int zero = 0;
  Order order = Order::kDataInside;
  bool operator==(const Strategy&) const = default;
};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Range&) const = default;
};

// One position in the pipeline: its chunks (one unless interleaved) and what it recomputes.
struct Stage {
  std::vector<Range> chunks;
  Recompute recompute = Recompute::kNone;
  bool operator==(const Stage&) const = default;
};

struct Plan {
  Strategy strategy;
  std::vector<Stage> stages;
  bool operator==(const Plan&) const = default;
};

struct Memory {
  double parameters = 0;
  double gradients = 0;
  double optimizer = 0;
  double activations = 0;  // kept for the backward passes of microbatches in flight
  double workspace = 0;    // activations of the layer that is recomputed; parameters gathered under ZeRO-3
  double total() const { return parameters + gradients + optimizer + activations + workspace; }
  bool operator==(const Memory&) const = default;
};

}  // namespace phaze::placement
