#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/cli/chip_options.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/model_options.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/layer_schedule/schedule_layer.h"
#include "phaze/report/schedule_report.h"
#include "phaze/schedule/instance_file.h"
#include "phaze/schedule/solve.h"
#include "phaze/workload/load.h"

namespace phaze::cli {
namespace {

struct ScheduleOptions {
  std::string instance, trace;
  double time_limit = 0;  // seconds; 0: none
  ModelOptions model;
  ChipOptions chip;
  std::string layer;
  bool backward = false;
  layer_schedule::InstanceOptions problem;
  std::int64_t node_limit = 1'000'000;
  schedule::SolveOptions solve;
};

// A schedule, wherever its operators came from.
struct Answer {
  std::string title;
  schedule::NamedInstance named;
  schedule::Solution solution;
  Stop::Reason ended_by = Stop::Reason::kNone;
};

// The layer that was named, or the one that the model repeats most, among equals the one with most operators.
Result<const workload::Layer*> layer_of(const workload::LayerGraph& graph, const std::string& name) {
  std::vector<std::string> names;
  const workload::Layer* chosen = nullptr;
  std::pair<std::int64_t, std::size_t> most;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const workload::Layer& layer = graph.layers[i];
    if (layer.name == name) return &layer;
    names.push_back(layer.name);
    if (const std::pair weight(graph.repeat(workload::LayerId(i)), layer.forward.size()); weight > most) {
      most = weight;
      chosen = &layer;
    }
  }
  if (!name.empty()) return Error{"'" + graph.model + "' has no layer '" + name + "'", "--layer", suggest(name, names)};
  return chosen;
}

Result<Answer> scheduled_layer(const ScheduleOptions& options, const Stop::Limits& limits, Session& session) {
  if (options.chip.chip.empty()) return Error{"--chip is required", "phaze schedule", "name a chip such as tpuv4"};
  const auto cluster = options.chip.load();
  if (!cluster) return cluster.error();
  const auto graph = workload::load_model(options.model.model, options.model.workload, session.progress);
  if (!graph) return graph.error();
  for (const std::string& warning : graph->warnings) session.log.warning(warning);
  const auto layer = layer_of(*graph, options.layer);
  if (!layer) return layer.error();
  const workload::OpGraph& pass = options.backward ? (*layer)->backward : (*layer)->forward;
  const cost::OperatorCosts costs(
      {.chip = cluster->chip, .network = cluster->network, .fused_softmax = options.model.workload.fuse});
  Stop stop(limits);
  auto [instance, solution] = layer_schedule::schedule_layer(pass, costs, options.problem, options.solve, stop);
  std::vector<std::int64_t> ids(instance.size());
  std::iota(ids.begin(), ids.end(), 0);
  return Answer{.title = graph->model + " " + (*layer)->name + (options.backward ? " backward" : " forward"),
                .named = {std::move(instance), std::move(ids)},
                .solution = std::move(solution),
                .ended_by = stop.reason()};
}

Result<Answer> scheduled_instance(const ScheduleOptions& options, const Stop::Limits& limits) {
  auto named = schedule::read_instance(options.instance);
  if (!named) return named.error();
  Stop stop(limits);
  schedule::Solution solution = schedule::solve(named->instance, options.solve, stop);
  return Answer{options.instance, std::move(*named), std::move(solution), stop.reason()};
}

Result<Answer> answer(const ScheduleOptions& options, const Stop::Limits& limits, Session& session) {
  if (!options.model.model.empty() && !options.instance.empty())
    return Error{"cannot stand beside a model", "--instance"};
  if (!options.model.model.empty()) return scheduled_layer(options, limits, session);
  if (options.instance.empty())
    return Error{"nothing to schedule", "phaze schedule", "name a model and --chip, or a file with --instance"};
  return scheduled_instance(options, limits);
}

void run(const ScheduleOptions& options, Session& session) {
  Stop::Limits limits{.work = static_cast<std::uint64_t>(options.node_limit), .requested = &interrupted};
  if (options.time_limit > 0) limits.seconds = options.time_limit;
  const auto found = answer(options, limits, session);
  if (!found) return session.fail(found.error());
  const report::ScheduleView view{found->named.instance, found->named.ids, found->solution, found->title};
  if (!options.trace.empty()) {
    const Status written = write_file(options.trace, report::schedule_trace(view));
    if (!written) return session.fail(written.error());
    session.log.info("wrote " + options.trace);
  }
  session.answer(session.json ? report::schedule_json(view) : report::schedule_text(view));
  // What was found is kept and shown; the exit code says that it is not the last word.
  if (found->ended_by == Stop::Reason::kRequested && session.exit_code == kAnswered) session.exit_code = kInterrupted;
}

}  // namespace

void add_schedule_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ScheduleOptions>();
  CLI::App& command = *app.add_subcommand("schedule", "The shortest schedule of a layer's operators, with a proof");
  options->model.add_to(command, false);
  options->chip.add_to(command, false);
  command
      .add_option("--layer", options->layer,
                  "Which layer, by its name in 'phaze model show' (default: the one repeated most)")
      ->type_name("NAME");
  add_choice<bool>(command, "--pass", options->backward, {{"forward", false}, {"backward", true}},
                   "Which pass (default: forward)");
  using layer_schedule::ScheduleModel;
  add_choice<ScheduleModel>(command, "--schedule-model", options->problem.model,
                            {{"moldable", ScheduleModel::kMoldable}, {"phaze", ScheduleModel::kPhaze}},
                            "moldable: 1, 2, 4, ... cores and shared bandwidth; phaze: one core or the whole chip, as "
                            "in 2024 (default: moldable); a GPU runs operators one after another");
  command
      .add_option("--instance", options->instance, "A JSON file with resources, operators and their modes, and edges")
      ->type_name("FILE");
  using schedule::Engine;
  add_choice<Engine>(command, "--solver", options->solve.engine, {{"exact", Engine::kExact}, {"ilp", Engine::kIlp}},
                     "exact: bounds and a search of its own; ilp: a mixed-integer program (default: exact)");
  add_time(command, "--time-limit", options->time_limit,
           "Stop after so long, like 500ms or 2s, with the best schedule so far and a bound (default: none)");
  command
      .add_option("--node-limit", options->node_limit,
                  "Stop after so many states of the search, the same on every machine (default: 1000000)")
      ->check(positive_whole_number())
      ->type_name("N");
  add_share(command, "--gap", options->solve.gap,
            "Good enough: schedules that are shorter by no more than this, like 1% or 0.001, are not looked for "
            "(default: 0, the shortest)");
  command.add_option("--trace", options->trace, "Also write the schedule for Perfetto or chrome://tracing")
      ->type_name("FILE");
  command.footer(
      "Examples:\n"
      "  phaze schedule gpt2-xl --chip tpuv4 --pass backward --trace backward.trace.json\n"
      "  phaze schedule --instance layer.json --trace layer.trace.json\n"
      "\n"
      "  {\"resources\": {\"tc\": 8, \"hbm\": 1.0},\n"
      "   \"ops\": [{\"id\": 0, \"name\": \"qkv\", \"modes\": [{\"duration\": 1.5e-3, \"demand\": {\"tc\": 1, \"hbm\": "
      "0.35}}]}],\n"
      "   \"edges\": []}");
  command.callback([options, &session] { run(*options, session); });
}

}  // namespace phaze::cli
