#include "phaze/workload/import/onnx/read_onnx.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "phaze/workload/import/onnx/attention.h"
#include "phaze/workload/import/onnx/infer.h"
#include "phaze/workload/import/onnx/layers.h"
#include "phaze/workload/import/onnx/lower.h"
#include "phaze/workload/import/onnx/patterns.h"
#include "phaze/workload/import/onnx/skim.h"
#include "phaze/workload/import/onnx/splits.h"
#include "phaze/workload/import/onnx/value_graph.h"

namespace phaze::workload::onnx {
namespace {

// Tensors that depend on a weight; the others (masks, tables) are constants to every layer that reads them.
std::vector<bool> find_trained(const OpGraph& graph) {
  std::vector<bool> trained(graph.tensor_count());
  for (std::size_t i = 0; i < graph.tensor_count(); ++i)
    trained[i] = graph.tensor(TensorId(i)).role == TensorRole::kParameter;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto inputs = graph.inputs(OpId(i));
    if (std::ranges::none_of(inputs, [&](TensorId t) { return trained[t.index()]; })) continue;
    for (const TensorId output : graph.outputs(OpId(i)))
      if (is_floating(graph.tensor(output).type)) trained[output.index()] = true;
  }
  return trained;
}

// Cuts the whole graph into its stages: each becomes a graph of its own, joined by the tensors that cross.
class Partition {
 public:
  Partition(const OpGraph& graph, const Stages& stages, const Splits& splits)
      : graph_(graph),
        stages_(stages),
        splits_(splits),
        trained_(find_trained(graph)),
        ops_of_stage_(stages.names.size()),
        renamed_(graph.tensor_count()) {
    for (std::size_t i = 0; i < graph.size(); ++i) ops_of_stage_[stage_of(OpId(i))].emplace_back(i);
  }

  OpGraph stage(std::size_t stage) {
    OpGraphBuilder builder;
    std::vector<TensorId> touched;
    const auto rename = [&](TensorId id) {
      if (renamed_[id.index()].valid()) return renamed_[id.index()];
      Tensor copy = graph_.tensor(id);
      const bool mine = copy.producer.valid() && stage_of(copy.producer) == stage;
      if (mine) {
        copy.output = copy.output || (trained_[id.index()] && leaves(id, stage));
        if (trained_[id.index()] && readers_outside(id).size() > 1) copy.kept_for_readers = KeptForReaders::kAlways;
      } else {
        adopt(copy, id);
      }
      copy.producer = OpId::none();
      if (copy.view_of.valid()) copy.view_of = mine ? renamed_[copy.view_of.index()] : TensorId::none();
      touched.push_back(id);
      return renamed_[id.index()] = builder.tensor(copy);
    };
    for (const OpId id : ops_of_stage_[stage]) {
      std::vector<TensorId> inputs, outputs;
      for (const TensorId input : graph_.inputs(id)) inputs.push_back(rename(input));
      for (const TensorId output : graph_.outputs(id)) outputs.push_back(rename(output));
      Op op = graph_.op(id);
      const Split split = splits_.of_op[id.index()];
      if (auto* gemm = std::get_if<Gemm>(&op.work)) gemm->split = split;
      if (auto* vector = std::get_if<VectorWork>(&op.work)) vector->split = split;
      builder.op(graph_.name(id), op, inputs, outputs);
    }
    for (const TensorId id : touched) renamed_[id.index()] = TensorId::none();
    return std::move(builder).build();
  }

  struct Edge {
    std::size_t from, to;
    Bytes bytes;
  };
  // Trained tensors only: what is not trained is cheap to make again where it is needed.
  std::vector<Edge> edges(const TensorParallel& parallel) const {
    std::vector<Edge> list;
    for (std::size_t i = 0; i < graph_.tensor_count(); ++i) {
      const Tensor& tensor = graph_.tensor(TensorId(i));
      if (!tensor.producer.valid() || !trained_[i]) continue;
      const bool share = splits_.is_divided[i] || parallel.sequence;
      for (const std::size_t reader : readers_outside(TensorId(i)))
        list.push_back(
            {stage_of(tensor.producer), reader, Bytes(tensor.bytes().value() / (share ? parallel.width : 1))});
    }
    return list;
  }

 private:
  std::size_t stage_of(OpId id) const { return stages_.stage_of_op[id.index()]; }

  bool leaves(TensorId id, std::size_t stage) const {
    return std::ranges::any_of(graph_.consumers(id), [&](OpId reader) { return stage_of(reader) != stage; });
  }

  // The stages that read a tensor, other than the one that made it.
  std::set<std::size_t> readers_outside(TensorId id) const {
    std::set<std::size_t> readers;
    for (const OpId reader : graph_.consumers(id)) readers.insert(stage_of(reader));
    readers.erase(stage_of(graph_.tensor(id).producer));
    return readers;
  }

  // A tensor as a layer sees it that did not make it.
  void adopt(Tensor& tensor, TensorId id) const {
    tensor.output = false;
    if (tensor.role != TensorRole::kActivation) return;
    tensor.split = splits_.is_divided[id.index()];
    if (!trained_[id.index()]) {
      tensor.role = TensorRole::kConstant;
      return;
    }
    tensor.role = readers_outside(id).size() > 1 ? TensorRole::kSharedInput : TensorRole::kInput;
  }

  const OpGraph& graph_;
  const Stages& stages_;
  const Splits& splits_;
  std::vector<bool> trained_;
  std::vector<std::vector<OpId>> ops_of_stage_;
  std::vector<TensorId> renamed_;  // this stage's version of a tensor; empty between stages
};

std::vector<std::string> warnings(const Lowered& lowered, const BoundDimensions& bound) {
  std::vector<std::string> list = bound.notes;
  if (lowered.unknown.empty()) return list;
  std::string text = "operators that are not known are costed by the bytes they move:";
  for (const auto& [name, times] : lowered.unknown) text += fmt::format(" {} ({})", name, times);
  list.push_back(std::move(text));
  return list;
}

// "transformer.h" for the first of transformer.h.0, transformer.h.1, ... that differ only by number.
std::string layer_name(const std::string& stage) {
  const auto dot = stage.rfind('.');
  const bool numbered = dot != std::string::npos && stage.find_first_not_of("0123456789", dot + 1) == std::string::npos;
  return numbered ? stage.substr(0, dot) : stage;
}

Result<LayerGraph> convert(const ::onnx::ModelProto& model, std::string name, const WorkloadOptions& options,
                           Progress& progress) {
  BoundDimensions bound;
  auto values = make_value_graph(model, options, bound);
  if (!values) return values.error();
  if (auto status = infer(*values); !status) return status.error();
  values->drop_identities();
  recognise_patterns(*values);
  find_attention(*values, options.attention);
  const auto lowered = lower(*values);
  if (!lowered) return lowered.error();
  if (auto status = validate(lowered->graph); !status) return status.error();
  Splits splits{std::vector<Split>(lowered->graph.size()), std::vector<bool>(lowered->graph.tensor_count())};
  if (options.parallel.width > 1) {
    auto inferred = infer_splits(lowered->graph, lowered->heads, options.parallel.width);
    if (!inferred) return inferred.error();
    if (inferred->left_whole > 0)
      bound.notes.push_back(
          fmt::format("{} products cannot be divided and are computed whole by every rank", inferred->left_whole));
    if (options.parallel.sequence && bound.sequence % options.parallel.width != 0)
      return Error{
          fmt::format("width {} does not divide the {} tokens of the sequence", options.parallel.width, bound.sequence),
          "--sequence-parallel", "leave --sequence-parallel out"};
    splits = std::move(*inferred);
  }
  const Stages stages = find_layers(*values, *lowered);

  LayerGraph header{.model = std::move(name),
                    .family = "onnx",
                    .sequence = bound.sequence,
                    .microbatch = bound.batch,
                    .warnings = warnings(*lowered, bound)};
  for (const Tensor& tensor : lowered->graph.tensors())
    if (tensor.role == TensorRole::kParameter && !tensor.tied)
      header.parameters = saturating_add(header.parameters, tensor.elements);
  LayerGraphBuilder builder(std::move(header), {.parallel = options.parallel, .fuse = options.fuse});
  Partition partition(lowered->graph, stages, splits);
  std::set<std::string> taken;
  for (std::size_t i = 0; i < stages.names.size(); ++i) {
    if (!progress.advance("building layers", static_cast<std::int64_t>(i),
                          static_cast<std::int64_t>(stages.names.size())))
      return Error{"stopped"};
    // Layers that turn out equal share the first one's name; others of the same stack keep their number.
    std::string title = layer_name(stages.names[i]);
    if (taken.contains(title)) title = stages.names[i];
    taken.insert(title);
    if (const auto node = builder.node(title, partition.stage(i)); !node) return node.error();
  }
  for (const auto& edge : partition.edges(options.parallel))
    builder.edge(NodeId(edge.from), NodeId(edge.to), edge.bytes);
  return std::move(builder).build();
}

}  // namespace

Result<LayerGraph> read_onnx(const std::filesystem::path& path, const WorkloadOptions& options, Progress& progress) {
  const auto model = skim(path, progress);
  if (!model) return within(path.string(), model.error());
  auto graph = convert(*model, path.stem().string(), options, progress);
  if (!graph) return within(path.string(), graph.error());
  return graph;
}

Result<LayerGraph> parse_onnx(std::string_view bytes, std::string name, const WorkloadOptions& options) {
  std::istringstream file{std::string(bytes)};
  NoProgress silent;
  const auto model = skim(file, silent);
  if (!model) return model.error();
  return convert(*model, std::move(name), options, silent);
}

}  // namespace phaze::workload::onnx
