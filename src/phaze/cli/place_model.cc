#include "phaze/cli/place_model.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

#include "phaze/cli/flags.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/place_study.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/placement/front.h"
#include "phaze/report/explorer/document.h"
#include "phaze/report/explorer/layer_charts.h"
#include "phaze/report/explorer/page.h"
#include "phaze/report/plan_report.h"
#include "phaze/sim/from_plan.h"
#include "phaze/sim/trace.h"

namespace phaze::cli {
namespace {

// "auto" or "1,2,4".
Result<std::vector<std::int64_t>> whole_numbers(const std::string& text, const char* flag, std::int64_t least,
                                                std::int64_t most) {
  std::vector<std::int64_t> values;
  if (text == "auto") return values;
  const Error wrong{"'" + text + "' is neither auto nor whole numbers from " + std::to_string(least) + " to " +
                        std::to_string(most) + ", separated by commas",
                    flag};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data() + at, text.data() + comma, value);
    if (code != std::errc() || end != text.data() + comma || value < least || value > most) return wrong;
    if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    at = comma + 1;
  }
  std::ranges::sort(values);
  return values;
}

Result<hardware::Cluster> load_cluster(const PlaceModelOptions& options) {
  if (!options.cluster.empty()) {
    if (!options.chip.empty() || options.devices > 0 || !options.network.empty())
      return Error{"a cluster file stands alone", "phaze place", "leave out --chip, --devices and --network"};
    return hardware::load_cluster(options.cluster);
  }
  if (options.chip.empty() || options.devices == 0)
    return Error{"there are no devices", "phaze place", "give a CLUSTER file, or --chip and --devices"};
  auto chip = hardware::load_chip(options.chip);
  if (!chip) return chip.error();
  auto network = options.network.empty() ? hardware::own_network(*chip) : hardware::load_network(options.network);
  if (!network) return network.error();
  return hardware::make_cluster(std::move(*chip), options.devices, std::move(*network));
}

Result<layer_times::PlanOptions> plan_options(const PlaceModelOptions& options) {
  layer_times::PlanOptions plan = options.plan;
  constexpr std::int64_t kMost = 1 << 20;
  auto microbatches = whole_numbers(options.microbatch, "--microbatch", 1, kMost);
  if (!microbatches) return microbatches.error();
  plan.microbatches = std::move(*microbatches);
  auto widths = whole_numbers(options.tensor_parallel, "--tensor-parallel", 1, kMost);
  if (!widths) return widths.error();
  plan.widths = std::move(*widths);
  auto interleave = whole_numbers(options.interleave, "--interleave", 1, kMost);
  if (!interleave) return interleave.error();
  plan.freedom.interleave = std::move(*interleave);
  auto zero = whole_numbers(options.zero, "--zero", 0, 3);
  if (!zero) return zero.error();
  for (const std::int64_t level : *zero) plan.freedom.zero.push_back(static_cast<int>(level));
  for (const placement::Recompute policy : placement::kPolicies)
    if (options.recompute == to_string(policy)) plan.freedom.recompute = {policy};
  using layer_times::SequenceParallel;
  plan.sequence_parallel = options.sequence_parallel == "auto"  ? SequenceParallel::kAuto
                           : options.sequence_parallel == "off" ? SequenceParallel::kOff
                                                                : SequenceParallel::kOn;
  // The study knows no mixed precision: its Adam keeps one 16-bit state more than SGD.
  if (options.study && plan.optimizer == cost::Optimizer::kAdamMixed) plan.optimizer = cost::Optimizer::kAdam;
  // Nor sequence parallelism, nor what of a layer's time is communication.
  if (options.study) {
    if (plan.sequence_parallel == SequenceParallel::kAuto) plan.sequence_parallel = SequenceParallel::kOff;
    plan.communication = false;
  }
  // As frameworks number devices, unless something is left to search for.
  const bool given = plan.widths.size() == 1 && plan.freedom.pipeline > 0 && plan.freedom.data_parallel > 0;
  using placement::Order;
  if (options.order == "data" || (options.order == "auto" && given)) plan.freedom.orders = {Order::kDataInside};
  if (options.order == "pipeline") plan.freedom.orders = {Order::kPipelineInside};
  plan.narrow_gradients = options.gradient_bits == 16;
  plan.overlap_gradients = !options.no_overlap;
  plan.fuse = !options.no_fuse;
  return plan;
}

report::SimulatedPlan simulated(const layer_times::PlanProblem& problem, placement::Ranked ranked) {
  sim::Pipeline pipeline = sim::pipeline_of(problem.request, ranked.plan);
  sim::Run run = sim::simulate(pipeline);
  return {std::move(ranked.plan), std::move(ranked.evaluation), std::move(pipeline), std::move(run)};
}

// So many of the best plans of the closed form are ranked anew, however many are shown.
constexpr std::size_t kSimulated = 8;

// The best plans run event by event and are put in the order of the runs, except that the optimum of the closed form
// stays in front unless a run is faster than its own by more than the two may differ. Those behind them stay where they
// are.
void simulate_plans(const layer_times::PlanProblem& problem, placement::Solution solution, report::PlanAnswer& answer) {
  for (placement::Ranked& ranked : solution.plans) answer.plans.push_back(simulated(problem, std::move(ranked)));
  if (answer.plans.empty()) return;
  constexpr double kMargin = 0.01;
  const auto seconds = [](const report::SimulatedPlan& plan) { return plan.run.seconds; };
  const auto best = std::span(answer.plans).first(std::min(kSimulated, answer.plans.size()));
  const bool overruled =
      std::ranges::min(best | std::views::transform(seconds)) < (1 - kMargin) * seconds(best.front());
  std::ranges::stable_sort(best.subspan(overruled ? 0 : 1), {}, seconds);
}

// The schedules of the layers as the plan runs them: its width, microbatch and sequence parallelism.
Result<std::string> layer_schedules(const PlaceModelOptions& options, const hardware::Cluster& cluster,
                                    layer_times::PlanOptions plan, const placement::LayerTable& table, cost::Memo& memo,
                                    Session& session) {
  plan.widths = {table.tensor_parallel};
  plan.microbatches = {table.microbatch};
  plan.sequence_parallel =
      table.sequence_parallel ? layer_times::SequenceParallel::kOn : layer_times::SequenceParallel::kOff;
  const auto workload =
      layer_times::load_workload(options.model, cluster.devices, cluster.network, plan, session.progress);
  if (!workload) return workload.error();
  const cost::OperatorCosts costs(layer_times::cost_options(plan, cluster), &memo);
  return report::layer_schedules_json(workload->graphs.front(), costs);
}

Result<std::string> report_page(const PlaceModelOptions& options, const hardware::Cluster& cluster,
                                const layer_times::PlanOptions& plan, const layer_times::PlanProblem& problem,
                                const report::PlanAnswer& answer, cost::Memo& memo, Session& session) {
  report::PlanDocument document{.answer = &answer,
                                .chip = &cluster.chip,
                                .devices = cluster.devices,
                                .parameters = problem.parameters,
                                .top = options.top,
                                .phaze_version = PHAZE_VERSION,
                                .command = report::command_text(session.arguments)};
  if (!answer.plans.empty()) {
    const auto& table = problem.request.tables[answer.plans.front().plan.strategy.table];
    auto schedules = layer_schedules(options, cluster, plan, table, memo, session);
    if (!schedules) return schedules.error();
    document.layer_schedules = std::move(*schedules);
  }
  auto page = report::explorer_page(report::plan_document(document));
  if (!page) return within("--report", page.error());
  return page;
}

}  // namespace

void PlaceModelOptions::add_to(CLI::App& command) {
  const auto count = [&](const std::string& name, std::int64_t& target, const std::string& help) {
    command.add_option(name, target, help)->check(positive_whole_number())->type_name("N");
  };
  command.add_option("MODEL", model,
                     "A zoo name (see 'phaze model list'), a Hugging Face config.json, or an .onnx file");
  command.add_option("CLUSTER", cluster, "A .yaml file with chip, devices and network");
  command.add_option("--chip", chip, "Instead of CLUSTER: a preset, a .yaml file, or parts such as tc=8x128x128")
      ->type_name("CHIP");
  count("--devices", devices, "How many of them");
  add_network(command, network, "A preset, a .yaml file, or levels such as 8x300GB/s@2us,25GB/s@5us");
  count("--global-batch", plan.global_batch, "Samples per training step");
  count("--seq", plan.sequence, "Tokens per sample (default: the model's own)");
  command.add_option("--microbatch", microbatch, "Samples per microbatch: auto or a list (default: 1, 2, 4, 8, 16)")
      ->type_name("LIST");
  command.add_option("--tensor-parallel", tensor_parallel, "Widths: auto or a list (default: powers of two in a node)")
      ->type_name("LIST");
  count("--pipeline", plan.freedom.pipeline, "Pipeline stages (default: searched)");
  count("--data-parallel", plan.freedom.data_parallel, "Replicas (default: searched)");
  command.add_option("--interleave", interleave, "Chunks per stage: auto or a list (default: searched)")
      ->type_name("LIST");
  command
      .add_option("--sequence-parallel", sequence_parallel,
                  "Alone: on; auto tries both where the width is searched and is off where it is given (default: auto)")
      ->check(one_of({"on", "off", "auto"}))
      ->type_name("on|off|auto")
      ->expected(0, 1);
  using workload::AttentionKind;
  add_choice<AttentionKind>(command, "--attention", plan.attention,
                            {{"eager", AttentionKind::kEager}, {"flash", AttentionKind::kFlash}},
                            "eager: scores are written out; flash: fused and tiled (default: eager)");
  using cost::Optimizer;
  add_choice<Optimizer>(
      command, "--optimizer", plan.optimizer,
      {{"sgd", Optimizer::kSgd}, {"adam", Optimizer::kAdam}, {"adam-mixed", Optimizer::kAdamMixed}},
      "States per parameter: 4 bytes, 6 bytes (both as in 2024), or mixed-precision Adam (default: adam-mixed)");
  command.add_option("--gradient-bits", gradient_bits, "Gradients beside adam-mixed: 32 or 16 bits (default: 32)")
      ->check(one_of({"16", "32"}))
      ->type_name("16|32");
  command.add_option("--recompute", recompute, "What stages may run again (default: auto, each stage what it needs)")
      ->check(one_of({"auto", "none", "selective", "full"}))
      ->type_name("auto|none|selective|full");
  command.add_option("--zero", zero, "What replicas share out: auto or a list of 0 to 3 (default: auto)")
      ->type_name("LIST");
  command
      .add_option(
          "--order", order,
          "Neighbours of a tensor-parallel group: replicas or stages; auto tries both, and is data where width, "
          "pipeline and data-parallel are given (default: auto)")
      ->check(one_of({"data", "pipeline", "auto"}))
      ->type_name("data|pipeline|auto");
  command.add_flag("--no-overlap", no_overlap, "Reduce gradients after the last backward pass, not behind it");
  command.add_flag("--no-fuse", no_fuse, "Keep element-wise operators apart");
  command
      .add_option_function<std::string>(
          "--options", [this](const std::string&) { study = true; },
          "phaze: the placement problem of 2024 (docs/placement.md)")
      ->check(one_of({"phaze"}))
      ->type_name("phaze");
  command.add_flag("--exhaustive", exhaustive, "Solve every strategy, whatever its bound: slower, the same answer");
  command.add_option("--top", top, "Show so many of the best strategies (default: 1)")
      ->check(positive_whole_number())
      ->type_name("K");
  command.add_flag("--front", front,
                   "Show all plans than which none is both faster and smaller, in steps of 1 % of a device's memory");
  command.add_option("--plan", plan_file, "Write the plan here, for 'phaze simulate'")->type_name("FILE");
  command.add_option("--trace", trace_file, "Write the simulated iteration here, for Perfetto")->type_name("FILE");
  command.add_option("--report", report_file, "Write the plan as an HTML page here, to look at and to share")
      ->type_name("FILE");
}

void place_model(const PlaceModelOptions& options, Session& session) {
  const OutputOption outputs[] = {
      {"--plan", options.plan_file}, {"--trace", options.trace_file}, {"--report", options.report_file}};
  if (const Status fine = name_different_files(outputs); !fine) return session.fail(fine.error());
  auto cluster = load_cluster(options);
  if (!cluster) return session.fail(cluster.error());
  auto plan = plan_options(options);
  if (!plan) return session.fail(plan.error());
  cost::Memo memo;
  const auto problem = layer_times::make_problem(options.model, *cluster, *plan, memo, session.progress);
  if (!problem) return session.fail(problem.error());
  for (const std::string& warning : problem->warnings) session.log.warning(warning);
  if (options.study) return place_as_in_2024(*problem, *cluster, options.stage_limit, session);
  placement::Solution solution =
      placement::solve(problem->request, {.keep = std::max(options.top, kSimulated), .exhaustive = options.exhaustive},
                       session.progress);
  if (solution.termination == placement::Termination::kStopped) return session.fail({"stopped"});
  report::PlanAnswer answer{.model = problem->model,
                            .chip = cluster->chip.name,
                            .sequence = problem->sequence,
                            .flops_per_sample = problem->flops_per_sample,
                            .peak_flops = cluster->chip.peak_flops(),
                            .model_config = problem->config,
                            .chip_file = hardware::chip_file_text(cluster->chip),
                            .flash_attention = plan->attention == workload::AttentionKind::kFlash,
                            .fuse = plan->fuse,
                            .request = &problem->request,
                            .states_per_layer = layer_times::TableOptions{}.states_per_layer,
                            .statistics = solution.statistics};
  simulate_plans(*problem, std::move(solution), answer);
  if (options.front && !answer.plans.empty()) {
    constexpr double kSteps = 100;
    placement::Front front =
        placement::time_memory_front(problem->request, problem->request.devices.memory / kSteps, session.progress);
    if (!front.complete) return session.fail({"stopped"});
    for (placement::Ranked& ranked : front.plans) answer.front.push_back(simulated(*problem, std::move(ranked)));
  }
  if (answer.plans.empty()) {
    answer.shortage = placement::explain(problem->request);
    session.exit_code = kInfeasible;
  }
  std::vector<OutputFile> files;
  if (!options.plan_file.empty()) files.push_back({options.plan_file, report::plan_json(answer, options.top)});
  if (!options.trace_file.empty() && !answer.plans.empty())
    files.push_back({options.trace_file, sim::trace_json(answer.plans.front().run)});
  if (!options.report_file.empty()) {
    auto page = report_page(options, *cluster, *plan, *problem, answer, memo, session);
    if (!page) return session.fail(page.error());
    files.push_back({options.report_file, std::move(*page)});
  }
  if (const Status written = write_files(files); !written) return session.fail(written.error());
  session.answer(session.json ? report::plan_json(answer, options.top) : report::plan_text(answer, options.top));
}

}  // namespace phaze::cli
