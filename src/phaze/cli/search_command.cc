#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/report/search_report.h"
#include "phaze/search/search.h"
#include "phaze/sim/from_plan.h"

namespace phaze::cli {
namespace {

struct Options {
  std::vector<std::string> models;
  std::string space = "phaze";
  std::string network;
  std::string baseline = "tpuv4-phaze";
  std::vector<double> weights;
  std::vector<std::int64_t> hbm_gib = {32, 64, 80};
  search::Problem problem;
  search::Options search;
  layer_times::PlanOptions plan;
};

using search::Search;

// Throughput of every model on the baseline chip, with its best plan there.
Result<std::vector<double>> baseline(const Options& options, const search::Problem& problem, Session& session) {
  auto chip = hardware::load_chip(options.baseline);
  if (!chip) return chip.error();
  search::Problem alone = problem;
  alone.chips = {std::move(*chip)};
  alone.objective = search::Objective::kThroughput;
  Search search(alone, {.threads = options.search.threads});
  std::vector<double> throughputs;
  for (std::size_t model = 0; model < alone.workloads.size(); ++model) {
    auto outcome = search.run({model}, session.progress);
    if (!outcome) return outcome.error();
    if (outcome->stopped) return Error{"stopped"};
    if (outcome->best.empty())
      return Error{"no plan for " + alone.workloads[model].model + " on the baseline chip", "--baseline",
                   "name another chip, or give --mean arithmetic"};
    throughputs.push_back(outcome->best.front().score);
  }
  return throughputs;
}

Result<search::Problem> make_problem(const Options& options, Session& session) {
  search::Problem problem = options.problem;
  auto space = hardware::load_space(options.space);
  if (!space) return space.error();
  space->for_each_kept([&](const hardware::Chip& chip) {
    problem.chips.push_back(chip);
    return !interrupted();
  });
  if (interrupted()) return Error{"stopped"};
  if (problem.chips.empty()) return Error{"no chip is within the limits of the space", "--space"};
  auto network = options.network.empty() ? hardware::own_network(space->base) : hardware::load_network(options.network);
  if (!network) return network.error();
  if (network->capacity() > 0 && problem.devices > network->capacity())
    return Error{"the network joins " + std::to_string(network->capacity()) + " devices at most", "--devices"};
  problem.network = std::move(*network);
  problem.area_model = space->limits.area_model;
  for (const std::int64_t capacity : options.hbm_gib) problem.hbm.emplace_back(capacity << 30);
  if (!options.weights.empty() && options.weights.size() != options.models.size())
    return Error{"there must be as many weights as models", "--weights"};
  problem.weights = options.weights;
  for (const std::string& model : options.models) {
    auto workload = layer_times::load_workload(model, problem.devices, problem.network, options.plan, session.progress);
    if (!workload) return workload.error();
    for (const std::string& warning : workload->warnings) session.log.warning(warning);
    problem.workloads.push_back(std::move(*workload));
  }
  if (problem.workloads.size() > 1 && problem.mean == search::Mean::kGeometric) {
    auto throughputs = baseline(options, problem, session);
    if (!throughputs) return throughputs.error();
    problem.baseline = std::move(*throughputs);
  }
  return problem;
}

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
      report::PlanAnswer answer{.model = problem.workloads[model].model,
                                .chip = problem.chips[best].name,
                                .sequence = problem.workloads[model].sequence,
                                .flops_per_sample = problem.workloads[model].flops_per_sample,
                                .peak_flops = problem.chips[best].peak_flops(),
                                .request = &planned.request,
                                .statistics = planned.solution.statistics};
      for (const placement::Ranked& ranked : planned.solution.plans) {
        peak = std::max(peak, ranked.evaluation.peak_memory());
        sim::Pipeline pipeline = sim::pipeline_of(planned.request, ranked.plan);
        sim::Run run = sim::simulate(pipeline);
        answer.plans.push_back({ranked.plan, ranked.evaluation, std::move(pipeline), std::move(run)});
      }
      found.plans.push_back(std::move(answer));
    }
    found.chips.front().hbm = search.least_hbm(peak);
  }
  found.outcome = std::move(*outcome);
  return found;
}

void search_command(const Options& options, Session& session) {
  const auto started = std::chrono::steady_clock::now();
  const auto problem = make_problem(options, session);
  if (!problem) return session.fail(problem.error());
  Search search(*problem, options.search);
  report::SearchAnswer answer{.objective = problem->objective,
                              .mean = problem->mean,
                              .baseline = options.baseline,
                              .area_model = problem->area_model};
  PlanStore store;
  std::vector<std::size_t> all;
  for (std::size_t model = 0; model < problem->workloads.size(); ++model) all.push_back(model);
  auto common = find_best(search, *problem, all, store, session);
  if (!common) return session.fail(common.error());
  answer.common = std::move(*common);
  for (std::size_t model = 0; all.size() > 1 && model < all.size() && !interrupted(); ++model) {
    auto one = find_best(search, *problem, {model}, store, session);
    if (!one) return session.fail(one.error());
    answer.each.push_back(std::move(*one));
  }
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  session.answer(session.json ? report::search_json(answer) : report::search_text(answer));
  if (interrupted())
    session.fail({"stopped"});
  else if (answer.common.chips.empty())
    session.exit_code = kInfeasible;
}

}  // namespace

void add_search_command(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("search", "The best chip of a space and its plans, with a proof");
  const auto options = std::make_shared<Options>();
  options->plan.microbatches = {1, 2, 4, 8};
  options->problem.devices = 0;
  command.add_option("MODEL", options->models, "Zoo names (see 'phaze model list'), config.json or .onnx files")
      ->required();
  command.add_option("--space", options->space, "phaze (the space of 2024, the default) or a .yaml file")
      ->type_name("SPACE");
  const auto count = [&](const std::string& name, auto& target, const std::string& help) {
    return command.add_option(name, target, help)->check(positive_whole_number())->type_name("N");
  };
  count("--devices", options->problem.devices, "Chips in the cluster")->required();
  count("--global-batch", options->plan.global_batch, "Samples per training step")->required();
  count("--seq", options->plan.sequence, "Tokens per sample (default: the model's own)");
  command.add_option("--network", options->network, "A preset, a .yaml file, or levels (default: the space's own)")
      ->type_name("NETWORK");
  using search::Mean;
  using search::Objective;
  add_choice<Objective>(command, "--objective", options->problem.objective,
                        {{"throughput", Objective::kThroughput},
                         {"throughput-per-tdp", Objective::kPerWatt},
                         {"throughput-per-area", Objective::kPerArea}},
                        "What to maximise (default: throughput)");
  add_choice<Mean>(command, "--mean", options->problem.mean,
                   {{"geometric", Mean::kGeometric}, {"arithmetic", Mean::kArithmetic}},
                   "Several models: geometric mean relative to the baseline chip, or arithmetic mean of throughputs, "
                   "as in 2024 (default: geometric)");
  command.add_option("--weights", options->weights, "Several models: their weights, separated by commas")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->type_name("LIST");
  command.add_option("--baseline", options->baseline, "Several models: throughputs count relative to this chip's")
      ->type_name("CHIP");
  const auto list = [&](const std::string& name, std::vector<std::int64_t>& target, const std::string& help) {
    command.add_option(name, target, help)->delimiter(',')->check(positive_whole_number())->type_name("LIST");
  };
  list("--hbm", options->hbm_gib, "HBM capacities to choose from, in GiB (default: 32,64,80)");
  list("--microbatch", options->plan.microbatches, "Samples per microbatch (default: 1,2,4,8)");
  list("--tensor-parallel", options->plan.widths, "Widths (default: powers of two in the innermost network level)");
  using workload::AttentionKind;
  add_choice<AttentionKind>(command, "--attention", options->plan.attention,
                            {{"eager", AttentionKind::kEager}, {"flash", AttentionKind::kFlash}},
                            "eager: scores are written out; flash: fused and tiled (default: eager)");
  command.add_flag("--exhaustive", options->search.exhaustive, "Evaluate every chip: the same answer, slowly");
  count("--top", options->search.keep, "Keep so many of the best chips, proven too (default: 1)");
  count("--threads", options->search.threads, "Threads (default: all cores)");
  command.add_option("--time-limit", options->search.seconds, "Seconds; then the best so far, with the gap")
      ->check(CLI::PositiveNumber)
      ->type_name("SECONDS");
  command.footer("Example:\n  phaze search llama2-7b --space phaze --devices 1024 --global-batch 4096");
  command.callback([options, &session] { search_command(*options, session); });
}

}  // namespace phaze::cli
