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
  std::uint64_t states_per_layer = 20'000;  // how long a schedule is searched for before its gap is accepted
  // Which part of a pass is communication is for people to see; a search does without and saves every second schedule.
  bool communication = true;
  // Times are lower bounds: below the makespan where a schedule is not proven optimal.
  bool lower_bounds = false;
};

// The makespan of the best schedule; on a GPU, operators one after another, as fast as
// the host sends them off.
placement::PassTime pass_time(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                              layer_schedule::LayerScheduler& scheduler, const TableOptions& options = {},
                              bool* proven = nullptr);

// Only layers with an attention core are ever recomputed, as frameworks do: embeddings and the head keep what they
// made. In a model without attention all layers may be. `proven`, if given, becomes false where a schedule is not
// proven optimal.
placement::LayerTable layer_table(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                  const TableOptions& options, bool* proven = nullptr);

// The same with all times zero: what of a table does not depend on the chip.
placement::LayerTable untimed_table(const workload::LayerGraph& graph);

}  // namespace phaze::layer_times
