// The least time per batch that any placement of a chain of layers needs, in microseconds instead of milliseconds.
//
// A strategy of p stages and d replicas runs m = ⌈B/(b·d)⌉ microbatches and takes (plan.h)
//
//   v = 1   (m − 1)·max L + Σ L + E(first)          v > 1   m·max L + (Σ L − max L)/v + E(first)
//
// Let T be the time of all layers, H that of the heaviest, F_e and G_e forward plus backward, and backward alone, of
// the first e layers, a the least time of one message between stages, and [0, e) the first stage. Then
//   - Σ L ≥ T + 2(p − 1)·a; L of the first stage ≥ F_e + a; the slowest of the others ≥ their mean; max L ≥ H.
//   - E ≥ max(0, R − G_e, R + A − F_e), R and A being reduce-scatter and all-gather of the first stage's gradients and
//     parameters among the replicas. An all-reduce is no shorter than both. Under ZeRO-1 each hides behind one pass
//     over the stage; under ZeRO-2 and ZeRO-3 they hide behind the passes of a microbatch, and L grows by what shows
//     instead.
//   - Interleaved, max L ≥ max(T/p, H) + (2v − 1)·a, and p divides m.
// Collectives move (d − 1)/d of their bytes over the fastest links there are. The bound is the least over p, all
// classes of d with equal m (each at its fewest replicas), e and v. Every term grows with the times of the layers, so
// least times of layers give a least time of the batch; memory is left out, which only adds plans.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/hardware/network.h"
#include "phaze/placement/training.h"

namespace phaze::search {

class PlacementBound {
 public:
  struct Times {
    double forward = 0;
    double backward = 0;
  };

  PlacementBound(const placement::LayerTable& table, const placement::Training& training, std::int64_t devices,
                 const hardware::Network& network);

  // `times` by kind of layer. Infinite where the bound is at least `below`.
  double least_seconds(const std::vector<Times>& times, double below) const;

 private:
  std::vector<std::uint32_t> nodes_;  // kinds
  std::vector<double> reduce_;        // of the first e layers, by e: seconds for all bytes
  std::vector<double> gather_;
  std::int64_t batch_ = 1, microbatch_ = 1;
  std::int64_t groups_ = 1;  // of tensor-parallel ranks in the cluster
  double message_ = 0;       // a
};

}  // namespace phaze::search
