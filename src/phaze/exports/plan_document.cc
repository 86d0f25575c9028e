#include "phaze/exports/plan_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "phaze/base/json_reader.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/workload/import/hf/read_config.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::exports {
namespace {

using Json = nlohmann::json;

// Products of three of them stay far from the end of the integers.
constexpr std::int64_t kMost = std::int64_t{1} << 20;
constexpr std::int64_t kMostZero = 3;  // stages of ZeRO
constexpr const char* kRemedy = "make the file with 'phaze place MODEL ... --plan FILE'";

// Typed access that keeps the first error, so that callers stay flat.
class Reader {
 public:
  Reader(const Json& object, std::string path, std::optional<Error>& error)
      : object_(object), path_(std::move(path)), error_(error) {}

  bool has(const char* key) const { return object_.contains(key); }
  std::int64_t whole(const char* key, std::int64_t least, std::int64_t most = kMost) {
    const Json* value = find(key);
    if (value == nullptr) return least;
    if (!value->is_number_integer() || value->get<double>() < static_cast<double>(least) ||
        value->get<double>() > static_cast<double>(most))
      return fail(key, fmt::format("is not a whole number from {} to {}", least, most)), least;
    return value->get<std::int64_t>();
  }
  double number(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number() || !(value->get<double>() >= 0) || !std::isfinite(value->get<double>()))
      return fail(key, "is not a number of at least 0"), 0;
    return value->get<double>();
  }
  bool flag(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) fail(key, "is neither true nor false");
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  std::string text(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_string()) fail(key, "is not a text");
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  }
  const Json& list(const char* key) {
    static const Json kEmpty = Json::array();
    const Json* value = find(key);
    if (value != nullptr && !value->is_array()) fail(key, "is not a list");
    return value != nullptr && value->is_array() ? *value : kEmpty;
  }
  Reader inside(const char* key) {
    static const Json kEmpty = Json::object();
    const Json* value = find(key);
    if (value != nullptr && !value->is_object()) fail(key, "is not an object");
    return {value != nullptr && value->is_object() ? *value : kEmpty, path_ + key + ".", error_};
  }
  void fail(const std::string& key, std::string message) {
    if (!error_) error_ = Error{std::move(message), "key '" + path_ + key + "'", kRemedy};
  }

 private:
  const Json* find(const char* key) {
    const auto found = object_.find(key);
    if (found != object_.end() && !found->is_null()) return &*found;
    fail(key, "is missing");
    return nullptr;
  }

  const Json& object_;
  std::string path_;
  std::optional<Error>& error_;
};

placement::Recompute recompute_of(Reader& read) {
  const std::string name = read.text("recompute");
  for (const placement::Recompute policy : placement::kPolicies)
    if (name == to_string(policy)) return policy;
  read.fail("recompute", "is none of none, selective, full");
  return placement::Recompute::kNone;
}

std::vector<placement::Stage> read_stages(Reader& root, std::optional<Error>& error) {
  std::vector<placement::Stage> stages;
  for (const Json& object : root.list("stages")) {
    const std::string path = fmt::format("stages[{}].", stages.size());
    if (!object.is_object()) return root.fail("stages", "is not a list of objects"), stages;
    Reader read(object, path, error);
    placement::Stage stage{.recompute = recompute_of(read)};
    for (const Json& pair : read.list("chunks")) {
      const bool right =
          pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() && pair[1].is_number_unsigned();
      if (!right) return read.fail("chunks", "is not a list of [begin, end]"), stages;
      stage.chunks.push_back({pair[0].get<std::size_t>(), pair[1].get<std::size_t>()});
    }
    stages.push_back(std::move(stage));
  }
  return stages;
}

hardware::Network read_network(Reader& root, std::optional<Error>& error) {
  hardware::Network network;
  Reader cluster = root.inside("cluster");
  for (const Json& object : cluster.list("network")) {
    if (!object.is_object()) return cluster.fail("network", "is not a list of objects"), network;
    Reader read(object, fmt::format("cluster.network[{}].", network.levels.size()), error);
    hardware::NetworkLevel level{.size = read.whole("size", 0),
                                 .bandwidth = read.number("bandwidth"),
                                 .efficiency = read.number("efficiency"),
                                 .latency = read.number("latency"),
                                 .ports = read.has("ports") ? read.whole("ports", 0) : 0};
    for (const Json& side : read.list("torus"))
      level.torus.push_back(side.is_number_integer() ? side.get<std::int64_t>() : 0);
    network.levels.push_back(std::move(level));
  }
  if (network.levels.empty()) cluster.fail("network", "has no levels");
  return network;
}

// Stages with equally many chunks that cut the whole chain, one behind the other.
Status check_cuts(const PlanDocument& plan) {
  const Error wrong{"does not cut the layers one behind the other", "key 'stages'", kRemedy};
  if (static_cast<std::int64_t>(plan.stages.size()) != plan.pipeline) return wrong;
  for (const placement::Stage& stage : plan.stages)
    if (static_cast<std::int64_t>(stage.chunks.size()) != plan.interleave) return wrong;
  std::size_t next = 0;
  for (const placement::Range& part : plan.parts()) {
    if (part.begin != next || part.end <= part.begin) return wrong;
    next = part.end;
  }
  if (next != plan.layers.size()) return wrong;
  return Done{};
}

// Whether the model can be built as the plan says. What builds it speaks of flags, and nobody has given any here.
Status check_model(const PlanDocument& plan) {
  if (!plan.config) return Done{};
  const auto graph = workload::build(*plan.config, plan.workload());
  if (graph) return Done{};
  constexpr std::pair<const char*, const char*> kKeys[] = {{"--tensor-parallel", "key 'tensor_parallel'"},
                                                           {"--sequence-parallel", "key 'sequence_parallel'"},
                                                           {"--microbatch", "key 'microbatch'"},
                                                           {"--seq", "key 'training.sequence'"}};
  for (const auto& [flag, key] : kKeys)
    if (graph.error().place == flag) return Error{graph.error().message, key, kRemedy};
  return within("key 'model_config'", graph.error());
}

}  // namespace

workload::WorkloadOptions PlanDocument::workload() const {
  return {.sequence = sequence,
          .microbatch = microbatch,
          .parallel = {.width = tensor_parallel, .sequence = sequence_parallel},
          .attention = flash_attention ? workload::AttentionKind::kFlash : workload::AttentionKind::kEager,
          .fuse = fuse};
}

std::vector<placement::Range> PlanDocument::parts() const {
  std::vector<placement::Range> parts;
  parts.reserve(static_cast<std::size_t>(pipeline * interleave));
  for (std::size_t k = 0; k < static_cast<std::size_t>(interleave); ++k)
    for (const placement::Stage& stage : stages) parts.push_back(stage.chunks[k]);
  return parts;
}

Result<PlanDocument> read_plan(const std::string& text) {
  const auto document = parse_json<Json>(text);
  if (!document) return Error{document.error().message, document.error().place, kRemedy};
  const Json& json = *document;
  if (!json.is_object()) return Error{"this is not a JSON object", "", kRemedy};
  if (const auto feasible = json.find("feasible"); feasible != json.end() && *feasible == false)
    return Error{"the plan is infeasible, so there is nothing to export"};
  std::optional<Error> error;
  Reader root(json, "", error);
  PlanDocument plan;
  plan.model = root.text("model");
  plan.chip_name = root.text("chip");
  plan.pipeline = root.whole("pipeline", 1);
  plan.tensor_parallel = root.whole("tensor_parallel", 1);
  plan.data_parallel = root.whole("data_parallel", 1);
  plan.interleave = root.whole("interleave", 1);
  plan.microbatch = root.whole("microbatch", 1);
  plan.microbatches = root.whole("microbatches", 1);
  plan.zero = root.whole("zero", 0, kMostZero);
  plan.sequence_parallel = root.flag("sequence_parallel");
  plan.data_inside = root.text("order") == "tensor, data, pipeline";
  Reader training = root.inside("training");
  plan.global_batch = training.whole("global_batch", 1, kMost * kMost);
  plan.sequence = training.whole("sequence", 1, kMost * kMost);
  plan.flash_attention = training.text("attention") == "flash";
  if (training.has("fuse")) plan.fuse = training.flag("fuse");
  if (training.has("states_per_layer")) plan.states_per_layer = training.whole("states_per_layer", 1, kMost * kMost);
  plan.overlap_gradients = training.flag("overlap_gradients");
  Reader states = training.inside("bytes_per_parameter");
  plan.gradient_bytes = states.number("gradients");
  plan.optimizer_bytes = states.number("optimizer");
  plan.network = read_network(root, error);
  for (const Json& name : root.list("layer_names"))
    plan.layers.push_back(name.is_string() ? name.get<std::string>() : std::string());
  plan.stages = read_stages(root, error);
  if (error) return *error;
  if (const Status cuts = check_cuts(plan); !cuts) return cuts.error();
  if (const auto config = json.find("model_config"); config == json.end()) {
    // Where the key is left out altogether, a model of the zoo is known by its name.
    if (auto entry = workload::zoo_entry(plan.model)) plan.config = std::move(entry->config);
  } else if (!config->is_null()) {
    auto parsed = workload::hf::parse_config(config->dump(), plan.model);
    if (!parsed) return within("key 'model_config'", parsed.error());
    plan.config = std::move(*parsed);
  }
  if (const Status model = check_model(plan); !model) return model.error();
  if (const auto chip = json.find("chip_file"); chip != json.end() && !chip->is_null()) {
    if (!chip->is_string()) return Error{"is not a text", "key 'chip_file'", kRemedy};
    auto parsed = hardware::parse_chip_file(chip->get<std::string>());
    if (!parsed) return within("key 'chip_file'", parsed.error());
    plan.chip = std::move(*parsed);
  }
  return plan;
}

CommonRecompute common_recompute(const PlanDocument& plan) {
  CommonRecompute common;
  for (const placement::Stage& stage : plan.stages) {
    common.policy = std::max(common.policy, stage.recompute);
    common.mixed = common.mixed || stage.recompute != plan.stages.front().recompute;
  }
  return common;
}

}  // namespace phaze::exports
