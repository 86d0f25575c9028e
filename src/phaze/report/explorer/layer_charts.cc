#include "phaze/report/explorer/layer_charts.h"

#include <string_view>

#include "phaze/layer_schedule/schedule_layer.h"
#include "phaze/report/json_text.h"

namespace phaze::report {
namespace {

using schedule::OpId;

std::string_view status_of(const schedule::Solution& solution, const cost::OperatorCosts& costs) {
  if (costs.chip().calibration.serial) return "serial";
  return solution.proof == schedule::Proof::kOptimal ? "optimal" : "feasible";
}

Json scheduled_json(const layer_schedule::ScheduledLayer& layer, std::string_view status) {
  const auto& [instance, solution] = layer;
  Json resources = Json::object(), ops = Json::array();
  for (const schedule::Resource& resource : instance.resources) resources[resource.name] = resource.capacity;
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const schedule::Placement& placed = solution.schedule.ops[i];
    Json demand = Json::object();
    for (std::size_t k = 0; k < instance.resources.size(); ++k)
      if (const double amount = instance.demand(OpId(i), placed.mode)[k]; amount > 0)
        demand[instance.resources[k].name] = amount;
    ops.push_back({{"id", i},
                   {"name", std::string(instance.name(OpId(i)))},
                   {"start", placed.start},
                   {"finish", placed.finish},
                   {"demand", std::move(demand)}});
  }
  return {{"makespan", solution.schedule.makespan},
          {"lower_bound", solution.lower_bound},
          {"status", status},
          {"resources", std::move(resources)},
          {"ops", std::move(ops)}};
}

}  // namespace

std::string layer_schedules_json(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                 const layer_schedule::InstanceOptions& options, std::uint64_t states_per_layer) {
  Json list = Json::array();
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const workload::Layer& layer = graph.layers[i];
    for (const bool backward : {false, true}) {
      const workload::OpGraph& pass = backward ? layer.backward : layer.forward;
      if (pass.empty()) continue;
      Json one = {{"layer", layer.name},
                  {"repeat", graph.repeat(workload::LayerId(i))},
                  {"pass", backward ? "backward" : "forward"}};
      Stop stop({.work = states_per_layer});
      const auto scheduled = layer_schedule::schedule_layer(pass, costs, options, {}, stop);
      one.update(scheduled_json(scheduled, status_of(scheduled.solution, costs)));
      list.push_back(std::move(one));
    }
  }
  return text_of(list);
}

}  // namespace phaze::report
