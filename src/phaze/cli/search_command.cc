#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/run_record.h"
#include "phaze/cli/search_answer.h"
#include "phaze/cli/search_request.h"
#include "phaze/cli/session.h"
#include "phaze/report/search_report.h"
#include "phaze/search/chip_work.h"
#include "phaze/search/ledger.h"
#include "phaze/search/mpi_world.h"
#include "phaze/search/search.h"

namespace phaze::cli {
namespace {

using search::Search;

struct SearchCommand {
  SearchRequest request;
  RunFile database;
};

// Over all models, and with several of them for each alone.
Result<std::vector<search::Outcome>> run_all(Search& search, std::size_t models, Session& session) {
  std::vector<std::vector<std::size_t>> searches(1);
  for (std::size_t model = 0; model < models; ++model) searches.front().push_back(model);
  for (std::size_t model = 0; models > 1 && model < models; ++model) searches.push_back({model});
  std::vector<search::Outcome> outcomes;
  for (const std::vector<std::size_t>& chosen : searches) {
    if (!outcomes.empty() && interrupted()) break;
    auto outcome = search.run(chosen, session.progress);
    if (!outcome) return outcome.error();
    outcomes.push_back(std::move(*outcome));
  }
  if (outcomes.size() > 1)
    if (const Status tightened = search.tighten(0, outcomes.front()); !tightened) return tightened.error();
  return outcomes;
}

// What a process has to have before the work begins.
struct Prepared {
  std::optional<search::Problem> problem;
  std::optional<search::Ledger> ledger;      // of the leader
  std::optional<search::ChipWorker> worker;  // of the others
};

// Throws nothing: what goes wrong in one process, be it memory, is for all of them to know.
Status prepare(const SearchCommand& command, const SearchRequest& request, bool leads, const CLI::App& app,
               Session& session, Prepared& prepared) {
  try {
    auto problem = make_problem(request, session);
    if (!problem) return problem.error();
    prepared.problem = std::move(*problem);
    if (!leads) prepared.worker.emplace(*prepared.problem);
    if (!leads || command.database.path.empty()) return Done{};
    auto opened = command.database.open(app, session.arguments, request, *prepared.problem);
    if (!opened) return opened.error();
    prepared.ledger.emplace(std::move(*opened));
    return Done{};
  } catch (...) {
    return caught();
  }
}

void search_in(search::MpiWorld& world, const SearchCommand& command, const CLI::App& app, Session& session) {
  const auto started = std::chrono::steady_clock::now();
  auto completed_request = completed(command.request);
  if (const Status ready = world.agree(completed_request ? Status(Done{}) : Status(completed_request.error())); !ready)
    return session.fail(ready.error());
  SearchRequest request = std::move(*completed_request);
  // The usual way with many processes is one for every core.
  if (world.size() > 1 && request.search.threads == 0) request.search.threads = 1;

  Prepared prepared;
  const Status ready = world.agree(prepare(command, request, world.leads(), app, session, prepared));
  if (!ready) return session.fail(ready.error());
  if (prepared.worker)
    return world.serve(request.search.threads, [&](const std::string& task) { return (*prepared.worker)(task); });

  const search::Problem& problem = *prepared.problem;
  std::optional<search::Ledger>& ledger = prepared.ledger;
  request.search.ledger = ledger ? &*ledger : nullptr;
  request.search.executor = [&](search::Work work) {
    return world.make_executor(request.search.threads, std::move(work));
  };
  Search search(problem, request.search);
  auto outcomes = run_all(search, problem.workloads.size(), session);
  if (!outcomes) return session.fail(outcomes.error());
  PlanStore store;
  auto answer = make_answer(search, problem, request, std::move(*outcomes), store, session);
  if (!answer) return session.fail(answer.error());
  answer->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (ledger) {
    const auto status =
        settled(*answer, problem.workloads.size()) ? run_db::RunStatus::kFinished : run_db::RunStatus::kStopped;
    if (auto written = ledger->finish(documents(*answer, problem), status); !written)
      return session.fail(written.error());
  }
  session.answer(session.json ? report::search_json(*answer) : report::search_text(*answer));
  if (interrupted())
    session.fail({"stopped"});
  else if (answer->common.chips.empty() && answer->common.outcome.open == 0)
    session.exit_code = kInfeasible;
}

void search_command(const SearchCommand& command, const CLI::App& app, Session& session) {
  search::MpiWorld world;
  try {
    search_in(world, command, app, session);
  } catch (...) {
    if (world.size() == 1) throw;
    // The others wait for messages that will not come.
    session.progress.clear();
    session.log.error(to_string(within("rank " + std::to_string(world.rank()), caught())));
    world.abort(kBadInput);
  }
}

}  // namespace

void add_search_command(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("search", "The best chip of a space and its plans, with a proof");
  const auto options = std::make_shared<SearchCommand>();
  SearchRequest& request = options->request;
  request.add_to(command);
  command.add_flag("--exhaustive", request.search.exhaustive, "Evaluate every chip: the same answer, slowly");
  command.add_option("--top", request.search.keep, "Keep so many of the best chips, proven too (default: 1)")
      ->check(positive_whole_number())
      ->type_name("N");
  options->database.add_to(command);
  command.footer("Example:\n  phaze search llama2-7b --space phaze --devices 1024 --global-batch 4096");
  command.callback([options, &command, &session] { search_command(*options, command, session); });
}

}  // namespace phaze::cli
