// Layers with times and bytes, from their operator graphs and a chip.
//
//   cost::Memo memo;
//   const cost::OperatorCosts costs({.chip = cluster.chip, .network = cluster.network}, &memo);
//   const placement::LayerTable table = layer_table(graph, costs, {});
//
// Distinct layers are priced once. How long a pass over a graph takes is decided in one place, pass_time(). Who prices
// the same model on many chips keeps a LayerPricer.
#pragma once

#include <deque>
#include <vector>

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
  schedule::Engine engine = schedule::Engine::kExact;
  // Which part of a pass is communication is for people to see; a search does without and saves every second schedule.
  bool communication = true;
  schedule::BlockMemo* memo = nullptr;  // of schedules, shared between chips; must outlive the pricing
};

// The makespan of the best schedule; on a GPU, operators one after another, as fast as the host sends them off.
struct TimedPass {
  placement::PassTime time;
  double lower_bound = 0;  // seconds: below the time where the schedule is not proven optimal
};
TimedPass pass_time(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                    layer_schedule::LayerScheduler& scheduler, const TableOptions& options = {});

// Only layers with an attention core are ever recomputed, as frameworks do: embeddings and the head keep what they
// made. In a model without attention all layers may be.
class LayerPricer {
 public:
  // The graph must outlive it.
  explicit LayerPricer(const workload::LayerGraph& graph);

  // All times zero: what of a table does not depend on the chip.
  const placement::LayerTable& untimed() const { return untimed_; }
  // What of a layer's forward pass runs again under selective recompute; none where the layer is never recomputed.
  const workload::OpGraph* recomputed(std::size_t layer) const { return recomputed_[layer]; }

  struct Tables {
    placement::LayerTable times;
    placement::LayerTable lower_bounds;  // empty where all schedules are proven optimal
  };
  Tables price(const cost::OperatorCosts& costs, const TableOptions& options) const;

  // Tighter tables from those known, which have lower bounds: a bound is raised as far as its goal, and no further;
  // passes with goals that they have reached are left as they are. To show that no schedule is shorter than a goal
  // takes a fraction of what it takes to find the shortest, the lower the goal the less.
  Tables bound(const cost::OperatorCosts& costs, const TableOptions& options, const Tables& known,
               const placement::LayerTable& goals) const;

 private:
  const workload::LayerGraph* graph_;
  placement::LayerTable untimed_;
  std::deque<workload::OpGraph> selective_;
  std::vector<const workload::OpGraph*> recomputed_;  // by layer
};

placement::LayerTable layer_table(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                  const TableOptions& options);

}  // namespace phaze::layer_times
