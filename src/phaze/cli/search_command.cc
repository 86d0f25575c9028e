#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/run_record.h"
#include "phaze/cli/run_schedules.h"
#include "phaze/cli/search_request.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/report/search_report.h"
#include "phaze/search/chip_evaluator.h"
#include "phaze/search/chip_work.h"
#include "phaze/search/ledger.h"
#include "phaze/search/mpi_world.h"
#include "phaze/search/search.h"
#include "phaze/sim/from_plan.h"

namespace phaze::cli {
namespace {

using search::Search;

// Plans with what they point to.
using PlanStore = std::deque<search::ChipSearch::Planned>;

Result<report::FoundChip> find_best(Search& search, const search::Problem& problem,
                                    const std::vector<std::size_t>& models, PlanStore& store, Session& session) {
  report::FoundChip found;
  auto outcome = search.run(models, session.progress);
  if (!outcome) return outcome.error();
  for (const std::size_t model : models) found.models.push_back(problem.workloads[model].model);
  for (const search::Ranked& ranked : outcome->best) {
    found.chips.push_back(problem.chips[ranked.chip]);
    std::vector<double> throughputs;
    throughputs.reserve(models.size());
    for (const std::size_t model : models) throughputs.push_back(search.throughput(ranked.chip, model));
    found.throughputs.push_back(std::move(throughputs));
  }
  if (!found.chips.empty()) {
    double peak = 0;
    const std::size_t best = outcome->best.front().chip;
    for (const std::size_t model : models) {
      const search::ChipSearch::Planned& planned = store.emplace_back(search.plans(best, model, 1));
      report::PlanAnswer answer{
          .model = problem.workloads[model].model,
          .chip = problem.chips[best].name,
          .sequence = problem.workloads[model].sequence,
          .flops_per_sample = problem.workloads[model].flops_per_sample,
          .peak_flops = problem.chips[best].peak_flops(),
          .model_config = problem.workloads[model].config,
          .chip_file = hardware::chip_file_text(problem.chips[best]),
          .flash_attention = problem.workloads[model].options.attention == workload::AttentionKind::kFlash,
          .request = &planned.request,
          .statistics = planned.solution.statistics};
      answer.study = planned.study;
      if (planned.study) peak = std::max(peak, planned.study->peak_memory());
      for (const placement::Ranked& ranked : planned.solution.plans) {
        peak = std::max(peak, ranked.evaluation.peak_memory());
        sim::Pipeline pipeline = sim::pipeline_of(planned.request, ranked.plan);
        sim::Run run = sim::simulate(pipeline);
        answer.plans.push_back({ranked.plan, ranked.evaluation, std::move(pipeline), std::move(run)});
      }
      found.plans.push_back(std::move(answer));
    }
    found.chips.front().hbm = search::least_hbm(problem, best, peak);
  }
  found.outcome = std::move(*outcome);
  return found;
}

struct SearchCommand {
  SearchRequest request;
  std::string out;  // the run database; empty: none
  bool resume = false;
};

// Common chip, and with several models the best chip for each alone.
Result<report::SearchAnswer> find_all(Search& search, const search::Problem& problem, const SearchRequest& request,
                                      PlanStore& store, Session& session) {
  report::SearchAnswer answer{.objective = problem.objective,
                              .mean = problem.mean,
                              .baseline = request.baseline,
                              .area_model = problem.area_model};
  std::vector<std::size_t> all;
  for (std::size_t model = 0; model < problem.workloads.size(); ++model) all.push_back(model);
  auto common = find_best(search, problem, all, store, session);
  if (!common) return common.error();
  answer.common = std::move(*common);
  for (std::size_t model = 0; all.size() > 1 && model < all.size() && !interrupted(); ++model) {
    auto one = find_best(search, problem, {model}, store, session);
    if (!one) return one.error();
    answer.each.push_back(std::move(*one));
  }
  if (!answer.common.chips.empty() && !interrupted()) {
    const auto space = hardware::load_space(request.space);
    if (!space) return space.error();
    search::ChipEvaluator evaluator(problem);
    answer.insight = insight::explain(*space, problem, answer.common.chips.front(), all, evaluator, session.progress);
  }
  return answer;
}

bool settled(const report::SearchAnswer& answer, std::size_t models) {
  bool all = answer.common.outcome.open == 0 && (models == 1 || answer.each.size() == models);
  for (const report::FoundChip& found : answer.each) all = all && found.outcome.open == 0;
  return all;
}

void search_command(const SearchCommand& command, const CLI::App& app, Session& session) {
  const auto started = std::chrono::steady_clock::now();
  search::MpiWorld world;
  auto completed_request = completed(command.request);
  if (const Status ready = world.agree(completed_request ? Status(Done{}) : Status(completed_request.error())); !ready)
    return session.fail(ready.error());
  SearchRequest request = std::move(*completed_request);
  // The usual way with many processes is one for every core.
  if (world.size() > 1 && request.search.threads == 0) request.search.threads = 1;

  const auto problem = make_problem(request, session);
  Status ready = problem ? Status(Done{}) : Status(problem.error());
  std::optional<search::Ledger> ledger;
  if (problem && world.leads() && !command.out.empty()) {
    const auto description = describe_run(app, session.arguments, request, *problem);
    auto opened = description ? search::Ledger::open(command.out, command.resume, *description, *problem)
                              : Result<search::Ledger>(description.error());
    if (opened)
      ledger.emplace(std::move(*opened));
    else
      ready = opened.error();
  }
  ready = world.agree(ready);
  if (!ready) return session.fail(ready.error());
  if (!world.leads()) {
    search::ChipWorker worker(*problem);
    return world.serve(request.search.threads, [&](const std::string& task) { return worker(task); });
  }

  request.search.ledger = ledger ? &*ledger : nullptr;
  request.search.executor = [&](search::Work work) {
    return world.make_executor(request.search.threads, std::move(work));
  };
  Search search(*problem, request.search);
  PlanStore store;
  auto answer = find_all(search, *problem, request, store, session);
  if (!answer) return session.fail(answer.error());
  answer->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (ledger) {
    const auto status =
        settled(*answer, problem->workloads.size()) ? run_db::RunStatus::kFinished : run_db::RunStatus::kStopped;
    std::vector<run_db::Artefact> made = documents(*answer);
    std::ranges::move(schedule_documents(*answer, *problem), std::back_inserter(made));
    if (auto written = ledger->finish(std::move(made), status); !written) return session.fail(written.error());
  }
  session.answer(session.json ? report::search_json(*answer) : report::search_text(*answer));
  if (interrupted())
    session.fail({"stopped"});
  else if (answer->common.chips.empty() && answer->common.outcome.open == 0)
    session.exit_code = kInfeasible;
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
  CLI::Option* out =
      command.add_option("--out", options->out, "Keep everything in this run database (SQLite)")->type_name("RUN.db");
  command.add_flag("--resume", options->resume, "Go on with the run in --out where it was stopped or killed")
      ->needs(out);
  command.footer("Example:\n  phaze search llama2-7b --space phaze --devices 1024 --global-batch 4096");
  command.callback([options, &command, &session] { search_command(*options, command, session); });
}

}  // namespace phaze::cli
