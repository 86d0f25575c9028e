#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phaze/baselines/compare.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/run_record.h"
#include "phaze/cli/search_answer.h"
#include "phaze/cli/search_request.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/report/compare_report.h"
#include "phaze/search/mpi_world.h"

namespace phaze::cli {
namespace {

struct Options {
  SearchRequest request;
  baselines::BayesianOptions bayesian;
  RunFile database;
};

// The co-search as `phaze search` would leave it, and the comparison beside it: one report shows both. What was not
// reached is no result, so that a comparison that was stopped is not kept.
Status keep(search::Ledger& ledger, const report::CompareAnswer& compared, const report::SearchAnswer& answer) {
  const bool complete = !compared.comparison->stopped;
  std::vector<run_db::Artefact> made = documents(answer, *compared.problem);
  if (complete) made.push_back({.search = 0, .name = "comparison", .json = report::compare_json(compared)});
  const bool finished = complete && settled(answer, compared.problem->workloads.size());
  return ledger.finish(std::move(made), finished ? run_db::RunStatus::kFinished : run_db::RunStatus::kStopped);
}

void compare_command(const Options& options, const CLI::App& app, Session& session) {
  const auto started = std::chrono::steady_clock::now();
  if (const search::MpiWorld world; world.size() > 1)
    return session.fail({"runs in one process, not in " + std::to_string(world.size()), "phaze compare",
                         "start it without mpirun or srun; 'phaze search' runs in many"});
  const auto completed_request = completed(options.request);
  if (!completed_request) return session.fail(completed_request.error());
  const SearchRequest& request = *completed_request;
  if (request.problem.objective == search::Objective::kPareto)
    return session.fail({"a front has no one chip to compare", "--objective", "choose another objective"});
  auto reference = hardware::load_chip(request.baseline);
  if (!reference) return session.fail(reference.error());
  auto space = hardware::load_space(request.space);
  if (!space) return session.fail(space.error());
  const auto problem = make_problem(request, session);
  if (!problem) return session.fail(problem.error());
  std::optional<search::Ledger> ledger;
  if (!options.database.path.empty()) {
    auto opened = options.database.open(app, session.arguments, request, *problem);
    if (!opened) return session.fail(opened.error());
    ledger.emplace(std::move(*opened));
  }
  search::Options kept = request.search;
  kept.limit = search::Limit::kEachRun;
  kept.ledger = ledger ? &*ledger : nullptr;
  search::Search cosearch(*problem, kept);
  auto compared = baselines::compare(*problem, request.models, *reference, cosearch,
                                     {.search = request.search, .bayesian = options.bayesian}, session.progress);
  if (!compared) return session.fail(compared.error());
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  };
  const report::CompareAnswer answer{.comparison = &*compared,
                                     .problem = &*problem,
                                     .reference = reference->name,
                                     .largest_area = space->limits.max_area_um2,
                                     .seconds = elapsed()};
  if (ledger) {
    PlanStore store;
    auto found = make_answer(cosearch, *problem, request, std::move(compared->cosearches), store, session);
    if (!found) return session.fail(found.error());
    found->seconds = elapsed();
    if (const Status written = keep(*ledger, answer, *found); !written) return session.fail(written.error());
  }
  session.answer(session.json ? report::compare_json(answer) : report::compare_text(answer));
  if (interrupted()) session.fail({"stopped"});
}

}  // namespace

void add_compare_command(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("compare", "Co-search beside what it claims to beat");
  const auto options = std::make_shared<Options>();
  options->request.add_to(command);
  command.add_option("--budget", options->bayesian.budget, "Evaluations of each Bayesian search (default: 64)")
      ->check(positive_whole_number())
      ->type_name("N");
  command.add_option("--seed", options->bayesian.seed, "Of the Bayesian searches (default: 1)")
      ->check(positive_whole_number())
      ->type_name("N");
  options->database.add_to(command);
  command.footer("Example:\n  phaze compare bert-large gpt2-xl --space phaze --devices 1024 --global-batch 4096");
  command.callback([options, &command, &session] { compare_command(*options, command, session); });
}

}  // namespace phaze::cli
