#include "phaze/report/explorer/layer_charts.h"

#include <variant>

#include "phaze/report/json_text.h"
#include "phaze/schedule/solve.h"

namespace phaze::report {
namespace {

using schedule::OpId;

// What an operator holds on a chip that gives each the whole of itself.
Json whole_chip_demand(const workload::Op& op) {
  Json demand = Json::object();
  if (std::holds_alternative<workload::Collective>(op.work)) {
    demand["network"] = 1;
  } else if (std::holds_alternative<workload::VectorWork>(op.work)) {
    demand["vector"] = 1;
  } else {
    demand["tensor"] = 1;
  }
  return demand;
}

Json serial_json(const workload::OpGraph& graph, const cost::OperatorCosts& costs) {
  Json ops = Json::array();
  double now = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const workload::Op& op = graph.op(workload::OpId(i));
    const double seconds = costs.of(graph, workload::OpId(i), costs.all_cores()).seconds;
    ops.push_back({{"id", i},
                   {"name", std::string(graph.name(workload::OpId(i)))},
                   {"start", now},
                   {"finish", now + seconds},
                   {"demand", whole_chip_demand(op)}});
    now += seconds;
  }
  return {{"makespan", now},
          {"lower_bound", now},
          {"status", "serial"},
          {"resources", {{"tensor", 1}, {"vector", 1}, {"network", 1}}},
          {"ops", std::move(ops)}};
}

Json scheduled_json(const schedule::Instance& instance, const schedule::Solution& solution) {
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
          {"status", solution.proof == schedule::Proof::kOptimal ? "optimal" : "feasible"},
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
      if (costs.chip().calibration.serial) {
        one.update(serial_json(pass, costs));
      } else {
        schedule::Instance instance;
        layer_schedule::fill_instance(pass, costs, options, instance);
        Stop stop({.work = states_per_layer});
        one.update(scheduled_json(instance, schedule::solve(instance, {}, stop)));
      }
      list.push_back(std::move(one));
    }
  }
  return text_of(list);
}

}  // namespace phaze::report
