// Collectives among a group of devices: the best of ring, tree and hierarchical algorithms over the levels it spans.
//
// For S bytes (the whole tensor) among n devices at bandwidth B and latency L per step:
//   ring          all-reduce 2·(n−1)/n·S/B + 2·(n−1)·L; reduce-scatter and all-gather half of it
//   tree          all-reduce 2·⌈log2 n⌉·L + 2·S/B; the others half of it
//   hierarchical  reduce-scatter inside, the collective across on S/inner, all-gather inside. Where a block has fewer
//                 devices of the group than others, each of them carries more: (n−f)/n·S/(f·B) to a block with f
//   torus         rings along every side at once, S shared out over them: 2·(n−1)/n·S/(links·B) + 2·Σ(side−1)·L, where
//                 a side that wraps round gives two links and an open one gives one
// A flat ring or tree over several levels runs at the slowest level's bandwidth and the largest latency. Where groups
// crowd on one port (hardware/group.h), every algorithm does with what that leaves.
#pragma once

#include <span>
#include <string_view>

#include "phaze/cost/estimate.h"
#include "phaze/hardware/group.h"
#include "phaze/workload/op.h"

namespace phaze::cost {

struct CollectiveCost {
  double seconds = 0;
  std::string_view algorithm = "none";
};

CollectiveCost collective_cost(workload::CollectiveKind kind, double bytes,
                               std::span<const hardware::GroupLevel> levels);

}  // namespace phaze::cost
