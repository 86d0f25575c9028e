#include "phaze/cli/run_schedules.h"

#include "phaze/cost/op_cost.h"
#include "phaze/layer_times/request.h"
#include "phaze/report/explorer/layer_charts.h"

namespace phaze::cli {

std::vector<run_db::Artefact> schedule_documents(const report::SearchAnswer& answer, const search::Problem& problem) {
  std::vector<run_db::Artefact> made;
  const report::FoundChip& best = answer.common;
  for (std::size_t i = 0; i < best.plans.size() && i < problem.workloads.size(); ++i) {
    const report::PlanAnswer& found = best.plans[i];
    if (found.plans.empty()) continue;
    const placement::LayerTable& table = found.request->tables[found.plans.front().plan.strategy.table];
    const layer_times::Workload& workload = problem.workloads[i];
    const hardware::Cluster cluster{best.chips.front(), problem.devices, problem.network};
    const cost::OperatorCosts costs(layer_times::cost_options(workload.options, cluster));
    made.push_back(
        {.search = 0,
         .name = "layer_schedules",
         .model = best.models[i],
         .json = report::layer_schedules_json(workload.graph_of(table), costs,
                                              layer_times::table_options(workload).schedule, found.states_per_layer)});
  }
  return made;
}

}  // namespace phaze::cli
