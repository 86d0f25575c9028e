// phaze estimate gemm | vector | layer, and many of them from a file.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "phaze/base/json_reader.h"
#include "phaze/base/nearest.h"
#include "phaze/base/text_file.h"
#include "phaze/cli/chip_options.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/model_options.h"
#include "phaze/cli/session.h"
#include "phaze/cost/gemm.h"
#include "phaze/cost/op_cost.h"
#include "phaze/cost/sunstone.h"
#include "phaze/cost/vector.h"
#include "phaze/report/estimate_report.h"
#include "phaze/workload/load.h"

namespace phaze::cli {
namespace {

using report::Json;

struct GemmRequest {
  ChipOptions chip;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t cores = 0;  // 0: all
  cost::GemmModel model = cost::GemmModel::kPhysical;
};

struct VectorRequest {
  ChipOptions chip;
  std::string op;
  std::int64_t tokens = 0, hidden = 0;
  bool backward = false;
};

struct LayerRequest {
  ChipOptions chip;
  ModelOptions model;
};

Result<report::GemmAnswer> answer(const GemmRequest& request) {
  const auto cluster = request.chip.load();
  if (!cluster) return cluster.error();
  const hardware::Chip& chip = cluster->chip;
  const std::int64_t cores = request.cores == 0 ? chip.tensor_cores.count : request.cores;
  if (cores > chip.tensor_cores.count)
    return Error{
        "the chip has " + std::to_string(chip.tensor_cores.count) + " tensor cores, not " + std::to_string(cores),
        "--cores"};
  const cost::GemmProblem problem{.batch = request.batch, .m = request.m, .n = request.n, .k = request.k};
  report::GemmAnswer answer;
  if (request.model == cost::GemmModel::kSunstone) {
    cost::SunstoneMapper mapper(request.m, request.k, request.n);
    const cost::SunstoneCore core{cores, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.global_buffer.value()};
    const cost::SunstoneMapping mapping = mapper.least_mapping(core);
    if (!mapping.feasible) return Error{"the global buffer holds no tile", "--chip"};
    const auto batch = static_cast<double>(request.batch);
    answer.cycles = batch * mapping.cycles;
    answer.estimate = {.seconds = answer.cycles / chip.clock_hz,
                       .joules = batch * cost::sunstone_joules(mapping, problem.macs() / batch, chip),
                       .hbm_bytes = batch * 2 * (mapping.reads[2] + mapping.writes[2]),
                       .bound_by = mapping.bound_by};
    answer.global_bytes = batch * 2 * (mapping.reads[1] + mapping.writes[1]);
    answer.core_elements = batch * (mapping.reads[0] + mapping.writes[0]);
    answer.mapping = describe(mapping);
  } else {
    const cost::GemmMachine machine = cost::gemm_machine(chip, cores);
    const cost::GemmCost cost = cost::least_gemm_cost(problem, machine);
    answer.cycles = cost.cycles / chip.calibration.compute;
    answer.estimate = {.seconds = answer.cycles / chip.clock_hz + chip.calibration.start_seconds,
                       .joules = cost.joules,
                       .hbm_bytes = cost.hbm_bytes,
                       .bound_by = cost.bound_by};
    answer.global_bytes = cost.global_bytes;
    answer.core_elements = cost.core_elements;
    answer.mapping = cost::describe(problem, machine, cost.mapping);
  }
  answer.peak_fraction = 2 * problem.macs() / answer.estimate.seconds / chip.peak_flops();
  return answer;
}

// Names as people write them: layernorm, layer_norm, layer-norm.
Result<workload::VectorOp> vector_op(const std::string& name) {
  const auto plain = [](std::string_view text) {
    std::string letters;
    for (const char c : text)
      if (c != '_' && c != '-') letters += c;
    return letters;
  };
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(workload::VectorOp::kOther); ++i) {
    const auto op = static_cast<workload::VectorOp>(i);
    if (plain(workload::to_string(op)) == plain(name)) return op;
    known.emplace_back(workload::to_string(op));
  }
  return Error{"there is no vector operator '" + name + "'", "--op", suggest(name, known)};
}

Result<cost::Estimate> answer(const VectorRequest& request) {
  const auto cluster = request.chip.load();
  if (!cluster) return cluster.error();
  const auto op = vector_op(request.op);
  if (!op) return op.error();
  const workload::VectorWork work{
      .op = *op, .backward = request.backward, .rows = request.tokens, .cols = request.hidden};
  cost::Estimate estimate =
      cost::vector_cost(work, cost::vector_bytes(work, 2), cluster->chip, cluster->chip.vector_cores.count);
  if (estimate.hbm_bytes > 0) estimate.seconds += cluster->chip.calibration.start_seconds;
  return estimate;
}

Result<std::vector<report::LayerAnswer>> answer(const LayerRequest& request, Session& session) {
  auto cluster = request.chip.load();
  if (!cluster) return cluster.error();
  const auto graph = workload::load_model(request.model.model, request.model.workload, session.progress);
  if (!graph) return graph.error();
  for (const std::string& warning : graph->warnings) session.log.warning(warning);
  const cost::OperatorCosts costs(
      {.chip = cluster->chip, .network = cluster->network, .fused_softmax = request.model.workload.fuse});
  std::vector<report::LayerAnswer> layers;
  for (std::size_t i = 0; i < graph->layers.size(); ++i) {
    const workload::Layer& layer = graph->layers[i];
    layers.push_back(
        {.name = layer.name,
         .repeat = graph->repeat(workload::LayerId(i)),
         .forward = cost::serial_cost(layer.forward, costs),
         .backward = cost::serial_cost(layer.backward, costs),
         .recompute = cost::serial_cost(workload::recomputed(layer.forward, request.model.recompute), costs),
         .saved_activation_bytes = layer.saved.under(request.model.recompute).value()});
  }
  return layers;
}

// Sets fields of a request from the keys of a JSON object, which are the flags' names.
class Keys {
 public:
  Keys(const Json& object, std::vector<std::string> known) : object_(object), known_(std::move(known)) {
    known_.insert(known_.end(), {"kind", "chip", "network"});
  }

  Status unknown() const {
    for (const auto& [key, value] : object_.items())
      if (std::ranges::find(known_, key) == known_.end())
        return Error{"unknown key '" + key + "'", "", suggest(key, known_)};
    return Done{};
  }

  Status text(const char* key, std::string& target, bool required = false) const {
    if (!object_.contains(key)) return required ? Status(missing(key)) : Status(Done{});
    if (!object_[key].is_string()) return Error{"is not text", key_place(key)};
    target = object_[key].get<std::string>();
    if (target.empty()) return Error{"is empty", key_place(key), required ? "" : "leave it out for the default"};
    return Done{};
  }

  Status count(const char* key, std::int64_t& target, bool required = false) const {
    if (!object_.contains(key)) return required ? Status(missing(key)) : Status(Done{});
    const Json& value = object_[key];
    if (!value.is_number_integer() || value.get<double>() < 1 || value.get<double>() > 9e15)
      return Error{"is not a whole number from 1 to 9000000000000000", key_place(key)};
    target = value.get<std::int64_t>();
    return Done{};
  }

  Status flag(const char* key, bool& target) const {
    if (!object_.contains(key)) return Done{};
    if (!object_[key].is_boolean()) return Error{"is neither true nor false", key_place(key)};
    target = object_[key].get<bool>();
    return Done{};
  }

  template <typename Enum>
  Status choice(const char* key, Enum& target, std::vector<std::pair<std::string, Enum>> choices) const {
    std::string word;
    if (auto status = text(key, word); !status || word.empty()) return status;
    std::string list;
    for (const auto& [name, value] : choices) {
      if (name == word) {
        target = value;
        return Done{};
      }
      list += (list.empty() ? "" : ", ") + name;
    }
    return Error{"'" + word + "' is none of " + list, key_place(key)};
  }

 private:
  static std::string key_place(const char* key) { return std::string("key '") + key + "'"; }
  static Error missing(const char* key) { return {"is missing", key_place(key)}; }

  const Json& object_;
  std::vector<std::string> known_;
};

Status first_error(std::initializer_list<Status> all) {
  for (const Status& status : all)
    if (!status) return status;
  return Done{};
}

const std::vector<std::pair<std::string, cost::GemmModel>> kGemmModels = {{"physical", cost::GemmModel::kPhysical},
                                                                          {"sunstone", cost::GemmModel::kSunstone}};

Result<Json> answer_object(const Json& object, Session& session) {
  if (!object.is_object()) return Error{"is not an object with the key kind"};
  std::string kind;
  if (object.contains("kind") && object["kind"].is_string()) kind = object["kind"].get<std::string>();
  if (kind == "gemm") {
    GemmRequest request;
    const Keys keys(object, {"batch", "m", "n", "k", "cores", "cost-model"});
    const Status status = first_error({keys.unknown(), keys.text("chip", request.chip.chip, true),
                                       keys.text("network", request.chip.network), keys.count("batch", request.batch),
                                       keys.count("m", request.m, true), keys.count("n", request.n, true),
                                       keys.count("k", request.k, true), keys.count("cores", request.cores),
                                       keys.choice("cost-model", request.model, kGemmModels)});
    if (!status) return status.error();
    const auto result = answer(request);
    if (!result) return result.error();
    return to_json(*result);
  }
  if (kind == "vector") {
    VectorRequest request;
    const Keys keys(object, {"op", "tokens", "hidden", "backward"});
    const Status status = first_error(
        {keys.unknown(), keys.text("chip", request.chip.chip, true), keys.text("network", request.chip.network),
         keys.text("op", request.op, true), keys.count("tokens", request.tokens, true),
         keys.count("hidden", request.hidden, true), keys.flag("backward", request.backward)});
    if (!status) return status.error();
    const auto result = answer(request);
    if (!result) return result.error();
    return report::to_json(*result);
  }
  if (kind == "layer") {
    LayerRequest request;
    workload::WorkloadOptions& options = request.model.workload;
    const Keys keys(object, {"model", "seq", "microbatch", "tensor-parallel", "sequence-parallel", "attention",
                             "recompute", "fuse"});
    using workload::AttentionKind;
    using workload::Recompute;
    const Status status = first_error(
        {keys.unknown(), keys.text("chip", request.chip.chip, true), keys.text("network", request.chip.network),
         keys.text("model", request.model.model, true), keys.count("seq", options.sequence),
         keys.count("microbatch", options.microbatch), keys.count("tensor-parallel", options.parallel.width),
         keys.flag("sequence-parallel", options.parallel.sequence), keys.flag("fuse", options.fuse),
         keys.choice<AttentionKind>("attention", options.attention,
                                    {{"eager", AttentionKind::kEager}, {"flash", AttentionKind::kFlash}}),
         keys.choice<Recompute>(
             "recompute", request.model.recompute,
             {{"none", Recompute::kNone}, {"selective", Recompute::kSelective}, {"full", Recompute::kFull}})});
    if (!status) return status.error();
    const auto result = answer(request, session);
    if (!result) return result.error();
    return to_json(*result);
  }
  const std::vector<std::string> known = {"gemm", "vector", "layer"};
  return Error{"there is no kind '" + kind + "'", "key 'kind'", suggest(kind, known)};
}

void answer_file(const std::string& path, Session& session) {
  const auto text = read_text_file(path);
  if (!text) return session.fail(text.error());
  const auto list = parse_json<Json>(*text);
  if (!list) return session.fail(within(path, list.error()));
  if (!list->is_array()) return session.fail({"is not a JSON list", path, "write it like [{\"kind\": \"gemm\", ...}]"});
  Json results = Json::array();
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (interrupted()) return session.fail({"stopped"});
    auto result = answer_object((*list)[i], session);
    if (!result) return session.fail(within(path + ": entry " + std::to_string(i + 1), result.error()));
    results.push_back(std::move(*result));
  }
  session.answer(report::text_of(results));
}

template <typename Answer>
void print(const Result<Answer>& result, Session& session) {
  if (!result) return session.fail(result.error());
  using report::to_json;
  using report::to_text;
  session.answer(session.json ? report::text_of(to_json(*result)) : to_text(*result));
}

}  // namespace

void add_estimate_command(CLI::App& app, Session& session) {
  CLI::App& estimate = *app.add_subcommand("estimate", "Time and energy of operators and layers on a chip");
  estimate.footer(
      "Examples:\n"
      "  phaze estimate gemm -m 4096 -n 4096 -k 4096 --chip h200\n"
      "  phaze estimate vector --op softmax --tokens 8192 --hidden 4096 --chip tpuv4\n"
      "  phaze estimate layer llama2-7b --chip a100-80g --microbatch 2 --attention flash\n"
      "  phaze estimate --batch-file questions.json");
  const auto file = std::make_shared<std::string>();
  estimate.add_option("--batch-file", *file, "A JSON list of objects with the flags as keys; answers in order")
      ->type_name("FILE");
  const auto count = [](CLI::App& command, const std::string& name, std::int64_t& target, const std::string& help) {
    return command.add_option(name, target, help)->check(positive_whole_number())->type_name("N");
  };

  // Asked before the command answers: what was refused must not have been answered.
  const auto answers = [file, &session](CLI::App& command, const auto& print_answer) {
    command.callback([file, &session, print_answer] {
      if (!file->empty()) return session.fail({"cannot stand beside a command", "--batch-file"});
      print_answer();
    });
  };

  const auto gemm = std::make_shared<GemmRequest>();
  CLI::App& gemm_command = *estimate.add_subcommand("gemm", "A matrix product C[m][n] = A[m][k] B[k][n]");
  count(gemm_command, "--batch", gemm->batch, "Independent products (default: 1)");
  count(gemm_command, "-m", gemm->m, "Rows of A and C")->required();
  count(gemm_command, "-n", gemm->n, "Columns of B and C")->required();
  count(gemm_command, "-k", gemm->k, "Columns of A, rows of B")->required();
  count(gemm_command, "--cores", gemm->cores, "Tensor cores that work on it (default: all)");
  add_choice<cost::GemmModel>(gemm_command, "--cost-model", gemm->model, kGemmModels,
                              "physical, or sunstone, the model of 2024 (default: physical)");
  gemm->chip.add_to(gemm_command);
  answers(gemm_command, [gemm, &session] { print(answer(*gemm), session); });

  const auto vector = std::make_shared<VectorRequest>();
  CLI::App& vector_command = *estimate.add_subcommand("vector", "An element-wise operator, norm or softmax");
  vector_command.add_option("--op", vector->op, "Such as add, gelu, layer_norm, softmax")
      ->required()
      ->type_name("NAME");
  count(vector_command, "--tokens", vector->tokens, "Rows")->required();
  count(vector_command, "--hidden", vector->hidden, "Elements per row")->required();
  vector_command.add_flag("--backward", vector->backward, "Its gradient instead");
  vector->chip.add_to(vector_command);
  answers(vector_command, [vector, &session] { print(answer(*vector), session); });

  const auto layer = std::make_shared<LayerRequest>();
  CLI::App& layer_command =
      *estimate.add_subcommand("layer", "A model's layers, operators one after another on the whole chip");
  layer->model.add_to(layer_command);
  layer->chip.add_to(layer_command);
  answers(layer_command, [layer, &session] { print(answer(*layer, session), session); });

  estimate.callback([&estimate, file, &session] {
    if (!estimate.get_subcommands().empty()) return;
    if (file->empty()) return session.fail({"a command is missing", "phaze estimate", "one of: gemm, vector, layer"});
    answer_file(*file, session);
  });
}

}  // namespace phaze::cli
