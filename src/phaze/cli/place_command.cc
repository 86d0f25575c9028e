#include <memory>
#include <string>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/place_model.h"
#include "phaze/cli/place_study.h"
#include "phaze/cli/session.h"
#include "phaze/placement/phaze2024/instance_file.h"
#include "phaze/placement/phaze2024/solve.h"
#include "phaze/report/placement_report.h"

namespace phaze::cli {
namespace {

struct PlaceOptions {
  PlaceModelOptions model;
  std::string instance;
};

// An input file of the released 2024 tool.
void place_instance(const PlaceOptions& options, Session& session) {
  namespace p2024 = placement::phaze2024;
  const auto instance = p2024::read_instance(options.instance);
  if (!instance) return session.fail(instance.error());
  const auto solution = p2024::solve(*instance, {.stage_limit = options.model.stage_limit}, session.progress);
  if (solution.termination == p2024::Termination::kStopped) return session.fail({"stopped"});
  if (solution.termination == p2024::Termination::kLimit)
    session.log.warning(
        "the stage limit was reached; only stages along one topological order were tried "
        "(--stage-limit raises it)");
  if (!solution.plan) session.exit_code = kInfeasible;
  session.answer(session.json ? report::placement_json(*instance, solution)
                              : report::placement_text(*instance, solution));
}

// An instance says all there is to say; a limit on stages is one of the problem of 2024.
Status check_flags(const CLI::App& place, const PlaceModelOptions& options, bool has_model) {
  if (has_model)
    return options.study ? check_study_flags(place)
                         : none_given(place, {"--stage-limit"}, "a MODEL without --options phaze");
  for (const CLI::Option* option : place.get_options()) {
    const std::string name = option->get_name();
    if (option->count() > 0 && name != "--instance" && name != "--stage-limit" && name != "--options")
      return Error{"has no meaning beside --instance", name, "leave it out"};
  }
  return Done{};
}

}  // namespace

void add_place_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PlaceOptions>();
  CLI::App& place = *app.add_subcommand("place", "The best way to spread a model over devices");
  place
      .add_option("--instance", options->instance,
                  "Layers and devices in the .json format of the 2024 tool (docs/placement.md)")
      ->type_name("FILE");
  place
      .add_option("--stage-limit", options->model.stage_limit,
                  "Stages to consider in graphs with branches, 56 bytes each (default: 4194304)")
      ->type_name("N")
      ->check(positive_whole_number());
  options->model.add_to(place);
  place.footer(
      "Exit code 3 says that no plan fits; the answer says why.\n\nExamples:\n"
      "  phaze place gpt3-175b --chip a100-80g --devices 1024 --global-batch 1536 --top 5\n"
      "  phaze place --instance layers.json --json");
  place.callback([options, &place, &session] {
    const bool given = !options->model.model.empty();
    if (options->instance.empty() && !given)
      return session.fail({"a MODEL or --instance is missing", "phaze place", "see 'phaze place --help'"});
    if (!options->instance.empty() && given) return session.fail({"cannot stand beside a MODEL", "--instance"});
    if (given && place.count("--global-batch") == 0)
      return session.fail({"--global-batch is required", "phaze place", "see 'phaze place --help'"});
    if (const Status fitting = check_flags(place, options->model, given); !fitting)
      return session.fail(fitting.error());
    if (given) return place_model(options->model, session);
    place_instance(*options, session);
  });
}

}  // namespace phaze::cli
