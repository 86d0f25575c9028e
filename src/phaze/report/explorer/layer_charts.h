// When the operators of every layer of a model run on a chip, for the page and for the run database.
#pragma once

#include <cstdint>
#include <string>

#include "phaze/cost/op_cost.h"
#include "phaze/layer_schedule/layer_instance.h"
#include "phaze/workload/layer_graph.h"

namespace phaze::report {

// A JSON list: every distinct layer, forward and backward, each with `layer`, `repeat`, `pass`, `resources` and the
// keys of `phaze schedule --json`, `mode` apart, which numbers the modes of an instance that is not there. `status` is
// "serial" on a chip whose operators run one after another.
std::string layer_schedules_json(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                 const layer_schedule::InstanceOptions& options = {},
                                 std::uint64_t states_per_layer = 20'000);

}  // namespace phaze::report
