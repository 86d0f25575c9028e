#include "phaze/exports/perfetto.h"

#include <nlohmann/json.hpp>

#include "phaze/base/stop.h"
#include "phaze/cost/op_cost.h"
#include "phaze/layer_schedule/schedule_layer.h"
#include "phaze/report/plan_report.h"
#include "phaze/report/schedule_report.h"
#include "phaze/sim/trace.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::exports {
namespace {

using Json = nlohmann::ordered_json;

// Adds the events of another trace as a process of its own.
void append(Json& trace, const std::string& other, std::int64_t process) {
  Json parsed = Json::parse(other);
  for (Json& event : parsed["traceEvents"]) {
    event["pid"] = process;
    trace["traceEvents"].push_back(std::move(event));
  }
}

std::string layer_trace(const std::string& title, const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                        std::uint64_t states) {
  Stop stop({.work = states});
  const auto [instance, solution] = layer_schedule::schedule_layer(graph, costs, {}, {}, stop);
  std::vector<std::int64_t> ids;
  ids.reserve(instance.size());
  for (std::size_t i = 0; i < instance.size(); ++i) ids.push_back(static_cast<std::int64_t>(i));
  return report::schedule_trace({instance, ids, solution, title});
}

}  // namespace

Result<Exported> perfetto_trace(const PlanDocument& plan, const std::string& text) {
  const auto pipeline = report::read_pipeline(text);
  if (!pipeline) return pipeline.error();
  Exported out;
  Json trace = Json::parse(sim::trace_json(sim::simulate(*pipeline)));
  auto process = static_cast<std::int64_t>(pipeline->devices.size());
  if (!plan.config || !plan.chip) {
    out.notes.emplace_back(
        "The plan carries no model sizes or no chip: the trace has the pipeline, but no layer schedules.");
  } else {
    const auto graph = workload::build(*plan.config, plan.workload());
    if (!graph) return graph.error();
    const cost::OperatorCosts costs(
        {.chip = *plan.chip, .network = plan.network, .fused_softmax = plan.fuse, .under_load = true});
    const auto states = static_cast<std::uint64_t>(plan.states_per_layer);
    for (const workload::Layer& layer : graph->layers) {
      append(trace, layer_trace("layer " + layer.name + " forward", layer.forward, costs, states), process++);
      append(trace, layer_trace("layer " + layer.name + " backward", layer.backward, costs, states), process++);
    }
  }
  out.text = trace.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return out;
}

}  // namespace phaze::exports
