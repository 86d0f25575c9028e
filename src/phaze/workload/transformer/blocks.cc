#include "phaze/workload/transformer/blocks.h"

#include <array>
#include <cmath>

namespace phaze::workload {
namespace {

std::int64_t times(std::int64_t a, std::int64_t b) { return saturating_multiply(a, b); }

}  // namespace

LayerWriter::LayerWriter(const TransformerConfig& config, const WorkloadOptions& options, std::int64_t sequence)
    : config_(config), options_(options), sequence_(sequence), tokens_(times(sequence, options.microbatch)) {}

TensorId LayerWriter::input(std::int64_t elements, TensorRole role) {
  return graph_.tensor({.elements = elements, .role = role});
}

TensorId LayerWriter::constant(std::int64_t elements, ElementType type) {
  return graph_.tensor({.elements = elements, .type = type, .role = TensorRole::kConstant});
}

TensorId LayerWriter::parameter(std::int64_t elements, bool tied) {
  return graph_.tensor({.elements = elements, .role = TensorRole::kParameter, .tied = tied});
}

TensorId LayerWriter::linear(const std::string& name, TensorId x, std::int64_t inner, std::int64_t outer, bool bias,
                             Split split, bool tied) {
  const Gemm gemm{.m = graph_.look(x).elements / inner, .n = outer, .k = inner, .split = split};
  const TensorId weight = parameter(times(inner, outer), tied);
  const Tensor result{.elements = times(gemm.m, outer)};
  if (!bias) return graph_.emit(name, Work(gemm), {x, weight}, result);
  return graph_.emit(name, Work(gemm), {x, weight, parameter(outer)}, result);
}

TensorId LayerWriter::element_wise(const std::string& name, VectorOp op, std::initializer_list<TensorId> inputs,
                                   std::int64_t rows, std::int64_t cols, bool core) {
  const Op work{.work = VectorWork{.op = op, .rows = rows, .cols = cols}, .attention_core = core};
  return graph_.emit(name, work, inputs, {.elements = times(rows, cols)});
}

TensorId LayerWriter::norm(const std::string& name, TensorId x) {
  const bool rms = config_.norm == NormKind::kRmsNorm;
  const std::int64_t rows = graph_.look(x).elements / config_.hidden;
  const Work work =
      VectorWork{.op = rms ? VectorOp::kRmsNorm : VectorOp::kLayerNorm, .rows = rows, .cols = config_.hidden};
  const Tensor result{.elements = times(rows, config_.hidden)};
  if (!config_.norm_weights) return graph_.emit(name, work, {x}, result);
  const TensorId scale = parameter(config_.hidden);
  if (!config_.norm_bias) return graph_.emit(name, work, {x, scale}, result);
  return graph_.emit(name, work, {x, scale, parameter(config_.hidden)}, result);
}

TensorId LayerWriter::dropout(const std::string& name, TensorId x, bool active, std::int64_t cols) {
  if (!active) return x;
  const std::int64_t elements = graph_.look(x).elements;
  const std::array made = {graph_.tensor({.elements = elements}),
                           graph_.tensor({.elements = elements, .type = ElementType::kBool})};
  const Op op{.work = VectorWork{.op = VectorOp::kDropout, .rows = elements / cols, .cols = cols}};
  graph_.op(name, op, std::array{x}, made);
  return made[0];
}

TensorId LayerWriter::view(const std::string& name, TensorId x, std::int64_t elements) {
  return graph_.emit(name, Work(View{}), {x}, {.elements = elements});
}

TensorId LayerWriter::add(const std::string& name, TensorId a, TensorId b) {
  const std::int64_t elements = graph_.look(a).elements;
  return element_wise(name, VectorOp::kAdd, {a, b}, elements / config_.hidden, config_.hidden);
}

TensorId LayerWriter::embed(const std::string& name, std::int64_t rows, std::int64_t width, Split split,
                            std::int64_t look_ups, bool tied) {
  const VectorWork work{.op = VectorOp::kEmbedding, .split = split, .rows = look_ups, .cols = width};
  return graph_.emit(name, Work(work), {parameter(times(rows, width), tied), constant(look_ups, ElementType::kI64)},
                     {.elements = times(look_ups, width)});
}

LayerWriter::Projections LayerWriter::project(const std::string& prefix, const AttentionInputs& inputs) {
  const std::int64_t query_width = times(config_.heads, config_.head_dim);
  const std::int64_t kv_width = times(config_.kv_heads, config_.head_dim);
  const bool bias = config_.qkv_bias;
  if (config_.fused_qkv && !inputs.context.valid()) {
    const TensorId qkv =
        linear(prefix + ".qkv", inputs.x, config_.hidden, query_width + 2 * kv_width, bias, Split::kColumn);
    const std::array parts = {graph_.tensor({.elements = times(tokens_, query_width), .view_of = qkv}),
                              graph_.tensor({.elements = times(tokens_, kv_width), .view_of = qkv}),
                              graph_.tensor({.elements = times(tokens_, kv_width), .view_of = qkv})};
    graph_.op(prefix + ".split", Op{.work = View{}}, std::array{qkv}, parts);
    return {parts[0], parts[1], parts[2]};
  }
  const TensorId source = inputs.context.valid() ? inputs.context : inputs.x;
  return {linear(prefix + ".q", inputs.x, config_.hidden, query_width, bias, Split::kColumn),
          linear(prefix + ".k", source, config_.hidden, kv_width, bias, Split::kColumn),
          linear(prefix + ".v", source, config_.hidden, kv_width, bias, Split::kColumn)};
}

TensorId LayerWriter::rotate(const std::string& name, TensorId x, std::int64_t heads) {
  const auto rotated =
      static_cast<std::int64_t>(std::llround(config_.rotary_fraction * static_cast<double>(config_.head_dim)));
  const TensorId table = constant(times(2 * sequence_, rotated), ElementType::kBf16);
  return element_wise(name, VectorOp::kRotary, {x, table}, times(tokens_, heads), config_.head_dim);
}

// Queries of one key-value head are stacked, so grouped-query attention is a batched product whose gradient sums the
// group.
TensorId LayerWriter::eager_core(const std::string& prefix, const Projections& qkv, const AttentionInputs& inputs) {
  const std::int64_t group = config_.heads / config_.kv_heads;
  const std::int64_t batch = times(options_.microbatch, config_.kv_heads);
  const std::int64_t rows = saturating_product({batch, group, sequence_});
  const Tensor square{.elements = times(rows, sequence_)};
  const auto core = [](Work work) { return Op{.work = work, .attention_core = true}; };

  TensorId scores =
      graph_.emit(prefix + ".scores",
                  core(Gemm{.batch = batch, .m = times(group, sequence_), .n = sequence_, .k = config_.head_dim}),
                  {qkv.queries, qkv.keys}, square);
  const auto on_scores = [&](const std::string& what, VectorOp op, std::initializer_list<TensorId> reads) {
    scores = element_wise(prefix + "." + what, op, reads, rows, sequence_, true);
  };
  if (config_.scaled_scores) on_scores("scale", VectorOp::kScale, {scores});
  if (config_.attention_softcap) {
    on_scores("softcap.divide", VectorOp::kScale, {scores});
    on_scores("softcap.tanh", VectorOp::kTanh, {scores});
    on_scores("softcap.multiply", VectorOp::kScale, {scores});
  }
  if (inputs.bias.valid()) on_scores("bias", VectorOp::kAdd, {scores, inputs.bias});
  if (config_.image_size == 0)
    on_scores("mask", VectorOp::kMask, {scores, constant(times(sequence_, sequence_), ElementType::kBf16)});
  scores = graph_.emit(prefix + ".softmax", core(VectorWork{.op = VectorOp::kSoftmax, .rows = rows, .cols = sequence_}),
                       {scores}, square);
  if (config_.dropout.attention) {
    const std::array made = {graph_.tensor(square),
                             graph_.tensor({.elements = square.elements, .type = ElementType::kBool})};
    graph_.op(prefix + ".dropout", core(VectorWork{.op = VectorOp::kDropout, .rows = rows, .cols = sequence_}),
              std::array{scores}, made);
    scores = made[0];
  }
  return graph_.emit(prefix + ".context",
                     core(Gemm{.batch = batch, .m = times(group, sequence_), .n = config_.head_dim, .k = sequence_}),
                     {scores, qkv.values}, {.elements = times(rows, config_.head_dim)});
}

TensorId LayerWriter::flash_core(const std::string& prefix, const Projections& qkv, const AttentionInputs& inputs) {
  const Attention work{.batch = options_.microbatch,
                       .heads = config_.heads,
                       .kv_heads = config_.kv_heads,
                       .query_length = sequence_,
                       .key_length = sequence_,
                       .head_dim = config_.head_dim,
                       .window = inputs.window < sequence_ ? inputs.window : 0,
                       .causal = inputs.causal,
                       .dropout = config_.dropout.attention};
  std::vector<TensorId> reads = {qkv.queries, qkv.keys, qkv.values};
  if (inputs.bias.valid()) reads.push_back(inputs.bias);
  // The second result is the logarithm of each row's sum of exponentials, from which the backward pass starts.
  const std::int64_t rows = saturating_product({options_.microbatch, config_.heads, sequence_});
  const std::array made = {graph_.tensor({.elements = times(rows, config_.head_dim)}),
                           graph_.tensor({.elements = rows, .type = ElementType::kF32})};
  graph_.op(prefix + ".attention", Op{.work = work, .attention_core = true}, reads, made);
  return made[0];
}

TensorId LayerWriter::attention(const std::string& prefix, const AttentionInputs& inputs) {
  Projections qkv = project(prefix, inputs);
  if (config_.positions == Positions::kRotary) {
    qkv.queries = rotate(prefix + ".rotary_q", qkv.queries, config_.heads);
    qkv.keys = rotate(prefix + ".rotary_k", qkv.keys, config_.kv_heads);
  }
  const TensorId context =
      options_.attention == AttentionKind::kFlash ? flash_core(prefix, qkv, inputs) : eager_core(prefix, qkv, inputs);
  const std::int64_t width = times(config_.heads, config_.head_dim);
  return linear(prefix + ".proj", view(prefix + ".merge", context, times(tokens_, width)), width, config_.hidden,
                config_.projection_bias, Split::kRow);
}

TensorId LayerWriter::feed_forward(const std::string& prefix, TensorId x) {
  const std::int64_t inner = config_.feed_forward;
  const bool bias = config_.feed_forward_bias;
  TensorId hidden;
  if (config_.gated) {
    TensorId gate, up;
    if (config_.fused_gate_up) {
      const TensorId both = linear(prefix + ".gate_up", x, config_.hidden, 2 * inner, bias, Split::kColumn);
      const std::array parts = {graph_.tensor({.elements = times(tokens_, inner), .view_of = both}),
                                graph_.tensor({.elements = times(tokens_, inner), .view_of = both})};
      graph_.op(prefix + ".split", Op{.work = View{}}, std::array{both}, parts);
      gate = parts[0];
      up = parts[1];
    } else {
      gate = linear(prefix + ".gate", x, config_.hidden, inner, bias, Split::kColumn);
      up = linear(prefix + ".up", x, config_.hidden, inner, bias, Split::kColumn);
    }
    const TensorId activated = element_wise(prefix + ".activation", config_.activation, {gate}, tokens_, inner);
    hidden = element_wise(prefix + ".multiply", VectorOp::kMul, {activated, up}, tokens_, inner);
  } else {
    hidden = linear(prefix + ".fc1", x, config_.hidden, inner, bias, Split::kColumn);
    hidden = element_wise(prefix + ".activation", config_.activation, {hidden}, tokens_, inner);
  }
  hidden = dropout(prefix + ".inner_dropout", hidden, config_.dropout.feed_forward, inner);
  return linear(prefix + ".fc2", hidden, inner, config_.hidden, bias, Split::kRow);
}

TensorId LayerWriter::relative_bias(const std::string& prefix) {
  const std::int64_t pairs = times(sequence_, sequence_);
  const TensorId looked_up =
      embed(prefix + ".relative_bias", config_.relative_buckets, config_.heads, Split::kColumn, pairs);
  return view(prefix + ".relative_bias.transpose", looked_up, times(pairs, config_.heads));
}

OpGraph LayerWriter::finish(TensorId output) {
  graph_.edit(output).output = true;
  return finish();
}

}  // namespace phaze::workload
