// From a layer's operators on a chip to an instance of the scheduling problem.
//
// Resources are tensor cores, vector cores, the share of HBM bandwidth and the network. Two models:
//   moldable  an operator runs on 1, 2, 4, … all of its cores. A product with a fused epilogue, or fused attention,
//   takes
//             vector cores in proportion to its tensor cores, or one of each. Every mode holds the share of HBM
//             bandwidth that it uses.
//   phaze     the model of 2024: one core, or all cores and nothing beside it; HBM bandwidth is not shared out.
// A chip whose operators are kernels that run one after another (calibration.serial, a GPU) has a model of its own,
// whichever is asked for: an operator has all of its cores and, as a resource, the chip to itself.
// A collective holds the network and no core, so that compute can hide it. Nops take no time and hold nothing.
#pragma once

#include <cstdint>

#include "phaze/cost/op_cost.h"
#include "phaze/schedule/instance.h"
#include "phaze/workload/op_graph.h"

namespace phaze::layer_schedule {

enum class ScheduleModel : std::uint8_t { kMoldable, kPhaze };

struct InstanceOptions {
  ScheduleModel model = ScheduleModel::kMoldable;
  bool share_hbm = true;  // false: bandwidth is not a resource, also in the moldable model
};

// Refills `instance`, whose memory is used again. Operator i of the graph is operator i of the instance.
void fill_instance(const workload::OpGraph& graph, const cost::OperatorCosts& costs, const InstanceOptions& options,
                   schedule::Instance& instance);

}  // namespace phaze::layer_schedule
