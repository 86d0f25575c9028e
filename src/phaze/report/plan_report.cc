#include "phaze/report/plan_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "phaze/base/json_reader.h"
#include "phaze/report/json_text.h"
#include "phaze/report/placement_report.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using placement::LayerTable;
using placement::Plan;
using placement::StageEvaluation;

const LayerTable& table_of(const PlanAnswer& answer, const Plan& plan) {
  return answer.request->tables[plan.strategy.table];
}

double samples_per_second(const PlanAnswer& answer, double seconds) {
  return static_cast<double>(answer.request->training.global_batch) / seconds;
}

// Model FLOPs per second over the peak of all devices of the cluster, idle ones included.
double mfu(const PlanAnswer& answer, double seconds) {
  return samples_per_second(answer, seconds) * answer.flops_per_sample /
         (answer.peak_flops * static_cast<double>(answer.request->devices.count));
}

std::int64_t devices_used(const PlanAnswer& answer, const Plan& plan) {
  return plan.strategy.pipeline * plan.strategy.data_parallel * table_of(answer, plan).tensor_parallel;
}

std::string_view order_name(placement::Order order) {
  return order == placement::Order::kDataInside ? "tensor, data, pipeline" : "tensor, pipeline, data";
}

Json memory_json(const placement::Memory& memory) {
  return {{"parameters", memory.parameters},   {"gradients", memory.gradients}, {"optimizer", memory.optimizer},
          {"activations", memory.activations}, {"workspace", memory.workspace}, {"total", memory.total()}};
}

Json stages_json(const PlanAnswer& answer, const SimulatedPlan& best) {
  Json stages = Json::array();
  const LayerTable& table = table_of(answer, best.plan);
  for (std::size_t s = 0; s < best.plan.stages.size(); ++s) {
    const placement::Stage& stage = best.plan.stages[s];
    const StageEvaluation& seen = best.evaluation.stages[s];
    Json layers = Json::array(), chunks = Json::array();
    for (const placement::Range& range : stage.chunks) {
      for (std::size_t node = range.begin; node < range.end; ++node) layers.push_back(node);
      chunks.push_back({range.begin, range.end});
    }
    stages.push_back({{"layers", std::move(layers)},
                      {"chunks", std::move(chunks)},
                      {"devices", table.tensor_parallel * best.plan.strategy.data_parallel},
                      {"forward_seconds", seen.forward_seconds},
                      {"backward_seconds", seen.backward_seconds},
                      {"recompute_seconds", seen.recompute_seconds},
                      {"recompute", to_string(stage.recompute)},
                      {"parameters", seen.parameters},
                      {"memory_bytes", memory_json(seen.memory)},
                      {"simulated_peak_memory_bytes", best.run.devices[s].peak_bytes}});
  }
  return stages;
}

Json strategy_json(const PlanAnswer& answer, const SimulatedPlan& plan) {
  const placement::Strategy& how = plan.plan.strategy;
  const LayerTable& table = table_of(answer, plan.plan);
  const double seconds = plan.evaluation.time_per_batch;
  return {{"throughput", samples_per_second(answer, seconds)},
          {"tokens_per_s", samples_per_second(answer, seconds) * static_cast<double>(answer.sequence)},
          {"time_per_batch", seconds},
          {"simulated_time_per_batch", plan.run.seconds},
          {"mfu", mfu(answer, seconds)},
          {"pipeline", how.pipeline},
          {"tensor_parallel", table.tensor_parallel},
          {"data_parallel", how.data_parallel},
          {"microbatch", table.microbatch},
          {"microbatches", plan.evaluation.microbatches},
          {"interleave", how.interleave},
          {"sequence_parallel", table.sequence_parallel},
          {"zero", how.zero},
          {"order", order_name(how.order)},
          {"devices", devices_used(answer, plan.plan)},
          {"peak_memory_bytes", plan.evaluation.peak_memory()}};
}

Json breakdown_json(const placement::Breakdown& parts) {
  return {{"compute", parts.compute},    {"recompute", parts.recompute}, {"tensor_parallel", parts.tensor_parallel},
          {"bubble", parts.bubble},      {"transfers", parts.transfers}, {"gradient_sync", parts.gradient_sync},
          {"optimizer", parts.optimizer}};
}

Json pipeline_json(const sim::Pipeline& pipeline) {
  Json devices = Json::array();
  for (const sim::Device& device : pipeline.devices) {
    Json chunks = Json::array();
    for (const sim::Chunk& chunk : device.chunks)
      chunks.push_back({{"forward", chunk.forward},
                        {"backward", chunk.backward},
                        {"send_forward", chunk.send_forward},
                        {"send_backward", chunk.send_backward},
                        {"kept_bytes", chunk.kept_bytes},
                        {"layers", chunk.layers}});
    devices.push_back({{"chunks", std::move(chunks)},
                       {"reduce", device.reduce},
                       {"tied", device.tied},
                       {"step", device.step},
                       {"gather", device.gather},
                       {"resident_bytes", device.resident_bytes},
                       {"workspace_bytes", device.workspace_bytes}});
  }
  return {{"microbatches", pipeline.microbatches},
          {"samples", pipeline.samples},
          {"overlap_gradients", pipeline.overlap_gradients},
          {"devices", std::move(devices)}};
}

// What other programs must know to act on the plan: what is trained, how, and on what.
Json circumstances_json(const PlanAnswer& answer, const Plan& plan) {
  const placement::Request& request = *answer.request;
  const LayerTable& table = table_of(answer, plan);
  Json layers = Json::array(), levels = Json::array();
  for (std::size_t node = 0; node < table.size(); ++node) layers.push_back(table.layer(node).name);
  for (const hardware::NetworkLevel& level : request.devices.network.levels)
    levels.push_back({{"size", level.size},
                      {"bandwidth", level.bandwidth},
                      {"efficiency", level.efficiency},
                      {"latency", level.latency},
                      {"torus", level.torus},
                      {"ports", level.ports}});
  Json config = answer.model_config.empty() ? Json() : Json::parse(answer.model_config, nullptr, false);
  const placement::StateBytes& states = request.training.states;
  return {
      {"training",
       {{"global_batch", request.training.global_batch},
        {"sequence", answer.sequence},
        {"attention", answer.flash_attention ? "flash" : "eager"},
        {"fuse", answer.fuse},
        {"states_per_layer", answer.states_per_layer},
        {"overlap_gradients", request.training.overlap_gradients},
        {"bytes_per_parameter",
         {{"parameters", states.parameters}, {"gradients", states.gradients}, {"optimizer", states.optimizer}}}}},
      {"cluster", {{"devices", request.devices.count}, {"memory_bytes", request.devices.memory}, {"network", levels}}},
      {"layer_names", std::move(layers)},
      {"model_config", config.is_discarded() ? Json() : std::move(config)},
      {"chip_file", answer.chip_file.empty() ? Json() : Json(answer.chip_file)}};
}

// Plans that no other beats in both time and memory.
bool on_front(const PlanAnswer& answer, std::size_t i) {
  const auto& plans = answer.plans;
  return std::ranges::none_of(plans, [&](const SimulatedPlan& other) {
    const double time = plans[i].evaluation.time_per_batch, memory = plans[i].evaluation.peak_memory();
    const double others = other.evaluation.time_per_batch, less = other.evaluation.peak_memory();
    return others <= time && less <= memory && (others < time || less < memory);
  });
}

std::string range_text(const std::vector<placement::Range>& chunks) {
  std::string text;
  for (const placement::Range& range : chunks) {
    text += text.empty() ? "" : ", ";
    text +=
        range.end - range.begin == 1 ? std::to_string(range.begin) : fmt::format("{}..{}", range.begin, range.end - 1);
  }
  return text;
}

std::string stages_text(const SimulatedPlan& best) {
  Table table({{"stage", Align::kRight},
               {"layers"},
               {"forward", Align::kRight},
               {"backward", Align::kRight},
               {"recompute"},
               {"parameters", Align::kRight},
               {"gradients", Align::kRight},
               {"optimizer", Align::kRight},
               {"activations", Align::kRight},
               {"workspace", Align::kRight},
               {"memory", Align::kRight}});
  for (std::size_t s = 0; s < best.plan.stages.size(); ++s) {
    const StageEvaluation& seen = best.evaluation.stages[s];
    const placement::Memory& memory = seen.memory;
    table.row({std::to_string(s + 1), range_text(best.plan.stages[s].chunks), readable_seconds(seen.forward_seconds),
               readable_seconds(seen.backward_seconds + seen.recompute_seconds),
               to_string(best.plan.stages[s].recompute), readable_bytes(memory.parameters),
               readable_bytes(memory.gradients), readable_bytes(memory.optimizer), readable_bytes(memory.activations),
               readable_bytes(memory.workspace), readable_bytes(memory.total())});
  }
  return table.to_string();
}

std::string strategy_text(const PlanAnswer& answer, const Plan& plan) {
  const LayerTable& table = table_of(answer, plan);
  const placement::Strategy& how = plan.strategy;
  std::string text = fmt::format("pipeline {}, tensor-parallel {}{}, data-parallel {}, microbatch {}", how.pipeline,
                                 table.tensor_parallel, table.sequence_parallel ? " with sequence-parallel" : "",
                                 how.data_parallel, table.microbatch);
  if (how.interleave > 1) text += fmt::format(", interleave {}", how.interleave);
  return text + fmt::format(", ZeRO {}", how.zero);
}

std::string breakdown_text(const placement::Breakdown& parts, double whole) {
  std::string text;
  const auto add = [&](std::string_view name, double seconds) {
    if (seconds <= 0) return;
    text += fmt::format("{}{} {:.1f} %", text.empty() ? "" : ", ", name, 100 * seconds / whole);
  };
  add("compute", parts.compute);
  add("recompute", parts.recompute);
  add("tensor-parallel communication", parts.tensor_parallel);
  add("bubble", parts.bubble);
  add("transfers", parts.transfers);
  add("gradient sync", parts.gradient_sync);
  add("optimizer", parts.optimizer);
  return text;
}

std::string runners_up_text(const PlanAnswer& answer, std::size_t top) {
  Table table({{"rank", Align::kRight},
               {"time", Align::kRight},
               {"simulated", Align::kRight},
               {"memory", Align::kRight},
               {"front"},
               {"strategy"}});
  for (std::size_t i = 0; i < std::min(top, answer.plans.size()); ++i) {
    const SimulatedPlan& plan = answer.plans[i];
    table.row({std::to_string(i + 1), readable_seconds(plan.evaluation.time_per_batch),
               readable_seconds(plan.run.seconds), readable_bytes(plan.evaluation.peak_memory()),
               on_front(answer, i) ? "*" : "", strategy_text(answer, plan.plan)});
  }
  return table.to_string() + "* no other of these is both as fast and as small\n";
}

std::string front_text(const PlanAnswer& answer) {
  Table table({{"time", Align::kRight}, {"simulated", Align::kRight}, {"memory", Align::kRight}, {"strategy"}});
  for (const SimulatedPlan& plan : answer.front)
    table.row({readable_seconds(plan.evaluation.time_per_batch), readable_seconds(plan.run.seconds),
               readable_bytes(plan.evaluation.peak_memory()), strategy_text(answer, plan.plan)});
  return "time against memory: none that fits is faster\n" + table.to_string();
}

placement::phaze2024::Solution study_solution(const PlanAnswer& answer) {
  return {.termination = placement::phaze2024::Termination::kOptimal,
          .plan = answer.study->plan,
          .evaluation = answer.study->evaluation};
}

std::string study_json(const PlanAnswer& answer) {
  const auto batch = static_cast<double>(answer.request->training.global_batch);
  const auto devices = static_cast<double>(answer.request->devices.count);
  return placement_json(answer.study->of.instance, study_solution(answer),
                        {.model = answer.model,
                         .samples = batch,
                         .tokens = batch * static_cast<double>(answer.sequence),
                         .flops = batch * answer.flops_per_sample,
                         .peak_flops = answer.peak_flops * devices,
                         .microbatch = answer.study->of.microbatch});
}

}  // namespace

std::string plan_json(const PlanAnswer& answer, std::size_t top) {
  if (answer.study) return study_json(answer);
  Json json = {{"feasible", !answer.plans.empty()}, {"model", answer.model}, {"chip", answer.chip}};
  if (answer.plans.empty()) {
    for (const char* key : {"throughput", "tokens_per_s", "time_per_batch", "simulated_time_per_batch", "mfu",
                            "pipeline", "tensor_parallel", "data_parallel", "microbatch", "interleave", "zero"})
      json[key] = nullptr;
    json["stages"] = Json::array();
    json["reason"] = answer.shortage ? answer.shortage->reason : "no plan fits";
    json["sufficient_memory_per_device"] = nullptr;
    json["sufficient_devices"] = nullptr;
    if (answer.shortage && answer.shortage->sufficient_memory > 0)
      json["sufficient_memory_per_device"] = answer.shortage->sufficient_memory;
    if (answer.shortage && answer.shortage->sufficient_devices > 0)
      json["sufficient_devices"] = answer.shortage->sufficient_devices;
  } else {
    const SimulatedPlan& best = answer.plans.front();
    json.update(strategy_json(answer, best));
    json["stages"] = stages_json(answer, best);
    json["breakdown"] = breakdown_json(best.evaluation.breakdown);
    json["simulation"] = pipeline_json(best.pipeline);
    json.update(circumstances_json(answer, best.plan));
    if (top > 1) {
      json["plans"] = Json::array();
      for (std::size_t i = 0; i < std::min(top, answer.plans.size()); ++i) {
        Json one = strategy_json(answer, answer.plans[i]);
        one["pareto"] = on_front(answer, i);
        json["plans"].push_back(std::move(one));
      }
    }
    if (!answer.front.empty()) {
      json["front"] = Json::array();
      for (const SimulatedPlan& plan : answer.front) json["front"].push_back(strategy_json(answer, plan));
    }
  }
  json["strategies"] = answer.statistics.strategies;
  json["strategies_solved"] = answer.statistics.solved;
  return text_of(json);
}

std::string plan_text(const PlanAnswer& answer, std::size_t top) {
  if (answer.study)
    return fmt::format("{}: microbatch {}, ", answer.model, answer.study->of.microbatch) +
           placement_text(answer.study->of.instance, study_solution(answer));
  if (answer.plans.empty())
    return "infeasible: " + (answer.shortage ? answer.shortage->reason : std::string("no plan fits")) + "\n";
  const SimulatedPlan& best = answer.plans.front();
  const double seconds = best.evaluation.time_per_batch;
  std::string out = fmt::format(
      "{}: {} per batch ({} simulated), {:.4g} samples/s, {:.4g} tokens/s, MFU {:.1f} %\n", answer.model,
      readable_seconds(seconds), readable_seconds(best.run.seconds), samples_per_second(answer, seconds),
      samples_per_second(answer, seconds) * static_cast<double>(answer.sequence), 100 * mfu(answer, seconds));
  out +=
      fmt::format("{}; {} microbatch{} on {} of {} devices, numbered {}\n", strategy_text(answer, best.plan),
                  best.evaluation.microbatches, best.evaluation.microbatches == 1 ? "" : "es",
                  devices_used(answer, best.plan), answer.request->devices.count, order_name(best.plan.strategy.order));
  out += breakdown_text(best.evaluation.breakdown, seconds) + "\n\n" + stages_text(best);
  if (top > 1) out += "\n" + runners_up_text(answer, top);
  if (!answer.front.empty()) out += "\n" + front_text(answer);
  out += fmt::format("\n{} strategies: {} solved, {} ruled out by their bounds\n", answer.statistics.strategies,
                     answer.statistics.solved, answer.statistics.strategies - answer.statistics.solved);
  return out;
}

Result<sim::Pipeline> read_pipeline(const std::string& text) {
  const auto document = parse_json<Json>(text);
  if (!document) return document.error();
  const Json& json = *document;
  if (!json.is_object() || !json.contains("simulation") || !json["simulation"].is_object())
    return Error{"the key 'simulation' is missing", "", "make the file with 'phaze place MODEL ... --plan FILE'"};
  const Json& root = json["simulation"];
  sim::Pipeline pipeline;
  std::optional<Error> error;
  const auto number = [&](const Json& object, const char* key, auto& target) {
    using Target = std::remove_reference_t<decltype(target)>;
    if (error) return;
    const auto found = object.find(key);
    const bool there = found != object.end() && (std::is_same_v<Target, bool> ? found->is_boolean()
                                                 : std::is_integral_v<Target> ? is_int64(*found)
                                                                              : found->is_number());
    if (!there)
      error = Error{"is missing or not of its kind", std::string("simulation.") + key};
    else
      target = found->template get<Target>();
  };
  number(root, "microbatches", pipeline.microbatches);
  number(root, "samples", pipeline.samples);
  number(root, "overlap_gradients", pipeline.overlap_gradients);
  if (!root.contains("devices") || !root["devices"].is_array())
    return Error{"is missing or not of its kind", "simulation.devices"};
  for (const Json& from : root["devices"]) {
    sim::Device device;
    if (!from.is_object() || !from.contains("chunks") || !from["chunks"].is_array())
      return Error{"is missing or not of its kind", "simulation.devices.chunks"};
    number(from, "reduce", device.reduce);
    number(from, "tied", device.tied);
    number(from, "step", device.step);
    number(from, "gather", device.gather);
    number(from, "resident_bytes", device.resident_bytes);
    number(from, "workspace_bytes", device.workspace_bytes);
    for (const Json& piece : from["chunks"]) {
      sim::Chunk chunk;
      if (!piece.is_object()) return Error{"is missing or not of its kind", "simulation.devices.chunks"};
      number(piece, "forward", chunk.forward);
      number(piece, "backward", chunk.backward);
      number(piece, "send_forward", chunk.send_forward);
      number(piece, "send_backward", chunk.send_backward);
      number(piece, "kept_bytes", chunk.kept_bytes);
      number(piece, "layers", chunk.layers);
      device.chunks.push_back(chunk);
    }
    pipeline.devices.push_back(std::move(device));
  }
  if (error) return *error;
  if (const Status valid = sim::validate(pipeline); !valid) return within("simulation", valid.error());
  return pipeline;
}

std::string simulation_json(const sim::Pipeline& pipeline, const sim::Run& run) {
  Json peaks = Json::array(), busy = Json::array();
  for (const sim::DeviceRun& device : run.devices) {
    peaks.push_back(device.peak_bytes);
    busy.push_back(device.busy);
  }
  return text_of({{"time_per_batch", run.seconds},
                  {"throughput", static_cast<double>(pipeline.samples) / run.seconds},
                  {"peak_memory_bytes", std::move(peaks)},
                  {"bubble_fraction", run.bubble_fraction},
                  {"pipeline_seconds", run.pipeline_seconds},
                  {"busy_seconds", std::move(busy)}});
}

std::string simulation_text(const sim::Pipeline& pipeline, const sim::Run& run) {
  std::string out = fmt::format("{} per batch, {:.4g} samples/s, {:.1f} % of the pipeline's time idle\n\n",
                                readable_seconds(run.seconds), static_cast<double>(pipeline.samples) / run.seconds,
                                100 * run.bubble_fraction);
  Table table(
      {{"stage", Align::kRight}, {"busy", Align::kRight}, {"ends", Align::kRight}, {"peak memory", Align::kRight}});
  for (std::size_t s = 0; s < run.devices.size(); ++s)
    table.row({std::to_string(s + 1), readable_seconds(run.devices[s].busy), readable_seconds(run.devices[s].end),
               readable_bytes(run.devices[s].peak_bytes)});
  return out + table.to_string();
}

}  // namespace phaze::report
