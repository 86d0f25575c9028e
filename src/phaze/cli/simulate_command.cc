// phaze simulate PLAN.json: one iteration of a plan, event by event.
#include <memory>
#include <string>

#include "phaze/base/text_file.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/report/plan_report.h"
#include "phaze/sim/trace.h"

namespace phaze::cli {
namespace {

struct SimulateOptions {
  std::string plan;
  std::string trace_file;
};

void simulate_plan(const SimulateOptions& options, Session& session) {
  const auto text = read_text_file(options.plan);
  if (!text) return session.fail(text.error());
  const auto pipeline = report::read_pipeline(*text);
  if (!pipeline) return session.fail(within(options.plan, pipeline.error()));
  const sim::Run run = sim::simulate(*pipeline);
  if (!options.trace_file.empty())
    if (const Status written = write_file(options.trace_file, sim::trace_json(run)); !written)
      return session.fail(written.error());
  session.answer(session.json ? report::simulation_json(*pipeline, run) : report::simulation_text(*pipeline, run));
}

}  // namespace

void add_simulate_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App& simulate = *app.add_subcommand("simulate", "One training iteration of a plan, event by event");
  simulate.add_option("PLAN", options->plan, "What 'phaze place MODEL ... --plan FILE' wrote")->required();
  simulate.add_option("--trace", options->trace_file, "Write the iteration here, for Perfetto")->type_name("FILE");
  simulate.footer("Example:\n  phaze simulate plan.json --trace iteration.json");
  simulate.callback([options, &session] { simulate_plan(*options, session); });
}

}  // namespace phaze::cli
