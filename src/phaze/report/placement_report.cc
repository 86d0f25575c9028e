#include "phaze/report/placement_report.h"

#include <fmt/format.h>

#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using namespace placement::phaze2024;

bool recomputes(const Instance& instance, const Plan& plan, std::size_t stage) {
  return instance.recompute && stage + 1 < plan.stages.size();
}

std::string reason(const Instance& instance, const Solution& solution) {
  std::string text = solution.shortage ? to_string(instance, *solution.shortage) : "no plan fits";
  if (solution.termination == Termination::kLimit)
    text += "; the stage limit was reached, so a plan may exist after all";
  return text;
}

Json stages_json(const Instance& instance, const Solution& solution) {
  Json stages = Json::array();
  for (std::size_t s = 0; s < solution.plan->stages.size(); ++s) {
    const Stage& stage = solution.plan->stages[s];
    const StageEvaluation& measured = solution.evaluation.stages[s];
    stages.push_back({{"nodes", stage.nodes},
                      {"devices", stage.devices},
                      {"forward_seconds", measured.forward_seconds},
                      {"backward_seconds", measured.backward_seconds},
                      {"recompute", recomputes(instance, *solution.plan, s)},
                      {"parameter_bytes", measured.parameter_bytes},
                      {"memory_bytes",
                       {{"states", measured.state_bytes},
                        {"activations", measured.activation_bytes},
                        {"stash", measured.stash_bytes},
                        {"total", measured.memory_bytes}}}});
  }
  return stages;
}

// "0-3, 7": ids in the order of the stage, runs of consecutive ones drawn together, long lists cut.
std::string ids_text(const std::vector<std::int64_t>& ids) {
  constexpr std::size_t kMost = 6;
  std::string text;
  std::size_t groups = 0;
  for (std::size_t i = 0; i < ids.size(); ++groups) {
    if (groups == kMost) return text + fmt::format(", ... ({} in all)", ids.size());
    std::size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    text += text.empty() ? "" : ", ";
    text += end - i > 2 ? fmt::format("{}..{}", ids[i], ids[end - 1]) : std::to_string(ids[i]);
    i = end - i > 2 ? end : i + 1;
  }
  return text;
}

std::string seconds(double value) { return fmt::format("{:.4g} s", value); }
std::string gigabytes(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

std::string expert_text(const Solution& solution) {
  if (!solution.expert) return "";
  if (!solution.expert->time_per_batch)
    return fmt::format("the expert plan cannot be run: {}\n", solution.expert->reason);
  const double time = *solution.expert->time_per_batch;
  std::string text = fmt::format("the expert plan takes {:.9g} s per batch", time);
  if (solution.plan) text += fmt::format(", {:.4g} times as long", time / solution.evaluation.time_per_batch);
  return text + "\n";
}

std::string stages_text(const Instance& instance, const Solution& solution) {
  Table table({{"stage", Align::kRight},
               {"nodes"},
               {"devices", Align::kRight},
               {"forward", Align::kRight},
               {"backward", Align::kRight},
               {"recompute"},
               {"states", Align::kRight},
               {"activations", Align::kRight},
               {"stash", Align::kRight},
               {"memory", Align::kRight}});
  for (std::size_t s = 0; s < solution.plan->stages.size(); ++s) {
    const Stage& stage = solution.plan->stages[s];
    const StageEvaluation& measured = solution.evaluation.stages[s];
    table.row({std::to_string(s + 1), ids_text(stage.nodes), std::to_string(stage.devices),
               seconds(measured.forward_seconds), seconds(measured.backward_seconds),
               recomputes(instance, *solution.plan, s) ? "yes" : "no", gigabytes(measured.state_bytes),
               gigabytes(measured.activation_bytes), gigabytes(measured.stash_bytes),
               gigabytes(measured.memory_bytes)});
  }
  return table.to_string();
}

Json document(const Instance& instance, const Solution& solution) {
  Json json = {{"feasible", solution.plan.has_value()}};
  if (solution.plan) {
    const Plan& plan = *solution.plan;
    const auto depth = static_cast<double>(plan.stages.size());
    const Evaluation& measured = solution.evaluation;
    json["optimal"] = solution.termination == Termination::kOptimal;
    json["time_per_batch"] = measured.time_per_batch;
    json["pipeline"] = plan.stages.size();
    json["tensor_parallel"] = plan.tensor_parallel;
    json["data_parallel"] = plan.data_parallel;
    json["stages"] = stages_json(instance, solution);
    json["breakdown"] = {
        {"microbatches", measured.time_per_batch - measured.gradient_seconds - measured.largest_load * (depth - 1)},
        {"pipeline_bubble", measured.largest_load * (depth - 1)},
        {"gradient_sync", measured.gradient_seconds}};
  } else {
    json["optimal"] = solution.termination == Termination::kInfeasible;
    json["time_per_batch"] = nullptr;
    json["tensor_parallel"] = nullptr;
    json["data_parallel"] = nullptr;
    json["stages"] = Json::array();
    json["reason"] = reason(instance, solution);
    json["sufficient_memory_per_device"] = nullptr;
    json["sufficient_devices"] = nullptr;
    if (solution.shortage && solution.shortage->memory_per_device)
      json["sufficient_memory_per_device"] = *solution.shortage->memory_per_device;
    if (solution.shortage && solution.shortage->devices) json["sufficient_devices"] = *solution.shortage->devices;
  }
  json["expert_time_per_batch"] = nullptr;
  if (solution.expert && solution.expert->time_per_batch)
    json["expert_time_per_batch"] = *solution.expert->time_per_batch;
  else if (solution.expert)
    json["expert_reason"] = solution.expert->reason;
  return json;
}

}  // namespace

std::string placement_json(const Instance& instance, const Solution& solution) {
  return text_of(document(instance, solution));
}

std::string placement_json(const Instance& instance, const Solution& solution, const ModelFigures& figures) {
  Json json = document(instance, solution);
  json["model"] = figures.model;
  json["microbatch"] = figures.microbatch;
  if (solution.plan) {
    const double seconds = solution.evaluation.time_per_batch;
    json["throughput"] = figures.samples / seconds;
    json["tokens_per_s"] = figures.tokens / seconds;
    json["mfu"] = figures.flops / seconds / figures.peak_flops;
    for (Json& stage : json["stages"]) stage["layers"] = stage["nodes"];
  }
  return text_of(json);
}

std::string placement_text(const Instance& instance, const Solution& solution) {
  if (!solution.plan) return "infeasible: " + reason(instance, solution) + "\n" + expert_text(solution);
  const Plan& plan = *solution.plan;
  const Evaluation& measured = solution.evaluation;
  const auto depth = static_cast<double>(plan.stages.size());
  std::string out = fmt::format("{:.9g} s per batch ({})\n", measured.time_per_batch,
                                solution.termination == Termination::kOptimal
                                    ? "optimal"
                                    : "the stage limit was reached, a better plan may exist");
  out += fmt::format("pipeline {}, tensor-parallel {}, data-parallel {}\n", plan.stages.size(), plan.tensor_parallel,
                     plan.data_parallel);
  out += fmt::format("of it {} in the pipeline bubble, {} in the all-reduce of gradients\n\n",
                     seconds(measured.largest_load * (depth - 1)), seconds(measured.gradient_seconds));
  out += stages_text(instance, solution);
  const std::string expert = expert_text(solution);
  return out + (expert.empty() ? "" : "\n" + expert);
}

}  // namespace phaze::report
