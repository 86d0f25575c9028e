#include "phaze/workload/import/onnx/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace phaze::workload::onnx {
namespace {

class Inference {
 public:
  Inference(const OpGraph& graph, std::int64_t width)
      : graph_(graph),
        width_(width),
        last_product_(find_last_product(graph)),
        left_whole_(graph.size()),
        looks_up_columns_(graph.size()) {}

  Result<Splits> run() {
    for (;;) {
      splits_ = {std::vector<Split>(graph_.size()), std::vector<bool>(graph_.tensor_count())};
      source_.assign(graph_.tensor_count(), OpId::none());
      const std::optional<OpId> conflict = propagate();
      if (!conflict) break;
      // A table looked up per head (relative positions) is divided with the heads. Failing that, every column-split
      // product that feeds the conflict is left whole. Each round decides at least one operator, so this ends.
      if (!divide_tables(*conflict) && !leave_sources_whole(*conflict))
        return Error{fmt::format("operator '{}' mixes divided and whole tensors", graph_.name(*conflict)),
                     "--tensor-parallel",
                     "the column-row pattern of tensor parallelism is not in this graph; use width 1"};
    }
    if (std::ranges::count(splits_.of_op, Split::kRow) == 0)
      return Error{"no product can be split by columns and closed by rows", "--tensor-parallel",
                   "the column-row pattern of tensor parallelism is not in this graph; use width 1"};
    splits_.left_whole = std::ranges::count(left_whole_, true);
    return std::move(splits_);
  }

 private:
  bool divided(TensorId id) const { return splits_.is_divided[id.index()]; }

  bool is_weight(TensorId id) const { return graph_.tensor(id).role == TensorRole::kParameter; }

  void mark(OpId id, OpId source) {
    for (const TensorId output : graph_.outputs(id)) {
      splits_.is_divided[output.index()] = true;
      source_[output.index()] = source;
    }
  }

  std::optional<OpId> propagate() {
    for (std::size_t i = 0; i < graph_.size(); ++i) {
      const OpId id(i);
      const auto inputs = graph_.inputs(id);
      const Work& work = graph_.op(id).work;
      if (const auto* gemm = std::get_if<Gemm>(&work); gemm != nullptr && is_weight(inputs[1])) {
        if (divided(inputs[0])) {
          if (gemm->k % width_ != 0) return id;
          splits_.of_op[i] = Split::kRow;
        } else if (!left_whole_[i] && gemm->batch == 1 && (gemm->n % width_ == 0 || is_last_product(id))) {
          splits_.of_op[i] = Split::kColumn;
          mark(id, id);
        }
        continue;
      }
      if (const auto* vector = std::get_if<VectorWork>(&work);
          vector != nullptr && vector->op == VectorOp::kEmbedding) {
        if (looks_up_columns_[i]) {
          splits_.of_op[i] = Split::kColumn;
          mark(id, id);
          continue;
        }
        // A large table is the vocabulary; small ones (positions, token types) stay whole.
        const std::int64_t rows = graph_.tensor(inputs[0]).elements / std::max<std::int64_t>(vector->cols, 1);
        splits_.of_op[i] = rows >= 1024 * width_ ? Split::kRow : Split::kNone;
        continue;
      }
      if (!consistent(id)) return id;
      const auto found = std::ranges::find_if(inputs, [&](TensorId t) { return divided(t); });
      if (found != inputs.end()) mark(id, source_[found->index()]);
    }
    return std::nullopt;
  }

  static std::size_t find_last_product(const OpGraph& graph) {
    for (std::size_t i = graph.size(); i-- > 0;)
      if (std::holds_alternative<Gemm>(graph.op(OpId(i)).work)) return i;
    return graph.size();
  }
  // The vocabulary product at the end, and what follows it, may be divided unevenly.
  bool is_last_product(OpId id) const { return id.index() == last_product_; }
  bool is_behind_last_product(OpId id) const { return id.index() > last_product_; }

  // An operator on divided tensors must keep them divided: no statistics along the divided dimension, no whole operand
  // of the same size.
  bool consistent(OpId id) const {
    const auto inputs = graph_.inputs(id);
    if (std::ranges::none_of(inputs, [&](TensorId t) { return divided(t); })) return true;
    const Work& work = graph_.op(id).work;
    if (const auto* vector = std::get_if<VectorWork>(&work)) {
      using enum VectorOp;
      if (vector->op == kLayerNorm || vector->op == kRmsNorm || vector->op == kReduceSum || vector->op == kReduceMean ||
          vector->op == kOther || vector->op == kGather)
        return false;
      if (vector->elements() % width_ != 0 && vector->op != kCrossEntropy && !is_behind_last_product(id)) return false;
    }
    if (const auto* gemm = std::get_if<Gemm>(&work); gemm != nullptr && gemm->batch % width_ != 0) return false;
    const auto outputs = graph_.outputs(id);
    return std::ranges::all_of(inputs, [&](TensorId t) {
      const Tensor& tensor = graph_.tensor(t);
      const bool plain = tensor.role == TensorRole::kConstant || tensor.role == TensorRole::kParameter ||
                         tensor.elements < graph_.tensor(outputs[0]).elements;
      return divided(t) || plain;
    });
  }

  // The look-up behind a tensor, through views.
  OpId table_behind(TensorId id) const {
    for (;;) {
      const OpId producer = graph_.tensor(id).producer;
      if (!producer.valid()) return {};
      const auto* vector = std::get_if<VectorWork>(&graph_.op(producer).work);
      if (vector != nullptr)
        return vector->op == VectorOp::kEmbedding && vector->cols % width_ == 0 ? producer : OpId::none();
      if (!std::holds_alternative<View>(graph_.op(producer).work)) return {};
      id = graph_.inputs(producer)[0];
    }
  }

  bool divide_tables(OpId conflict) {
    bool changed = false;
    for (const TensorId input : graph_.inputs(conflict)) {
      const OpId table = divided(input) ? OpId::none() : table_behind(input);
      if (!table.valid() || looks_up_columns_[table.index()]) continue;
      looks_up_columns_[table.index()] = true;
      changed = true;
    }
    return changed;
  }

  bool leave_sources_whole(OpId conflict) {
    bool changed = false;
    for (const TensorId input : graph_.inputs(conflict)) {
      const OpId source = divided(input) ? source_[input.index()] : OpId::none();
      if (!source.valid() || left_whole_[source.index()]) continue;
      left_whole_[source.index()] = true;
      changed = true;
    }
    return changed;
  }

  const OpGraph& graph_;
  std::int64_t width_;
  std::size_t last_product_;
  std::vector<bool> left_whole_;        // products that are not split after all
  std::vector<bool> looks_up_columns_;  // tables that are divided by columns
  Splits splits_;
  std::vector<OpId> source_;  // the column-split product behind each divided tensor
};

}  // namespace

Result<Splits> infer_splits(const OpGraph& graph, std::span<const std::int64_t> heads, std::int64_t width) {
  const auto refuse = [&](std::int64_t count) -> Result<Splits> {
    return Error{fmt::format("width {} does not divide the {} attention heads", width, count), "--tensor-parallel"};
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (heads[i] % width != 0) return refuse(heads[i]);
    const auto* attention = std::get_if<Attention>(&graph.op(OpId(i)).work);
    if (attention != nullptr && attention->heads % width != 0) return refuse(attention->heads);
    if (attention != nullptr && attention->kv_heads % width != 0) return refuse(attention->kv_heads);
  }
  return Inference(graph, width).run();
}

}  // namespace phaze::workload::onnx
