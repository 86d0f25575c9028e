#include "phaze/workload/backward.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>

namespace phaze::workload {
namespace {

bool carries_gradient(const Tensor& tensor) {
  if (!is_floating(tensor.type)) return false;
  return tensor.role == TensorRole::kParameter || tensor.role == TensorRole::kInput ||
         tensor.role == TensorRole::kSharedInput;
}

// Which tensors depend on a parameter or on another layer's output, and so have a gradient.
std::vector<bool> find_differentiable(const OpGraph& forward) {
  std::vector<bool> differentiable(forward.tensor_count());
  for (std::size_t i = 0; i < forward.tensor_count(); ++i)
    differentiable[i] = carries_gradient(forward.tensor(TensorId(i)));
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const OpId id(i);
    const auto* vector = std::get_if<VectorWork>(&forward.op(id).work);
    if (vector != nullptr && traits(vector->op).gradient_needs == GradientNeeds::kNoGradient) continue;
    const auto inputs = forward.inputs(id);
    if (std::ranges::none_of(inputs, [&](TensorId t) { return differentiable[t.index()]; })) continue;
    for (const TensorId output : forward.outputs(id))
      if (is_floating(forward.tensor(output).type)) differentiable[output.index()] = true;
  }
  return differentiable;
}

class BackwardBuilder {
 public:
  explicit BackwardBuilder(const OpGraph& forward)
      : forward_(forward),
        differentiable_(find_differentiable(forward)),
        gradients_(forward.tensor_count()),
        values_(forward.tensor_count()) {}

  BackwardPass run() {
    for (std::size_t i = 0; i < forward_.tensor_count(); ++i) {
      const Tensor& tensor = forward_.tensor(TensorId(i));
      if (!tensor.output || !differentiable_[i]) continue;
      gradients_[i] = builder_.tensor(
          {.elements = tensor.elements, .type = tensor.type, .role = TensorRole::kInput, .forward = TensorId(i)});
    }
    for (std::size_t i = forward_.size(); i-- > 0;) differentiate(OpId(i));
    for (std::size_t i = 0; i < forward_.tensor_count(); ++i) {
      const TensorId gradient = gradients_[i];
      if (!gradient.valid() || !carries_gradient(forward_.tensor(TensorId(i)))) continue;
      if (builder_.look(gradient).producer.valid()) builder_.edit(gradient).output = true;
    }
    BackwardPass pass;
    pass.saved.assign(saved_.begin(), saved_.end());
    pass.saved_selective = selective();
    pass.graph = std::move(builder_).build();
    return pass;
  }

 private:
  // ---- forward values as the backward pass sees them ----

  // The tensor of the backward graph that holds forward tensor `id`, marking it as saved.
  TensorId value(TensorId id) {
    const TensorId root = skip_identities(id);
    const Tensor& tensor = forward_.tensor(root);
    if (tensor.role == TensorRole::kActivation || tensor.role == TensorRole::kInput) {
      if (const Collective* gathering = gathered_by(root)) return gather_again(root, *gathering);
      note_saved(root);
    }
    if (values_[root.index()].valid()) return values_[root.index()];
    Tensor copy = tensor;
    if (copy.role == TensorRole::kActivation || copy.role == TensorRole::kInput ||
        copy.role == TensorRole::kSharedInput)
      copy.role = TensorRole::kSaved;
    copy.producer = OpId::none();
    copy.view_of = TensorId::none();
    copy.output = false;
    copy.forward = root;
    return values_[root.index()] = builder_.tensor(copy);
  }

  // Through whole views and collectives that do nothing in the forward pass.
  TensorId skip_identities(TensorId id) const {
    for (;;) {
      id = forward_.storage(id);
      const OpId producer = forward_.tensor(id).producer;
      if (!producer.valid()) return id;
      const auto* collective = std::get_if<Collective>(&forward_.op(producer).work);
      if (collective == nullptr || collective->kind != CollectiveKind::kNone) return id;
      id = forward_.inputs(producer)[0];
    }
  }

  const Collective* gathered_by(TensorId id) const {
    const OpId producer = forward_.tensor(id).producer;
    if (!producer.valid()) return nullptr;
    const auto* collective = std::get_if<Collective>(&forward_.op(producer).work);
    return collective != nullptr && collective->kind == CollectiveKind::kAllGather ? collective : nullptr;
  }

  TensorId gather_again(TensorId id, const Collective& gathering) {
    if (values_[id.index()].valid()) return values_[id.index()];
    const OpId producer = forward_.tensor(id).producer;
    const TensorId part = value(forward_.inputs(producer)[0]);
    Collective again = gathering;
    again.adjoint = CollectiveKind::kNone;
    const Tensor& whole = forward_.tensor(id);
    return values_[id.index()] =
               builder_.emit(std::string(forward_.name(producer)) + ".again", Op{.work = again, .type = whole.type},
                             {part}, {.elements = whole.elements, .type = whole.type});
  }

  void note_saved(TensorId root) {
    saved_.insert(root);
    if (!current_is_core_) needed_outside_core_.insert(root);
  }

  // What selective recompute keeps: what others need, and the inputs of the attention core, from which it starts again.
  std::vector<TensorId> selective() const {
    std::set<TensorId> kept = needed_outside_core_;
    for (std::size_t i = 0; i < forward_.size(); ++i) {
      if (!forward_.op(OpId(i)).attention_core) continue;
      for (const TensorId input : forward_.inputs(OpId(i))) {
        const TensorId root = skip_identities(input);
        const Tensor& tensor = forward_.tensor(root);
        const bool made_in_core = tensor.producer.valid() && forward_.op(tensor.producer).attention_core;
        const bool held_here = tensor.role == TensorRole::kActivation || tensor.role == TensorRole::kInput;
        if (held_here && !made_in_core && differentiable_[root.index()]) kept.insert(root);
      }
    }
    return {kept.begin(), kept.end()};
  }

  // ---- gradients ----

  bool wants_gradient(TensorId id) const { return differentiable_[id.index()]; }

  // Adds `gradient` to what is known of the gradient of forward tensor `id`.
  void contribute(TensorId id, TensorId gradient) {
    TensorId& sum = gradients_[id.index()];
    if (!sum.valid()) {
      sum = gradient;
      return;
    }
    const Tensor& tensor = forward_.tensor(id);
    sum = builder_.emit(
        name("accumulate"),
        Op{.work = VectorWork{.op = VectorOp::kAdd, .rows = 1, .cols = tensor.elements}, .type = tensor.type},
        {sum, gradient}, gradient_tensor(id));
  }

  Tensor gradient_tensor(TensorId id) const {
    const Tensor& tensor = forward_.tensor(id);
    return {.elements = tensor.elements, .type = tensor.type, .forward = id};
  }

  // A new operator `work` whose results are the gradients of forward tensors `of`.
  void emit_gradients(std::string_view suffix, const Work& work, std::vector<TensorId> reads,
                      std::span<const TensorId> of) {
    std::vector<TensorId> made;
    made.reserve(of.size());
    for (const TensorId id : of) made.push_back(builder_.tensor(gradient_tensor(id)));
    const bool is_view = std::holds_alternative<View>(work);
    if (is_view)
      for (const TensorId id : made) builder_.edit(id).view_of = reads[0];
    builder_.op(name(suffix), Op{.work = work, .type = forward_.op(current_).type, .attention_core = current_is_core_},
                reads, made);
    for (std::size_t i = 0; i < of.size(); ++i) contribute(of[i], made[i]);
  }
  void emit_gradient(std::string_view suffix, const Work& work, std::vector<TensorId> reads, TensorId of) {
    emit_gradients(suffix, work, std::move(reads), std::array{of});
  }

  std::string name(std::string_view suffix) const {
    return std::string(forward_.name(current_)) + "." + std::string(suffix);
  }

  // The gradient of an operand that was broadcast is summed back to its size.
  void contribute_reduced(TensorId operand, TensorId gradient) {
    const std::int64_t whole = builder_.look(gradient).elements;
    const std::int64_t wanted = forward_.tensor(operand).elements;
    if (whole == wanted) {
      contribute(operand, gradient);
      return;
    }
    const VectorWork sum{
        .op = VectorOp::kReduceSum, .rows = ceil_divide(whole, std::max<std::int64_t>(wanted, 1)), .cols = wanted};
    emit_gradient("sum", sum, {gradient}, operand);
  }

  void differentiate(OpId id) {
    current_ = id;
    current_is_core_ = forward_.op(id).attention_core;
    const Work& work = forward_.op(id).work;
    const auto outputs = forward_.outputs(id);
    const auto* vector = std::get_if<VectorWork>(&work);
    if (vector != nullptr && vector->op == VectorOp::kCrossEntropy) {
      if (wants_gradient(forward_.inputs(id)[0])) loss(*vector);
      return;
    }
    const bool reached = std::ranges::any_of(outputs, [&](TensorId t) { return gradients_[t.index()].valid(); });
    if (!reached) return;
    if (const auto* gemm = std::get_if<Gemm>(&work))
      product(*gemm);
    else if (vector != nullptr)
      vector_gradient(*vector);
    else if (const auto* attention = std::get_if<Attention>(&work))
      attention_gradient(*attention);
    else if (const auto* collective = std::get_if<Collective>(&work))
      adjoint(*collective);
    else
      view();
  }

  TensorId output_gradient() const { return gradients_[forward_.outputs(current_)[0].index()]; }

  // The loss is the end of the forward pass: its gradient starts from the kept probabilities.
  void loss(const VectorWork& forward_work) {
    VectorWork work = forward_work;
    work.backward = true;
    emit_gradient("dx", work, {value(forward_.outputs(current_)[0])}, forward_.inputs(current_)[0]);
  }

  void product(const Gemm& gemm) {
    const auto inputs = forward_.inputs(current_);
    const TensorId dy = output_gradient();
    if (wants_gradient(inputs[0]))
      emit_gradient("dx", Gemm{.batch = gemm.batch, .m = gemm.m, .n = gemm.k, .k = gemm.n}, {dy, value(inputs[1])},
                    inputs[0]);
    if (wants_gradient(inputs[1])) {
      // A right operand that all of the batch shares takes the sum over the batch: one product with a longer
      // contraction.
      const bool shared = forward_.tensor(inputs[1]).elements == saturating_multiply(gemm.k, gemm.n);
      const std::int64_t batch = shared ? 1 : gemm.batch;
      const std::int64_t contraction = shared ? saturating_multiply(gemm.batch, gemm.m) : gemm.m;
      emit_gradient("dw", Gemm{.batch = batch, .m = gemm.k, .n = gemm.n, .k = contraction}, {value(inputs[0]), dy},
                    inputs[1]);
    }
    if (inputs.size() > 2 && wants_gradient(inputs[2])) {
      const VectorWork sum{.op = VectorOp::kReduceSum, .rows = saturating_multiply(gemm.batch, gemm.m), .cols = gemm.n};
      emit_gradient("db", sum, {dy}, inputs[2]);
    }
  }

  void attention_gradient(const Attention& forward_work) {
    Attention work = forward_work;
    work.backward = true;
    std::vector<TensorId> reads = {output_gradient()};
    std::vector<TensorId> of;
    for (const TensorId input : forward_.inputs(current_)) {
      reads.push_back(value(input));
      if (wants_gradient(input)) of.push_back(input);
    }
    for (const TensorId output : forward_.outputs(current_)) reads.push_back(value(output));
    emit_gradients("dx", work, reads, of);
  }

  void adjoint(const Collective& collective) {
    const TensorId input = forward_.inputs(current_)[0];
    if (!wants_gradient(input)) return;
    const Collective back{.kind = collective.adjoint,
                          .adjoint = CollectiveKind::kNone,
                          .group = collective.group,
                          .bytes = collective.bytes};
    if (back.kind == CollectiveKind::kNone)
      contribute(input, output_gradient());
    else
      emit_gradient("dx", back, {output_gradient()}, input);
  }

  void view() {
    const TensorId input = forward_.inputs(current_)[0];
    if (!wants_gradient(input)) return;
    const auto outputs = forward_.outputs(current_);
    std::vector<TensorId> reads;
    for (const TensorId output : outputs)
      if (gradients_[output.index()].valid()) reads.push_back(gradients_[output.index()]);
    const std::int64_t whole = forward_.tensor(input).elements;
    if (outputs.size() == 1 && forward_.tensor(outputs[0]).elements == whole) {
      emit_gradient("dx", View{}, reads, input);
      return;
    }
    // Parts are laid side by side; a part alone is laid into zeros.
    const VectorOp op = outputs.size() == 1 ? VectorOp::kPad : VectorOp::kConcat;
    emit_gradient("dx", VectorWork{.op = op, .rows = 1, .cols = whole}, reads, input);
  }

  void vector_gradient(const VectorWork& work) {
    using enum VectorOp;
    switch (work.op) {
      case kAdd:
      case kMask: return pass_to_operands(kCopy);
      case kSub: return pass_to_operands(kNeg);
      case kMul: return multiply_by_other(work);
      case kDiv: return divide(work);
      case kConcat: return cut_apart();
      case kWhere:
      case kExpand:
      case kReduceSum:
      case kReduceMean:
      case kPad: return resize(work);
      default: return own_gradient(work);
    }
  }

  // d(a + b): the gradient itself goes to both. d(a - b): negated to the second.
  void pass_to_operands(VectorOp second) {
    const TensorId dy = output_gradient();
    const auto inputs = forward_.inputs(current_);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!wants_gradient(inputs[i])) continue;
      if (i == 0 || second == VectorOp::kCopy) {
        contribute_reduced(inputs[i], dy);
        continue;
      }
      const TensorId output = forward_.outputs(current_)[0];
      const VectorWork negate{.op = second, .rows = 1, .cols = forward_.tensor(output).elements};
      contribute_reduced(inputs[i], emit_like_output("negated", negate, {dy}));
    }
  }

  void multiply_by_other(const VectorWork& work) {
    const auto inputs = forward_.inputs(current_);
    const TensorId dy = output_gradient();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!wants_gradient(inputs[i])) continue;
      std::vector<TensorId> reads = {dy};
      for (std::size_t j = 0; j < inputs.size(); ++j)
        if (j != i) reads.push_back(value(inputs[j]));
      const VectorWork multiply{
          .op = inputs.size() > 1 ? VectorOp::kMul : VectorOp::kScale, .rows = work.rows, .cols = work.cols};
      contribute_reduced(inputs[i], emit_like_output("d" + std::to_string(i), multiply, reads));
    }
  }

  void divide(const VectorWork& work) {
    const auto inputs = forward_.inputs(current_);
    const TensorId dy = output_gradient();
    VectorWork back = work;
    back.backward = true;
    if (wants_gradient(inputs[0])) contribute_reduced(inputs[0], emit_like_output("d0", back, {dy, value(inputs[1])}));
    if (inputs.size() > 1 && wants_gradient(inputs[1]))
      contribute_reduced(inputs[1], emit_like_output("d1", back, {dy, value(inputs[0]), value(inputs[1])}));
  }

  // An operator whose result has the shape of the current output, before it is summed to an operand's shape.
  TensorId emit_like_output(std::string_view suffix, const VectorWork& work, const std::vector<TensorId>& reads) {
    const TensorId output = forward_.outputs(current_)[0];
    const TensorId made =
        builder_.tensor({.elements = forward_.tensor(output).elements, .type = forward_.tensor(output).type});
    builder_.op(name(suffix), Op{.work = work, .type = forward_.op(current_).type, .attention_core = current_is_core_},
                reads, std::span(&made, 1));
    return made;
  }

  void cut_apart() {
    for (const TensorId input : forward_.inputs(current_))
      if (wants_gradient(input)) emit_gradient("part", View{}, {output_gradient()}, input);
  }

  // Broadcast and sum are each other's gradients; a selection routes the gradient to where the value came from.
  void resize(const VectorWork& work) {
    const TensorId dy = output_gradient();
    for (const TensorId input : forward_.inputs(current_)) {
      if (!wants_gradient(input)) continue;
      const std::int64_t elements = forward_.tensor(input).elements;
      switch (work.op) {
        case VectorOp::kExpand: contribute_reduced(input, dy); break;
        case VectorOp::kPad: emit_gradient("part", View{}, {dy}, input); break;
        case VectorOp::kWhere: {
          VectorWork back = work;
          back.backward = true;
          contribute_reduced(input, emit_like_output("dx", back, {dy, value(forward_.inputs(current_)[0])}));
          break;
        }
        default: emit_gradient("dx", VectorWork{.op = VectorOp::kExpand, .rows = 1, .cols = elements}, {dy}, input);
      }
    }
  }

  // Operators whose gradient is one operator of their own: it reads dY and what traits() says, and writes all
  // gradients.
  void own_gradient(const VectorWork& work) {
    VectorWork back = work;
    back.backward = true;
    const auto inputs = forward_.inputs(current_);
    const auto outputs = forward_.outputs(current_);
    std::vector<TensorId> reads;
    for (const TensorId output : outputs)
      if (gradients_[output.index()].valid()) reads.push_back(gradients_[output.index()]);
    switch (traits(work.op).gradient_needs) {
      case GradientNeeds::kInput:
        for (const TensorId input : inputs) reads.push_back(value(input));
        break;
      case GradientNeeds::kOutput: reads.push_back(value(outputs[0])); break;
      case GradientNeeds::kMask:
        if (outputs.size() > 1) reads.push_back(value(outputs[1]));
        break;
      case GradientNeeds::kIndices:
        for (const TensorId input : inputs)
          if (!is_floating(forward_.tensor(input).type)) reads.push_back(value(input));
        break;
      default: break;
    }
    std::vector<TensorId> of;
    for (const TensorId input : inputs)
      if (wants_gradient(input) && std::ranges::find(of, input) == of.end()) of.push_back(input);
    emit_gradients("dx", back, reads, of);
  }

  const OpGraph& forward_;
  std::vector<bool> differentiable_;
  OpGraphBuilder builder_;
  std::vector<TensorId> gradients_;  // of forward tensors, as known so far
  std::vector<TensorId> values_;     // of forward tensors, in the backward graph
  std::set<TensorId> saved_, needed_outside_core_;
  OpId current_;
  bool current_is_core_ = false;
};

}  // namespace

BackwardPass derive_backward(const OpGraph& forward) { return BackwardBuilder(forward).run(); }

SavedBytes saved_bytes(const OpGraph& forward, const BackwardPass& backward, const OpGraph& whole) {
  SavedBytes sum;
  for (const TensorId id : backward.saved) sum.none += forward.tensor(id).bytes();
  for (const TensorId id : backward.saved_selective) sum.selective += forward.tensor(id).bytes();
  for (const Tensor& tensor : whole.tensors())
    if (tensor.role == TensorRole::kInput) sum.full += tensor.bytes();
  const auto kept = [](const std::vector<TensorId>& list, TensorId id) {
    return std::ranges::find(list, id) != list.end();
  };
  for (std::size_t i = 0; i < forward.tensor_count(); ++i) {
    const TensorId id(i);
    const Tensor& tensor = forward.tensor(id);
    if (tensor.kept_for_readers == KeptForReaders::kNo) continue;
    if (tensor.kept_for_readers == KeptForReaders::kAlways && !kept(backward.saved, id)) sum.none += tensor.bytes();
    if (!kept(backward.saved_selective, forward.storage(id))) sum.selective += tensor.bytes();
    sum.full += tensor.bytes();
  }
  return sum;
}

OpGraph recomputed(const OpGraph& forward, Recompute policy) {
  if (policy == Recompute::kNone) return {};
  if (policy == Recompute::kFull) return forward;
  const auto keep = std::make_unique<bool[]>(forward.size());
  for (std::size_t i = 0; i < forward.size(); ++i) keep[i] = forward.op(OpId(i)).attention_core;
  return subgraph(forward, std::span<const bool>(keep.get(), forward.size()));
}

}  // namespace phaze::workload
