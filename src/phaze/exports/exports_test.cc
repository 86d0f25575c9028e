// Every export is held against the names that the other tool documents. The tables below are those names, as far as the
// exports use them:
//   Megatron-LM   NVIDIA/Megatron-LM megatron/training/arguments.py at 000c4ac (megatron-core 0.15)
//   torchtitan    pytorch/torchtitan torchtitan/config/job_config.py, versions 0.1 and 0.2
//   Timeloop      Accelergy-Project/timeloopfe timeloopfe/v4/arch.py at 031c7b8
//   Perfetto      "Trace Event Format" (Google, 2016)
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "phaze/exports/megatron.h"
#include "phaze/exports/perfetto.h"
#include "phaze/exports/timeloop.h"
#include "phaze/exports/torchtitan.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/request.h"
#include "phaze/placement/solve.h"
#include "phaze/report/plan_report.h"
#include "phaze/sim/from_plan.h"

namespace phaze::exports {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

const std::set<std::string> kMegatronArguments = {"--use-mcore-models",
                                                  "--num-layers",
                                                  "--hidden-size",
                                                  "--ffn-hidden-size",
                                                  "--num-attention-heads",
                                                  "--group-query-attention",
                                                  "--num-query-groups",
                                                  "--kv-channels",
                                                  "--seq-length",
                                                  "--max-position-embeddings",
                                                  "--position-embedding-type",
                                                  "--rotary-percent",
                                                  "--relative-attention-num-buckets",
                                                  "--normalization",
                                                  "--swiglu",
                                                  "--disable-bias-linear",
                                                  "--add-qkv-bias",
                                                  "--untie-embeddings-and-output-weights",
                                                  "--attention-dropout",
                                                  "--hidden-dropout",
                                                  "--attention-backend",
                                                  "--bert-no-binary-head",
                                                  "--tensor-model-parallel-size",
                                                  "--sequence-parallel",
                                                  "--pipeline-model-parallel-size",
                                                  "--pipeline-model-parallel-layout",
                                                  "--num-virtual-stages-per-pipeline-rank",
                                                  "--use-tp-pp-dp-mapping",
                                                  "--use-distributed-optimizer",
                                                  "--use-megatron-fsdp",
                                                  "--data-parallel-sharding-strategy",
                                                  "--ckpt-format",
                                                  "--overlap-grad-reduce",
                                                  "--overlap-param-gather",
                                                  "--recompute-granularity",
                                                  "--recompute-method",
                                                  "--recompute-num-layers",
                                                  "--micro-batch-size",
                                                  "--global-batch-size",
                                                  "--bf16",
                                                  "--grad-reduce-in-bf16",
                                                  "--accumulate-allreduce-grads-in-fp32",
                                                  "--optimizer"};

// Arguments with a closed list of values.
const std::map<std::string, std::set<std::string>> kMegatronChoices = {
    {"--position-embedding-type", {"learned_absolute", "rope", "mrope", "relative", "none"}},
    {"--normalization", {"LayerNorm", "RMSNorm"}},
    {"--attention-backend", {"flash", "fused", "unfused", "local", "auto"}},
    {"--data-parallel-sharding-strategy", {"no_shard", "optim", "optim_grads", "optim_grads_params"}},
    {"--ckpt-format", {"torch", "torch_dist", "zarr", "torch_dcp", "fsdp_dtensor"}},
    {"--recompute-granularity", {"full", "selective"}},
    {"--recompute-method", {"uniform", "block"}},
    {"--optimizer", {"adam", "sgd"}}};

const std::map<std::string, std::set<std::string>> kTorchtitanKeys = {
    {"job", {"description"}},
    {"model", {"name", "flavor"}},
    {"optimizer", {"name"}},
    {"training",
     {"local_batch_size", "global_batch_size", "seq_len", "steps", "mixed_precision_param", "mixed_precision_reduce"}},
    {"parallelism",
     {"data_parallel_replicate_degree", "data_parallel_shard_degree", "fsdp_reshard_after_forward",
      "tensor_parallel_degree", "context_parallel_degree", "pipeline_parallel_degree", "pipeline_parallel_schedule",
      "pipeline_parallel_microbatch_size", "module_fqns_per_model_part"}},
    {"activation_checkpoint", {"mode", "selective_ac_option"}}};

const std::set<std::string> kTimeloopClasses = {"DRAM", "SRAM", "regfile", "fpmac"};
const std::set<std::string> kTimeloopStorage = {"depth", "width", "datawidth", "shared_bandwidth", "type"};

hardware::Cluster cluster_of(const std::string& chip, std::int64_t devices) {
  auto loaded = hardware::load_chip(chip);
  auto network = hardware::own_network(*loaded);
  return *hardware::make_cluster(std::move(*loaded), devices, std::move(*network));
}

// What 'phaze place --json' writes for the best plan.
std::string planned(const std::string& model, const hardware::Cluster& cluster,
                    const layer_times::PlanOptions& options) {
  cost::Memo memo;
  NoProgress quiet;
  const auto problem = layer_times::make_problem(model, cluster, options, memo, quiet);
  EXPECT_TRUE(problem) << to_string(problem.error());
  auto solution = placement::solve(problem->request, {}, quiet);
  report::PlanAnswer answer{.model = problem->model,
                            .chip = cluster.chip.name,
                            .sequence = problem->sequence,
                            .flops_per_sample = problem->flops_per_sample,
                            .peak_flops = cluster.chip.peak_flops(),
                            .model_config = problem->config,
                            .chip_file = hardware::chip_file_text(cluster.chip),
                            .flash_attention = options.attention == workload::AttentionKind::kFlash,
                            .fuse = options.fuse,
                            .request = &problem->request,
                            .states_per_layer = layer_times::TableOptions{}.states_per_layer};
  for (placement::Ranked& ranked : solution.plans) {
    sim::Pipeline pipeline = sim::pipeline_of(problem->request, ranked.plan);
    sim::Run run = sim::simulate(pipeline);
    answer.plans.push_back({std::move(ranked.plan), std::move(ranked.evaluation), std::move(pipeline), std::move(run)});
  }
  EXPECT_FALSE(answer.plans.empty());
  return report::plan_json(answer, 1);
}

layer_times::PlanOptions fixed(std::int64_t tensor, std::int64_t pipeline, std::int64_t data, std::int64_t interleave,
                               int zero) {
  layer_times::PlanOptions options;
  options.widths = {tensor};
  options.microbatches = {1};
  options.sequence_parallel = tensor > 1 ? layer_times::SequenceParallel::kOn : layer_times::SequenceParallel::kOff;
  options.global_batch = 64;
  options.freedom = {.pipeline = pipeline, .data_parallel = data, .interleave = {interleave}, .zero = {zero}};
  return options;
}

// GPT3-175B on 64 A100s, as Korthikanti et al. trained it, and with a pipeline whose stages cannot be equal.
const std::string& interleaved_plan() {
  static const std::string text = planned("gpt3-175b", cluster_of("a100-80g", 64), fixed(8, 8, 1, 3, 0));
  return text;
}
const std::string& uneven_plan() {
  static const std::string text = planned("gpt3-175b", cluster_of("a100-80g", 1120), fixed(8, 35, 4, 1, 1));
  return text;
}

PlanDocument read(const std::string& text) {
  auto plan = read_plan(text);
  EXPECT_TRUE(plan) << to_string(plan.error());
  return *plan;
}

PlanDocument changed(const std::string& text, const std::function<void(nlohmann::ordered_json&)>& change) {
  auto json = nlohmann::ordered_json::parse(text);
  change(json);
  return read(json.dump());
}

// The words between "args=(" and ")": names, and values where there are any.
std::map<std::string, std::string> arguments_of(const std::string& script) {
  std::map<std::string, std::string> arguments;
  std::istringstream lines(script.substr(script.find("args=(\n") + 7));
  for (std::string line; std::getline(lines, line) && line != ")";) {
    std::istringstream words(line);
    std::string name, value;
    words >> name;
    std::getline(words >> std::ws, value);
    if (name == "#") continue;
    if (value.size() > 1 && value.front() == '\'') value = value.substr(1, value.size() - 2);
    EXPECT_TRUE(arguments.emplace(name, value).second) << name << " is given twice";
  }
  return arguments;
}

void expect_known(const std::map<std::string, std::string>& arguments) {
  for (const auto& [name, value] : arguments) {
    EXPECT_TRUE(kMegatronArguments.contains(name)) << name;
    if (const auto choices = kMegatronChoices.find(name); choices != kMegatronChoices.end()) {
      EXPECT_TRUE(choices->second.contains(value)) << name << " " << value;
    }
  }
}

// Megatron's grammar: groups in parentheses and single letters may be repeated, | ends a part.
std::vector<std::string> expanded(std::string layout) {
  for (std::size_t open = layout.find('('); open != std::string::npos; open = layout.find('(')) {
    const std::size_t close = layout.find(")*", open);
    std::size_t digits = 0;
    const int times = std::stoi(layout.substr(close + 2), &digits);
    const std::string group = layout.substr(open + 1, close - open - 1);
    std::string many;
    for (int i = 0; i < times; ++i) many += group;
    layout.replace(open, close + 2 + digits - open, many);
  }
  std::vector<std::string> parts;
  std::istringstream stream(layout);
  for (std::string part; std::getline(stream, part, '|');) parts.push_back(part);
  return parts;
}

TEST(Megatron, a_plan_of_gpt3_becomes_known_arguments_with_the_plans_values) {
  const PlanDocument plan = read(interleaved_plan());
  const auto script = megatron_script(plan);
  ASSERT_TRUE(script);
  const auto arguments = arguments_of(script->text);
  expect_known(arguments);
  const std::map<std::string, std::string> expected = {{"--num-layers", "96"},
                                                       {"--hidden-size", "12288"},
                                                       {"--ffn-hidden-size", "49152"},
                                                       {"--num-attention-heads", "96"},
                                                       {"--seq-length", "2048"},
                                                       {"--tensor-model-parallel-size", "8"},
                                                       {"--pipeline-model-parallel-size", "8"},
                                                       {"--micro-batch-size", "1"},
                                                       {"--global-batch-size", "64"},
                                                       {"--sequence-parallel", ""},
                                                       {"--bf16", ""},
                                                       {"--position-embedding-type", "learned_absolute"},
                                                       {"--normalization", "LayerNorm"}};
  for (const auto& [name, value] : expected) EXPECT_EQ(arguments.at(name), value) << name;
  EXPECT_THAT(script->text, AllOf(HasSubstr("torchrun --nnodes 8 --nproc-per-node 8"), HasSubstr("pretrain_gpt.py")));
  EXPECT_FALSE(arguments.contains("--use-distributed-optimizer"));
}

TEST(Megatron, tensor_parallel_groups_are_not_torn_apart_between_nodes) {
  // Two groups of five, in nodes of eight.
  layer_times::PlanOptions options = fixed(5, 1, 2, 1, 1);
  options.sequence_parallel = layer_times::SequenceParallel::kOff;
  const PlanDocument plan = read(planned("gpt2-xl", cluster_of("a100-80g", 16), options));
  const auto script = megatron_script(plan);
  ASSERT_TRUE(script);
  EXPECT_THAT(script->text, HasSubstr("torchrun --nnodes 2 --nproc-per-node 5"));
}

TEST(Megatron, a_layout_names_every_layer_of_unequal_stages_once) {
  const PlanDocument plan = read(uneven_plan());
  const auto script = megatron_script(plan);
  ASSERT_TRUE(script);
  const auto arguments = arguments_of(script->text);
  expect_known(arguments);
  EXPECT_TRUE(arguments.contains("--use-distributed-optimizer"));
  EXPECT_TRUE(arguments.contains("--overlap-grad-reduce"));
  EXPECT_FALSE(arguments.contains("--num-virtual-stages-per-pipeline-rank"));
  const auto layout = expanded(arguments.at("--pipeline-model-parallel-layout"));
  const auto parts = plan.parts();
  ASSERT_EQ(layout.size(), parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::string expected;
    for (std::size_t node = parts[i].begin; node < parts[i].end; ++node)
      expected += node == 0 ? 'E' : node + 1 == plan.layers.size() ? 'L' : 't';
    EXPECT_EQ(layout[i], expected) << "part " << i;
  }
}

TEST(Megatron, equal_chunks_need_no_layout) {
  const PlanDocument plan = changed(interleaved_plan(), [](auto& json) {
    // 96 layers in 24 parts of four; the embedding goes with the first, the head with the last.
    for (std::size_t s = 0; s < 8; ++s)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::size_t part = k * 8 + s;
        json["stages"][s]["chunks"][k] = {part == 0 ? 0 : 4 * part + 1, 4 * part + 5 + (part == 23 ? 1 : 0)};
      }
  });
  const auto arguments = arguments_of(megatron_script(plan)->text);
  EXPECT_EQ(arguments.at("--num-virtual-stages-per-pipeline-rank"), "3");
  EXPECT_FALSE(arguments.contains("--pipeline-model-parallel-layout"));
}

TEST(Megatron, what_it_cannot_express_is_said) {
  const PlanDocument plan = changed(interleaved_plan(), [](auto& json) {
    json["stages"][0]["recompute"] = "full";
    json["stages"][1]["recompute"] = "none";
    json["training"]["global_batch"] = 63;
  });
  const auto script = megatron_script(plan);
  EXPECT_THAT(script->notes, Contains(HasSubstr("recompute per stage")));
  EXPECT_THAT(script->notes, Contains(HasSubstr("A global batch of 63 does not fill")));
  for (const std::string& note : script->notes) EXPECT_THAT(script->text, HasSubstr("# Note: " + note));
  const auto arguments = arguments_of(script->text);
  expect_known(arguments);
  EXPECT_EQ(arguments.at("--recompute-granularity"), "full");
  EXPECT_EQ(arguments.at("--recompute-num-layers"), "1");
}

TEST(Megatron, every_zoo_model_is_exported_with_known_names_or_refused) {
  int exported = 0, refused = 0;
  for (const char* model : {"bert-large", "llama2-7b", "llama3-8b", "qwen2.5-7b", "gemma2-9b", "gpt-neox-20b",
                            "falcon-40b", "opt-350m", "phi3-mini", "t5-large", "vit-large"}) {
    for (const int zero : {0, 3}) {
      const PlanDocument plan = read(planned(model, cluster_of("mi300x", 32), fixed(1, 8, 4, 1, zero)));
      const auto script = megatron_script(plan);
      if (!script) {
        EXPECT_THAT(to_string(script.error()), HasSubstr("do not build"));
        ++refused;
        continue;
      }
      ++exported;
      expect_known(arguments_of(script->text));
      EXPECT_EQ(script->text.find("pretrain_bert.py") != std::string::npos, std::string(model) == "bert-large")
          << model;
    }
  }
  EXPECT_EQ(exported, 18);
  EXPECT_EQ(refused, 4);
}

// Sections with their keys, from the TOML that we write: a key starts a line, a list may go on in indented lines.
std::map<std::string, std::map<std::string, std::string>> sections_of(const std::string& toml) {
  std::map<std::string, std::map<std::string, std::string>> sections;
  std::istringstream lines(toml);
  std::string section, key;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      section = line.substr(1, line.size() - 2);
    } else if (line.front() == ' ' || line.front() == ']') {
      sections[section][key] += line;
    } else {
      key = line.substr(0, line.find(" = "));
      EXPECT_TRUE(sections[section].emplace(key, line.substr(line.find(" = ") + 3)).second) << key;
    }
  }
  return sections;
}

TEST(Torchtitan, a_plan_becomes_known_keys_and_names_every_module_once) {
  const PlanDocument plan = read(uneven_plan());
  const auto toml = torchtitan_toml(plan);
  ASSERT_TRUE(toml);
  auto sections = sections_of(toml->text);
  for (const auto& [section, keys] : sections) {
    ASSERT_TRUE(kTorchtitanKeys.contains(section)) << section;
    for (const auto& [key, value] : keys)
      EXPECT_TRUE(kTorchtitanKeys.at(section).contains(key)) << section << "." << key;
  }
  auto& parallelism = sections["parallelism"];
  EXPECT_EQ(parallelism["data_parallel_shard_degree"], "4");
  EXPECT_EQ(parallelism["tensor_parallel_degree"], "8");
  EXPECT_EQ(parallelism["pipeline_parallel_degree"], "35");
  EXPECT_EQ(parallelism["pipeline_parallel_schedule"], "\"1F1B\"");
  EXPECT_EQ(sections["training"]["local_batch_size"], "16");
  std::string list = parallelism["module_fqns_per_model_part"];
  list.erase(list.rfind(','), 1);  // TOML allows a comma at the end, JSON does not
  const auto modules = nlohmann::json::parse(list);
  ASSERT_EQ(modules.size(), 35U);
  std::vector<std::string> names, expected = {"tok_embeddings"};
  for (const auto& part : modules)
    for (const auto& name : part) names.push_back(name);
  for (int layer = 0; layer < 96; ++layer) expected.push_back("layers." + std::to_string(layer));
  expected.insert(expected.end(), {"norm", "output"});
  EXPECT_EQ(names, expected);
}

TEST(Torchtitan, llama3_is_known_by_its_sizes) {
  const auto toml = torchtitan_toml(read(planned("llama3-8b", cluster_of("h100-sxm", 8), fixed(1, 1, 8, 1, 3))));
  EXPECT_THAT(toml->text, AllOf(HasSubstr("name = \"llama3\"\nflavor = \"8B\""),
                                HasSubstr("fsdp_reshard_after_forward = \"always\""), Not(HasSubstr("module_fqns"))));
}

TEST(Timeloop, every_preset_becomes_an_architecture_of_known_classes_and_attributes) {
  for (const std::string& name : hardware::chip_presets()) {
    const hardware::Chip chip = *hardware::load_chip(name);
    const YAML::Node root = YAML::Load(timeloop_yaml(chip).text);
    EXPECT_EQ(root["architecture"]["version"].as<std::string>(), "0.4");
    EXPECT_EQ(root["variables"]["version"].as<std::string>(), "0.4");
    std::map<std::string, YAML::Node> nodes;
    for (const YAML::Node& node : root["architecture"]["nodes"]) {
      EXPECT_TRUE(node.Tag() == "!Component" || node.Tag() == "!Container") << node.Tag();
      nodes[node["name"].as<std::string>()] = node;
      if (node.Tag() == "!Container") continue;
      const auto kind = node["class"].as<std::string>();
      EXPECT_TRUE(kTimeloopClasses.contains(kind)) << kind;
      if (kind == "fpmac") continue;
      for (const auto& entry : node["attributes"])
        EXPECT_TRUE(kTimeloopStorage.contains(entry.first.as<std::string>()));
    }
    const auto bytes = [&](const char* memory) {
      return nodes[memory]["attributes"]["depth"].as<double>() * nodes[memory]["attributes"]["width"].as<double>() / 8;
    };
    EXPECT_NEAR(bytes("global_buffer"), static_cast<double>(chip.global_buffer.value()), 8192);
    EXPECT_NEAR(bytes("hbm"), static_cast<double>(chip.hbm.value()), 128);
    const auto macs = nodes["tensor_core"]["spatial"]["meshX"].as<std::int64_t>() *
                      nodes["unit"]["spatial"]["meshX"].as<std::int64_t>() *
                      nodes["unit"]["spatial"]["meshY"].as<std::int64_t>();
    EXPECT_EQ(macs, chip.macs());
  }
}

TEST(Perfetto, a_trace_holds_the_pipeline_and_a_schedule_of_every_layer) {
  const PlanDocument plan = read(interleaved_plan());
  const auto trace = perfetto_trace(plan, interleaved_plan());
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->notes.empty());
  const auto json = nlohmann::json::parse(trace->text);
  std::map<int, std::string> processes;
  std::map<int, int> slices;
  for (const auto& event : json["traceEvents"]) {
    const std::string phase = event.at("ph");
    EXPECT_TRUE(phase == "M" || phase == "X" || phase == "C") << phase;
    if (phase == "M" && event.at("name") == "process_name") processes[event.at("pid")] = event["args"].at("name");
    if (phase == "X") {
      EXPECT_GE(event.at("ts").get<double>(), 0);
      EXPECT_GE(event.at("dur").get<double>(), 0);
      ++slices[event.at("pid")];
    }
  }
  ASSERT_EQ(processes.size(), 8U + 6U);
  EXPECT_EQ(processes[0], "stage 1");
  EXPECT_EQ(processes[8], "layer embedding forward");
  EXPECT_EQ(processes[11], "layer block backward");
  for (const auto& [pid, name] : processes) EXPECT_GT(slices[pid], 0) << name;
  // Forward and backward of three chunks for 64 microbatches, the optimizer step, messages and reductions.
  EXPECT_GE(slices[0], 2 * 3 * 64);
}

// When the last operator of every layer ends, by the name of its process, in microseconds.
std::map<std::string, double> layer_ends(const PlanDocument& plan, const std::string& text) {
  const auto trace = perfetto_trace(plan, text);
  EXPECT_TRUE(trace);
  std::map<int, std::string> processes;
  std::map<std::string, double> ends;
  const auto json = nlohmann::json::parse(trace->text);
  for (const auto& event : json["traceEvents"])
    if (event.at("ph") == "M" && event.at("name") == "process_name")
      processes[event.at("pid")] = event["args"].at("name");
  for (const auto& event : json["traceEvents"])
    if (event.at("ph") == "X") {
      double& end = ends[processes[event.at("pid")]];
      end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
    }
  return ends;
}

TEST(Perfetto, layers_take_as_long_as_in_the_plan_also_on_a_gpu_and_unfused) {
  for (const char* chip : {"a100-80g", "tpuv4"})
    for (const bool fuse : {true, false}) {
      const hardware::Cluster cluster = cluster_of(chip, 8);
      layer_times::PlanOptions options = fixed(2, 1, 4, 1, 0);
      options.fuse = fuse;
      const std::string text = planned("bert-large", cluster, options);
      const auto ends = layer_ends(read(text), text);
      NoProgress quiet;
      const auto workload = layer_times::load_workload("bert-large", 8, cluster.network, options, quiet);
      ASSERT_TRUE(workload);
      const cost::OperatorCosts costs(layer_times::cost_options(options, cluster));
      layer_schedule::LayerScheduler scheduler({}, layer_times::TableOptions{}.states_per_layer);
      for (const workload::Layer& layer : workload->graphs.front().layers) {
        const double forward = 1e6 * scheduler.time(layer.forward, costs).seconds;
        const double backward = 1e6 * scheduler.time(layer.backward, costs).seconds;
        EXPECT_NEAR(ends.at("layer " + layer.name + " forward"), forward, 1e-6 * forward) << chip << " " << fuse;
        EXPECT_NEAR(ends.at("layer " + layer.name + " backward"), backward, 1e-6 * backward) << chip << " " << fuse;
      }
    }
}

TEST(PlanDocument, older_files_are_of_fused_layers) {
  EXPECT_TRUE(read(interleaved_plan()).fuse);
  const auto older = changed(interleaved_plan(), [](auto& json) {
    json["training"].erase("fuse");
    json["training"].erase("states_per_layer");
  });
  EXPECT_TRUE(older.fuse);
  EXPECT_EQ(older.states_per_layer, read(interleaved_plan()).states_per_layer);
  EXPECT_FALSE(changed(interleaved_plan(), [](auto& json) { json["training"]["fuse"] = false; }).fuse);
}

TEST(PlanDocument, broken_files_are_named_by_their_key) {
  using Change = std::function<void(nlohmann::ordered_json&)>;
  const std::vector<std::pair<Change, std::string>> cases = {
      {[](auto& json) { json.erase("pipeline"); }, "key 'pipeline': is missing"},
      {[](auto& json) { json["pipeline"] = 0; }, "key 'pipeline': is not a whole number from 1 to 1048576"},
      {[](auto& json) { json["data_parallel"] = 1e300; }, "key 'data_parallel': is not a whole number"},
      {[](auto& json) { json["zero"] = 9; }, "key 'zero': is not a whole number from 0 to 3"},
      {[](auto& json) { json["tensor_parallel"] = 11; }, "key 'tensor_parallel': width 11 does not divide the"},
      {[](auto& json) {
         json["microbatch"] = 1 << 20;
         json["training"]["sequence"] = 1 << 27;
       },
       "key 'training.sequence': a sequence of 134217728 tokens is not between 1 and 67108864"},
      {[](auto& json) { json["chip_file"] = 5; }, "key 'chip_file': is not a text"},
      {[](auto& json) { json["pipeline"] = 7; }, "key 'stages': does not cut the layers"},
      {[](auto& json) {
         json["stages"][0]["chunks"][0] = {1, 2};
       },
       "key 'stages': does not cut the layers"},
      {[](auto& json) {
         json["stages"][0]["chunks"][0] = {-1, 2};
       },
       "key 'stages[0].chunks': is not a list"},
      {[](auto& json) { json["stages"][2]["recompute"] = "some"; }, "key 'stages[2].recompute': is none of"},
      {[](auto& json) { json["layer_names"].push_back("more"); }, "key 'stages': does not cut"},
      {[](auto& json) { json["training"] = 3; }, "key 'training': is not an object"},
      {[](auto& json) { json["training"]["bytes_per_parameter"]["gradients"] = -4; },
       "gradients': is not a number of at least 0"},
      {[](auto& json) { json["cluster"]["network"] = nlohmann::json::array(); },
       "key 'cluster.network': has no levels"},
      {[](auto& json) { json["model_config"]["n_head"] = "many"; }, "key 'model_config'"},
      {[](auto& json) { json["chip_file"] = "clock: fast"; }, "key 'chip_file'"},
      {[](auto& json) { json["feasible"] = false; }, "infeasible"},
  };
  for (const auto& [change, message] : cases) {
    auto json = nlohmann::ordered_json::parse(interleaved_plan());
    change(json);
    const auto plan = read_plan(json.dump());
    ASSERT_FALSE(plan) << message;
    EXPECT_THAT(to_string(plan.error()), HasSubstr(message));
  }
  EXPECT_THAT(to_string(read_plan("{").error()), HasSubstr("is not valid JSON"));
  EXPECT_THAT(to_string(read_plan(R"({"zero": 1, "zero": 2})").error()), HasSubstr("key 'zero' is there twice"));
  EXPECT_THAT(to_string(read_plan("[]").error()), HasSubstr("not a JSON object"));
}

TEST(PlanDocument, hostile_names_stay_text) {
  const std::string name = "x'; touch pwned; #\n\"$(id)\"";
  const PlanDocument plan = changed(uneven_plan(), [&](auto& json) { json["model"] = json["chip"] = name; });
  for (const std::string& text : {megatron_script(plan)->text, torchtitan_toml(plan)->text}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_TRUE(line.find("touch pwned") == std::string::npos || line.starts_with("#") ||
                  line.starts_with("description = \"phaze: x'; touch pwned; #\\n\\\"") ||
                  line.starts_with("flavor = \"x'; touch pwned; #\\n\\\""))
          << line;
  }
}

}  // namespace
}  // namespace phaze::exports
