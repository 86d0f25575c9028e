// Layers with times and bytes, from their operator graphs and a chip.
//
//   cost::Memo memo;
//   const cost::OperatorCosts costs({.chip = cluster.chip, .network = cluster.network}, &memo);
//   const placement::LayerTable table = layer_table(graph, costs, {});
//
// Distinct layers are priced once. How long a pass over a graph takes is decided in one place, pass_time().
#pragma once

#include "phaze/cost/op_cost.h"
#include "phaze/layer_schedule/layer_scheduler.h"
#include "phaze/placement/layers.h"
#include "phaze/workload/layer_graph.h"

namespace phaze::layer_times {

struct TableOptions {
  // Bytes per parameter that adding a microbatch's gradients to those before it moves, beyond what the products of the
  // backward pass write themselves.
  double accumulation_bytes = 0;
  layer_schedule::InstanceOptions schedule;
};

// The makespan of the best schedule; on a GPU, operators one after another, as fast as
// the host sends them off.
placement::PassTime pass_time(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                              layer_schedule::LayerScheduler& scheduler);

// Only layers with an attention core are ever recomputed, as frameworks do: embeddings and the head keep what they
// made. In a model without attention all layers may be.
placement::LayerTable layer_table(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                  const TableOptions& options);

}  // namespace phaze::layer_times
