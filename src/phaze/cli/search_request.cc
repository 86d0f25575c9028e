#include "phaze/cli/search_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"

namespace phaze::cli {
namespace {

constexpr std::size_t kMostDigitsOfGib = 6;  // a petabyte

// Answers and databases keep what they say of a model under its name.
Status has_a_name_of_its_own(const layer_times::Workload& workload, const std::string& given,
                             const SearchRequest& request, const std::vector<layer_times::Workload>& before) {
  const auto same = std::ranges::find(before, workload.model, &layer_times::Workload::model);
  if (same == before.end()) return Done{};
  const std::string& other = request.models[static_cast<std::size_t>(same - before.begin())];
  if (other == given) return Error{"is named twice", given, "name it once, and let --weights count it for more"};
  return Error{"has the name '" + workload.model + "', as " + other + " has", given,
               "rename one of the files; a config.json has the name of its folder"};
}

// Throughput of every model on the baseline chip, with its best plan there.
Result<std::vector<double>> baseline(const SearchRequest& request, const search::Problem& problem, Session& session) {
  auto chip = hardware::load_chip(request.baseline);
  if (!chip) return chip.error();
  search::Problem alone = problem;
  alone.chips = {std::move(*chip)};
  alone.sunstone = nullptr;
  alone.objective = search::Objective::kThroughput;
  search::Search search(alone, {.threads = request.search.threads});
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

}  // namespace

void SearchRequest::add_to(CLI::App& command) {
  asked_by = command.get_name();
  plan.microbatches = {1, 2, 4, 8};
  plan.global_batch = 0;
  problem.devices = 0;
  command.add_option("MODEL", models, "Zoo names (see 'phaze model list'), config.json or .onnx files")->required();
  using layer_times::Profile;
  add_choice<Profile>(command, "--profile", plan.profile,
                      {{"physical", Profile::kPhysical}, {"phaze-2024", Profile::kPhaze2024}},
                      "phaze-2024: costs, schedules, placement and cluster of the 2024 study (default: physical)");
  command.add_option("--space", space, "phaze (the space of 2024, the default) or a .yaml file")->type_name("SPACE");
  const auto count = [&](const std::string& name, auto& target, const std::string& help) {
    return command.add_option(name, target, help)->check(positive_whole_number())->type_name("N");
  };
  count("--devices", problem.devices, "Chips in the cluster");
  count("--global-batch", plan.global_batch, "Samples per training step");
  count("--seq", plan.sequence, "Tokens per sample (default: the model's own)");
  add_network(command, network, "A preset, a .yaml file, or levels (default: the space's own)");
  using search::Mean;
  using search::Objective;
  add_choice<Objective>(
      command, "--objective", problem.objective,
      {{"throughput", Objective::kThroughput},
       {"throughput-per-tdp", Objective::kPerWatt},
       {"throughput-per-area", Objective::kPerArea},
       {"pareto", Objective::kPareto}},
      "What to maximise; pareto: all chips that are best for their area and TDP (default: throughput)");
  add_choice<Mean>(command, "--mean", problem.mean,
                   {{"geometric", Mean::kGeometric}, {"arithmetic", Mean::kArithmetic}},
                   "Several models: geometric mean relative to the baseline chip, or arithmetic mean of throughputs, "
                   "as in 2024 (default: geometric)");
  command.add_option("--weights", weights, "Several models: their weights, separated by commas")
      ->delimiter(',')
      ->check(positive_number())
      ->type_name("LIST");
  command.add_option("--baseline", baseline, "Several models: throughputs count relative to this chip's")
      ->type_name("CHIP");
  const auto list = [&](const std::string& name, std::vector<std::int64_t>& target, const std::string& help) {
    return command.add_option(name, target, help)->delimiter(',')->check(positive_whole_number())->type_name("LIST");
  };
  list("--hbm", hbm_gib,
       "HBM capacities to choose from, in GiB (default: 32,64,80 in the space and the profile of 2024, otherwise what "
       "each chip has)")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.size() <= kMostDigitsOfGib ? "" : "'" + text + "' GiB is more than any chip has";
          },
          ""));
  list("--microbatch", plan.microbatches, "Samples per microbatch (default: 1,2,4,8)");
  list("--tensor-parallel", plan.widths, "Widths (default: powers of two in the innermost network level)");
  using workload::AttentionKind;
  add_choice<AttentionKind>(command, "--attention", plan.attention,
                            {{"eager", AttentionKind::kEager}, {"flash", AttentionKind::kFlash}},
                            "eager: scores are written out; flash: fused and tiled (default: eager)");
  using schedule::Engine;
  add_choice<Engine>(command, "--solver", plan.solver, {{"exact", Engine::kExact}, {"ilp", Engine::kIlp}},
                     "Of layer schedules: branch and bound, or an integer program as in 2024 (default: exact)");
  command
      .add_option(
          "--effort", problem.most_effort,
          "Where unproven layer schedules keep the answer from being proven, their scheduler gets longer: 96 times "
          "with 1, 64 times more with each step (default: 2)")
      ->check(CLI::Range(0, 6))
      ->type_name("N");
  count("--threads", search.threads, "Threads (default: all cores)");
  add_time(command, "--time-limit", search.seconds, "After so long, like 90s, the best so far with the gap");
}

Result<SearchRequest> completed(SearchRequest request) {
  layer_times::PlanOptions& plan = request.plan;
  if (plan.profile == layer_times::Profile::kPhaze2024) {
    if (request.problem.devices == 0) request.problem.devices = 1024;
    if (plan.global_batch == 0) plan.global_batch = 4096;
    if (request.network.empty()) request.network = "phaze-2024";
    plan.optimizer = cost::Optimizer::kSgd;
    plan.sequence_parallel = layer_times::SequenceParallel::kOff;
    plan.freedom.recompute = {placement::Recompute::kNone, placement::Recompute::kFull};
  }
  if (request.hbm_gib.empty() && (request.space == "phaze" || plan.profile == layer_times::Profile::kPhaze2024))
    request.hbm_gib = {32, 64, 80};
  const auto missing = [&](const char* flag) {
    return Error{std::string(flag) + " is required", "phaze " + request.asked_by,
                 "see 'phaze " + request.asked_by + " --help'"};
  };
  if (request.problem.devices == 0) return missing("--devices");
  if (plan.global_batch == 0) return missing("--global-batch");
  return request;
}

Result<search::Problem> make_problem(const SearchRequest& request, Session& session) {
  search::Problem problem = request.problem;
  auto space = hardware::load_space(request.space);
  if (!space) return space.error();
  space->for_each_kept(
      [&](const hardware::Chip& chip) {
        problem.chips.push_back(chip);
        return true;
      },
      session.progress);
  if (interrupted()) return Error{"stopped"};
  session.log.debug(fmt::format("space {}: {} of {} chips are within its limits", request.space, problem.chips.size(),
                                space->points()));
  if (problem.chips.empty()) {
    space->limits = {};
    const auto kept = space->count_kept(session.progress);
    if (!kept) return Error{"stopped"};
    if (*kept == 0)
      return Error{"the buffers of no chip of the space hold a block of its array", "--space " + request.space,
                   "raise core_buffer or glb, or base the space on a chip with a smaller tile"};
    return Error{"no chip is within the limits of the space", "--space"};
  }
  if (request.plan.profile == layer_times::Profile::kPhaze2024 && space->base.calibration != hardware::Calibration{})
    return Error{"the profile phaze-2024 knows no calibrated chips", "--space", "base the space on tpuv4-phaze"};
  auto network = request.network.empty() ? hardware::own_network(space->base) : hardware::load_network(request.network);
  if (!network) return network.error();
  if (network->capacity() > 0 && problem.devices > network->capacity())
    return Error{"the network joins " + std::to_string(network->capacity()) + " devices at most", "--devices"};
  problem.network = std::move(*network);
  problem.area_model = space->limits.area_model;
  for (const std::int64_t capacity : request.hbm_gib) problem.hbm.emplace_back(capacity << 30);
  if (!request.weights.empty() && request.weights.size() != request.models.size())
    return Error{"there must be as many weights as models", "--weights"};
  problem.weights = request.weights;
  for (const std::string& model : request.models) {
    auto workload = layer_times::load_workload(model, problem.devices, problem.network, request.plan, session.progress);
    if (!workload) return workload.error();
    if (auto status = has_a_name_of_its_own(*workload, model, request, problem.workloads); !status)
      return status.error();
    session.log.debug(fmt::format("model {}: {} choices of width, microbatch and sequence parallelism", workload->model,
                                  workload->graphs.size()));
    for (const std::string& warning : workload->warnings) session.log.warning(warning);
    problem.workloads.push_back(std::move(*workload));
  }
  problem.sunstone = search::sunstone_table(problem);
  if (problem.workloads.size() > 1 && problem.mean == search::Mean::kGeometric) {
    auto throughputs = baseline(request, problem, session);
    if (!throughputs) return throughputs.error();
    problem.baseline = std::move(*throughputs);
  }
  return problem;
}

}  // namespace phaze::cli
