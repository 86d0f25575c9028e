#include "phaze/workload/tensor_parallel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace phaze::workload {
namespace {

// How a tensor lies on the ranks of the group.
enum class Layout : std::uint8_t {
  kWhole,     // every rank holds all of it
  kSequence,  // every rank holds its share of the tokens
  kDivided,   // every rank holds its share of the heads, features or vocabulary
};

class Slicer {
 public:
  Slicer(const OpGraph& whole, const TensorParallel& parallel)
      : whole_(whole),
        width_(parallel.width),
        outside_(parallel.sequence ? Layout::kSequence : Layout::kWhole),
        renamed_(whole.tensor_count()),
        entered_(whole.tensor_count()),
        layouts_(whole.tensor_count(), Layout::kWhole) {}

  Result<OpGraph> run() {
    for (std::size_t i = 0; i < whole_.tensor_count(); ++i) {
      const Tensor& tensor = whole_.tensor(TensorId(i));
      if (tensor.role == TensorRole::kInput || tensor.role == TensorRole::kSharedInput)
        layouts_[i] = tensor.split ? Layout::kDivided : outside_;
      else if (tensor.role == TensorRole::kConstant && tensor.split)
        layouts_[i] = Layout::kDivided;
    }
    for (std::size_t i = 0; i < whole_.size(); ++i)
      if (auto status = place(OpId(i)); !status) return status.error();
    return std::move(builder_).build();
  }

 private:
  Layout layout(TensorId id) const { return layouts_[id.index()]; }

  static bool is_activation(const Tensor& tensor) {
    return tensor.role == TensorRole::kActivation || tensor.role == TensorRole::kInput ||
           tensor.role == TensorRole::kSharedInput;
  }

  std::int64_t share(std::int64_t n) const { return ceil_divide(n, width_); }

  // This rank's version of a tensor; parameters are divided only where the operator that reads them says so.
  TensorId renamed(TensorId id, bool divided) {
    TensorId& made = renamed_[id.index()];
    if (made.valid()) return made;
    Tensor copy = whole_.tensor(id);
    if (divided) copy.elements = share(copy.elements);
    copy.producer = OpId::none();
    if (copy.view_of.valid()) copy.view_of = renamed(copy.view_of, layout(copy.view_of) != Layout::kWhole);
    return made = builder_.tensor(copy);
  }
  TensorId activation(TensorId id) { return renamed(id, layout(id) != Layout::kWhole); }

  // The layout in which an operator works: that of its activations, which must agree. Pure constants work whole.
  Result<Layout> common_layout(OpId id) const {
    bool seen = false;
    Layout common = Layout::kWhole;
    for (const TensorId input : whole_.inputs(id)) {
      const Tensor& tensor = whole_.tensor(input);
      const bool carries =
          is_activation(tensor) || (tensor.role == TensorRole::kConstant && layout(input) != Layout::kWhole);
      if (!carries) continue;
      // Something that every rank can compute for itself (a mask, a position table) joins any layout.
      if (layout(input) == Layout::kWhole && (outside_ == Layout::kSequence || is_broadcast(id, input))) continue;
      if (seen && layout(input) != common)
        return Error{
            fmt::format("operator '{}' mixes tensors that are divided over the ranks with tensors that are not",
                        whole_.name(id)),
            "", "this graph does not follow the column-row pattern of tensor parallelism; use width 1"};
      common = layout(input);
      seen = true;
    }
    return common;
  }

  bool is_broadcast(OpId id, TensorId input) const {
    const auto outputs = whole_.outputs(id);
    return !outputs.empty() && whole_.tensor(input).elements < whole_.tensor(outputs[0]).elements;
  }

  void append(OpId id, Work work, std::span<const TensorId> inputs, Layout result) {
    append(id, work, inputs, outputs_like_inputs(id, result));
  }

  // A vocabulary that the width does not divide is rounded up per rank, so a result takes its share from the operand of
  // its own size rather than dividing anew.
  std::vector<TensorId> outputs_like_inputs(OpId id, Layout result) {
    std::vector<TensorId> outputs;
    for (const TensorId output : whole_.outputs(id)) {
      layouts_[output.index()] = result;
      const TensorId mine = activation(output);
      for (const TensorId input : whole_.inputs(id))
        if (layout(input) == result && whole_.tensor(input).elements == whole_.tensor(output).elements &&
            is_activation(whole_.tensor(input)))
          builder_.edit(mine).elements = builder_.look(activation(input)).elements;
      outputs.push_back(mine);
    }
    return outputs;
  }
  void append(OpId id, const Work& work, std::span<const TensorId> inputs, std::span<const TensorId> outputs) {
    Op op = whole_.op(id);
    op.work = work;
    builder_.op(whole_.name(id), op, inputs, outputs, whole_.fused(id));
  }

  Status place(OpId id) {
    const Work& work = whole_.op(id).work;
    if (const auto* gemm = std::get_if<Gemm>(&work)) return product(id, *gemm);
    if (const auto* vector = std::get_if<VectorWork>(&work)) return vector_work(id, *vector);
    const auto common = common_layout(id);
    if (!common) return common.error();
    std::vector<TensorId> inputs;
    for (const TensorId input : whole_.inputs(id)) inputs.push_back(activation(input));
    Work mine = work;
    if (auto* attention = std::get_if<Attention>(&mine); attention != nullptr && *common == Layout::kDivided) {
      attention->heads = share(attention->heads);
      attention->kv_heads = share(attention->kv_heads);
    }
    append(id, mine, inputs, *common);
    return Done{};
  }

  Status product(OpId id, Gemm gemm) {
    const auto inputs = whole_.inputs(id);
    const TensorId left = inputs[0];
    if (gemm.split == Split::kColumn) return column_product(id, gemm);
    if (gemm.split == Split::kRow) return row_product(id, gemm);
    const auto common = common_layout(id);
    if (!common) return common.error();
    const bool weight = whole_.tensor(inputs[1]).role == TensorRole::kParameter;
    if (weight && layout(left) == Layout::kDivided)
      return Error{fmt::format("operator '{}' multiplies a divided tensor by a weight that is not", whole_.name(id)),
                   "", "this graph does not follow the column-row pattern of tensor parallelism; use width 1"};
    if (*common == Layout::kDivided) gemm.batch = share(gemm.batch);
    if (*common == Layout::kSequence)
      (gemm.batch > 1 ? gemm.batch : gemm.m) = share(gemm.batch > 1 ? gemm.batch : gemm.m);
    std::vector<TensorId> mine;
    for (const TensorId input : inputs) mine.push_back(activation(input));
    append(id, gemm, mine, *common);
    return Done{};
  }

  Status column_product(OpId id, Gemm gemm) {
    const auto inputs = whole_.inputs(id);
    if (layout(inputs[0]) == Layout::kDivided)
      return Error{
          fmt::format("operator '{}' splits its columns but reads a tensor that is divided already", whole_.name(id))};
    const std::int64_t columns = share(gemm.n);
    std::vector<TensorId> mine = {enter_divided_region(inputs[0]), weight_share(inputs[1], gemm.k * columns)};
    if (inputs.size() > 2) mine.push_back(weight_share(inputs[2], columns));
    gemm.n = columns;
    const TensorId output = whole_.outputs(id)[0];
    layouts_[output.index()] = Layout::kDivided;
    Tensor result = whole_.tensor(output);
    result.elements = saturating_product({gemm.batch, gemm.m, columns});
    result.producer = OpId::none();
    renamed_[output.index()] = builder_.tensor(result);
    append(id, gemm, mine, std::array{renamed_[output.index()]});
    return Done{};
  }

  Status row_product(OpId id, Gemm gemm) {
    const auto inputs = whole_.inputs(id);
    if (layout(inputs[0]) != Layout::kDivided)
      return Error{
          fmt::format("operator '{}' splits its rows but reads a tensor that is not divided", whole_.name(id))};
    gemm.k = share(gemm.k);
    std::vector<TensorId> mine = {activation(inputs[0]), weight_share(inputs[1], gemm.k * gemm.n)};
    if (inputs.size() > 2) mine.push_back(renamed(inputs[2], false));
    leave_divided_region(id, gemm, mine);
    return Done{};
  }

  TensorId weight_share(TensorId weight, std::int64_t elements) {
    if (renamed_[weight.index()].valid()) return renamed_[weight.index()];
    Tensor copy = whole_.tensor(weight);
    copy.elements = elements;
    copy.producer = OpId::none();
    copy.view_of = TensorId::none();
    return renamed_[weight.index()] = builder_.tensor(copy);
  }

  // Whole tensor in: nothing to do forward, an all-reduce of its gradient backward. Token shares in: gather them.
  // Done once for all products that read the tensor (queries, keys and values share it).
  TensorId enter_divided_region(TensorId id) {
    TensorId& entered = entered_[id.index()];
    if (entered.valid()) return entered;
    const Tensor& tensor = whole_.tensor(id);
    const bool gather = layout(id) == Layout::kSequence;
    const Collective work{.kind = gather ? CollectiveKind::kAllGather : CollectiveKind::kNone,
                          .adjoint = gather ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                          .group = static_cast<std::int32_t>(width_),
                          .bytes = tensor.bytes()};
    const OpId producer = tensor.producer;
    const std::string name = (producer.valid() ? std::string(whole_.name(producer)) : std::string("input")) + ".enter";
    return entered = builder_.emit(name, Op{.work = work, .type = tensor.type}, {activation(id)},
                                   {.elements = tensor.elements, .type = tensor.type});
  }

  // The ranks' partial sums become the whole tensor, or each rank's share of its tokens.
  void leave_divided_region(OpId id, const Work& work, std::span<const TensorId> inputs) {
    const TensorId output = whole_.outputs(id)[0];
    const Tensor& tensor = whole_.tensor(output);
    const TensorId partial = builder_.tensor({.elements = tensor.elements, .type = tensor.type});
    append(id, work, inputs, std::array{partial});
    const bool scatter = outside_ == Layout::kSequence;
    const Collective join{.kind = scatter ? CollectiveKind::kReduceScatter : CollectiveKind::kAllReduce,
                          .adjoint = scatter ? CollectiveKind::kAllGather : CollectiveKind::kNone,
                          .group = static_cast<std::int32_t>(width_),
                          .bytes = tensor.bytes()};
    layouts_[output.index()] = outside_;
    const TensorId joined = activation(output);
    const Op op{.work = join, .type = tensor.type};
    builder_.op(std::string(whole_.name(id)) + ".join", op, std::array{partial}, std::array{joined});
  }

  Status vector_work(OpId id, VectorWork vector) {
    if (vector.op == VectorOp::kEmbedding) return look_up(id, vector);
    const auto common = common_layout(id);
    if (!common) return common.error();
    if (vector.op == VectorOp::kCrossEntropy && *common == Layout::kDivided) return vocabulary_loss(id, vector);
    if (vector.op == VectorOp::kGather && *common == Layout::kSequence) {
      // Picking tokens (the first one, for a pooled classifier) needs the whole sequence.
      const auto inputs = whole_.inputs(id);
      append(id, vector, std::array{enter_divided_region(inputs[0]), activation(inputs[1])}, Layout::kWhole);
      return Done{};
    }
    if (*common == Layout::kDivided && (vector.op == VectorOp::kLayerNorm || vector.op == VectorOp::kRmsNorm))
      return Error{fmt::format("operator '{}' normalises a tensor that is divided over the ranks", whole_.name(id)), "",
                   "this graph does not follow the column-row pattern of tensor parallelism; use width 1"};
    std::vector<TensorId> mine;
    for (const TensorId input : whole_.inputs(id)) mine.push_back(activation(input));
    const std::vector<TensorId> outputs = outputs_like_inputs(id, *common);
    if (*common != Layout::kWhole) divide_work(vector, *common, builder_.look(outputs[0]).elements);
    append(id, vector, mine, outputs);
    return Done{};
  }

  // Element-wise work is exactly the elements of its result; other operators keep their rows whole and share them out.
  void divide_work(VectorWork& vector, Layout common, std::int64_t elements) const {
    if (!traits(vector.op).element_wise) {
      vector.rows = share(vector.rows);
      return;
    }
    const bool by_rows = vector.cols > 0 && elements % vector.cols == 0;
    const bool by_columns = vector.rows > 0 && elements % vector.rows == 0;
    if (by_rows && (common == Layout::kSequence || !by_columns))
      vector.rows = elements / vector.cols;
    else if (by_columns)
      vector.cols = elements / vector.rows;
    else
      vector = {vector.op, vector.backward, vector.split, 1, elements};
  }

  // Vocabulary rows: each rank finds the tokens in its part, and the sum is the result. Feature columns: each rank
  // finds its part of every token. Neither: every rank looks up what it needs.
  Status look_up(OpId id, VectorWork vector) {
    const auto inputs = whole_.inputs(id);
    const Tensor& table = whole_.tensor(inputs[0]);
    const TensorId ids = activation(inputs[1]);
    if (vector.split == Split::kRow) {
      const std::int64_t rows = share(table.elements / vector.cols);
      leave_divided_region(id, vector, std::array{weight_share(inputs[0], rows * vector.cols), ids});
      return Done{};
    }
    if (vector.split == Split::kColumn) {
      const TensorId part = weight_share(inputs[0], share(table.elements));
      vector.cols = share(vector.cols);
      append(id, vector, std::array{part, ids}, Layout::kDivided);
      return Done{};
    }
    if (outside_ == Layout::kSequence) vector.rows = share(vector.rows);
    append(id, vector, std::array{renamed(inputs[0], false), ids}, outside_);
    return Done{};
  }

  // Cross entropy over a divided vocabulary: the largest logit, then the sum of exponentials and the target's logit,
  // are reduced over the ranks; four bytes per token each.
  Status vocabulary_loss(OpId id, VectorWork vector) {
    const auto group = static_cast<std::int32_t>(width_);
    const TensorId logits = activation(whole_.inputs(id)[0]);
    const std::string name(whole_.name(id));
    const std::int64_t tokens = vector.rows;
    vector.cols = share(vector.cols);
    const auto reduce = [&](std::int64_t values) {
      return Op{
          .work = Collective{.kind = CollectiveKind::kAllReduce, .group = group, .bytes = Bytes(4 * values * tokens)},
          .type = ElementType::kF32};
    };
    const TensorId local_max =
        builder_.emit(name + ".local_max",
                      Op{.work = VectorWork{.op = VectorOp::kReduceMax, .rows = tokens, .cols = vector.cols},
                         .type = ElementType::kF32},
                      {logits}, {.elements = tokens, .type = ElementType::kF32});
    const TensorId max =
        builder_.emit(name + ".max", reduce(1), {local_max}, {.elements = tokens, .type = ElementType::kF32});
    const TensorId output = whole_.outputs(id)[0];
    layouts_[output.index()] = Layout::kDivided;
    Tensor probabilities = whole_.tensor(output);
    probabilities.elements = builder_.look(logits).elements;
    probabilities.producer = OpId::none();
    renamed_[output.index()] = builder_.tensor(probabilities);
    const TensorId partial = builder_.tensor({.elements = 2 * tokens, .type = ElementType::kF32});
    builder_.op(name, Op{.work = vector, .type = whole_.op(id).type}, std::array{logits, max},
                std::array{renamed_[output.index()], partial});
    builder_.emit(name + ".sum", reduce(2), {partial}, {.elements = 2 * tokens, .type = ElementType::kF32});
    return Done{};
  }

  const OpGraph& whole_;
  std::int64_t width_;
  Layout outside_;
  OpGraphBuilder builder_;
  std::vector<TensorId> renamed_;  // this rank's version of a tensor of the whole graph
  std::vector<TensorId> entered_;  // the same, inside a divided region
  std::vector<Layout> layouts_;
};

}  // namespace

Result<OpGraph> slice(const OpGraph& whole, const TensorParallel& parallel) {
  if (parallel.width == 1) return whole;
  return Slicer(whole, parallel).run();
}

}  // namespace phaze::workload
