#include "phaze/workload/transformer/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "phaze/workload/transformer/blocks.h"

namespace phaze::workload {
namespace {

std::string widths_that_divide(const TransformerConfig& config) {
  std::string list;
  for (std::int64_t width = 1; width <= std::min<std::int64_t>(config.kv_heads, 64); ++width) {
    if (config.heads % width != 0 || config.kv_heads % width != 0 || config.feed_forward % width != 0) continue;
    list += (list.empty() ? "" : ", ") + std::to_string(width);
  }
  return list;
}

Status check_options(const TransformerConfig& config, const WorkloadOptions& options, std::int64_t sequence) {
  const std::int64_t t = options.parallel.width;
  if (options.microbatch < 1 || options.microbatch > (1 << 20))
    return Error{fmt::format("a microbatch of {} is not between 1 and 1048576", options.microbatch), "--microbatch"};
  if (sequence < 1 || sequence > (1 << 26))
    return Error{fmt::format("a sequence of {} tokens is not between 1 and 67108864", sequence), "--seq"};
  if (config.image_size > 0 && options.sequence != 0 && options.sequence != config.default_sequence)
    return Error{fmt::format("the sequence of '{}' is its {} patches and class token, not {}", config.name,
                             config.default_sequence, options.sequence),
                 "--seq", "leave --seq out"};
  if (config.max_sequence > 0 && sequence > config.max_sequence)
    return Error{fmt::format("{} tokens are more than the {} positions that '{}' has learned", sequence,
                             config.max_sequence, config.name),
                 "--seq", fmt::format("use at most {}", config.max_sequence)};
  if (t < 1) return Error{fmt::format("a width of {} is not positive", t), "--tensor-parallel"};
  const auto refuse = [&](std::int64_t count, std::string_view what) -> Status {
    return Error{fmt::format("width {} does not divide the {} {} of '{}'", t, count, what, config.name),
                 "--tensor-parallel", "widths that do: " + widths_that_divide(config)};
  };
  if (config.heads % t != 0) return refuse(config.heads, "attention heads");
  if (config.kv_heads % t != 0) return refuse(config.kv_heads, "key-value heads");
  if (config.feed_forward % t != 0) return refuse(config.feed_forward, "feed-forward columns");
  if (options.parallel.sequence && sequence % t != 0)
    return Error{fmt::format("width {} does not divide the {} tokens of the sequence", t, sequence),
                 "--sequence-parallel",
                 config.image_size > 0 ? "leave --sequence-parallel out"
                                       : "choose a --seq that it divides, or leave --sequence-parallel out"};
  return Done{};
}

class ModelBuilder {
 public:
  ModelBuilder(const TransformerConfig& config, const WorkloadOptions& options, std::int64_t sequence)
      : config_(config),
        options_(options),
        sequence_(sequence),
        tokens_(saturating_multiply(sequence, options.microbatch)),
        layers_({.model = config.name, .family = config.family, .sequence = sequence, .microbatch = options.microbatch},
                {.parallel = options.parallel, .fuse = options.fuse}) {}

  Result<LayerGraph> run() {
    const Status status = config_.decoder_layers > 0 ? encoder_decoder() : chain();
    if (!status) return status.error();
    return std::move(layers_).build();
  }

 private:
  struct BlockKind {
    std::string name;
    std::int64_t window = 0;
    bool causal = false;
    bool cross_attention = false;
    bool owns_relative_bias = false;
  };

  LayerWriter writer() const { return {config_, options_, sequence_}; }
  Bytes activation_bytes() const {
    const std::int64_t t = options_.parallel.sequence ? options_.parallel.width : 1;
    return Bytes(saturating_product({tokens_, config_.hidden, 2}) / t);
  }
  Bytes relative_bias_bytes() const {
    return Bytes(saturating_product({sequence_, sequence_, config_.heads, 2}) / options_.parallel.width);
  }

  // ---- layers ----

  OpGraph embedding(bool tied) const {
    LayerWriter w = writer();
    const std::int64_t width = config_.embedding_size;
    TensorId x = w.embed("tokens", config_.vocabulary, width, Split::kRow, tokens_, tied);
    if (config_.scaled_embeddings) x = w.element_wise("scale", VectorOp::kScale, {x}, tokens_, width);
    if (width != config_.hidden) x = w.linear("project_in", x, width, config_.hidden, false, Split::kNone);
    if (config_.positions == Positions::kLearned) {
      const TensorId positions = w.embed("positions", config_.position_rows, config_.hidden, Split::kNone, sequence_);
      x = w.element_wise("add_positions", VectorOp::kAdd, {x, positions}, tokens_, config_.hidden);
    }
    if (config_.token_types > 0) {
      const TensorId types = w.embed("token_types", config_.token_types, config_.hidden, Split::kNone, tokens_);
      x = w.add("add_token_types", x, types);
    }
    if (config_.embedding_norm) x = w.norm("norm", x);
    x = w.dropout("dropout", x, config_.dropout.embedding, config_.hidden);
    return w.finish(x);
  }

  // ViT: non-overlapping patches, so the convolution is one product; then a class token and learned positions.
  OpGraph patch_embedding() const {
    LayerWriter w = writer();
    const std::int64_t patches = saturating_multiply(options_.microbatch, sequence_ - 1);
    const std::int64_t pixels = saturating_product({config_.channels, config_.patch_size, config_.patch_size});
    const TensorId image = w.constant(saturating_multiply(patches, pixels), ElementType::kBf16);
    TensorId x = w.linear("patches", image, pixels, config_.hidden, true, Split::kNone);
    const TensorId class_token = w.parameter(config_.hidden);
    x = w.graph().emit("class_token",
                       Work(VectorWork{.op = VectorOp::kConcat, .rows = tokens_, .cols = config_.hidden}),
                       {x, class_token}, {.elements = saturating_multiply(tokens_, config_.hidden)});
    const TensorId positions = w.parameter(saturating_multiply(sequence_, config_.hidden));
    x = w.element_wise("add_positions", VectorOp::kAdd, {x, positions}, tokens_, config_.hidden);
    x = w.dropout("dropout", x, config_.dropout.embedding, config_.hidden);
    return w.finish(x);
  }

  OpGraph block(const BlockKind& kind) const {
    LayerWriter w = writer();
    const TensorId x = w.input(saturating_multiply(tokens_, config_.hidden));
    TensorId context;
    if (kind.cross_attention) context = w.input(saturating_multiply(tokens_, config_.hidden), TensorRole::kSharedInput);
    const TensorId bias = score_bias(w, kind);
    TensorId y;
    if (config_.parallel_block) {
      const TensorId first = w.norm("norm1", x);
      const TensorId second = config_.shared_norm ? first : w.norm("norm2", x);
      const TensorId attended =
          w.attention("attention", {.x = first, .bias = bias, .window = kind.window, .causal = kind.causal});
      const TensorId transformed = w.feed_forward("ffn", second);
      if (config_.joint_dropout) {
        const TensorId both = w.add("join", attended, transformed);
        y = w.add("residual", w.dropout("output_dropout", both, config_.dropout.hidden, config_.hidden), x);
      } else {
        const auto dropped = [&](const char* name, TensorId in) {
          return w.dropout(name, in, config_.dropout.hidden, config_.hidden);
        };
        y = w.add("join", dropped("attention.output_dropout", attended), dropped("ffn.output_dropout", transformed));
        y = w.add("residual", y, x);
      }
    } else {
      y = sublayer(w, "attention", "norm1", x, [&](TensorId in) {
        return w.attention("attention", {.x = in, .bias = bias, .window = kind.window, .causal = kind.causal});
      });
      if (kind.cross_attention)
        y = sublayer(w, "cross_attention", "norm_cross", y,
                     [&](TensorId in) { return w.attention("cross_attention", {.x = in, .context = context}); });
      y = sublayer(w, "ffn", "norm2", y, [&](TensorId in) { return w.feed_forward("ffn", in); });
    }
    return w.finish(y);
  }

  // x + f(norm(x)), norm(x + f(x)) or x + norm(f(norm(x))), with dropout before the sum.
  template <typename Function>
  TensorId sublayer(LayerWriter& w, const std::string& name, const std::string& norm, TensorId x,
                    Function&& function) const {
    const bool before = config_.norm_placement != NormPlacement::kPost;
    TensorId y = function(before ? w.norm(norm, x) : x);
    if (config_.norm_placement == NormPlacement::kSandwich) y = w.norm(norm + ".after", y);
    y = w.dropout(name + ".output_dropout", y, config_.dropout.hidden, config_.hidden);
    y = w.add(name + ".residual", y, x);
    return before ? y : w.norm(norm, y);
  }

  TensorId score_bias(LayerWriter& w, const BlockKind& kind) const {
    const std::int64_t pairs = saturating_product({sequence_, sequence_, config_.heads});
    if (config_.positions == Positions::kAlibi)
      return w.graph().tensor({.elements = pairs, .role = TensorRole::kConstant, .split = true});
    if (config_.positions != Positions::kRelative) return {};
    if (!kind.owns_relative_bias)
      return w.graph().tensor({.elements = pairs, .role = TensorRole::kSharedInput, .split = true});
    const TensorId bias = w.relative_bias("attention");
    w.graph().edit(bias).output = true;
    // Sums do not keep their operands, fused attention does; either way it is there when a later layer runs again.
    w.graph().edit(bias).kept_for_readers =
        options_.attention == AttentionKind::kFlash ? KeptForReaders::kAlways : KeptForReaders::kForRecompute;
    return bias;
  }

  // Final norm and dropout of an encoder whose output goes to a decoder.
  OpGraph encoder_end() const {
    LayerWriter w = writer();
    const TensorId x = w.input(saturating_multiply(tokens_, config_.hidden));
    const TensorId encoded = w.dropout("dropout", w.norm("norm", x), config_.dropout.hidden, config_.hidden);
    w.graph().edit(encoded).kept_for_readers =
        KeptForReaders::kAlways;  // every decoder block's keys and values read it
    return w.finish(encoded);
  }

  OpGraph head() const {
    LayerWriter w = writer();
    TensorId x = w.input(saturating_multiply(tokens_, config_.hidden));
    if (config_.final_norm) x = w.norm("norm", x);
    switch (config_.head) {
      case Head::kNone: return w.finish(x);
      case Head::kPooled: return w.finish(pooled(w, x));
      case Head::kClassifier: return classifier(w, x, "classifier", config_.classes);
      case Head::kMaskedAndNextSentence: {
        loss(w, "next_sentence", w.linear("next_sentence", pooled(w, x), config_.hidden, 2, true, Split::kNone), 2);
        [[fallthrough]];
      }
      case Head::kMaskedLanguageModel:
        x = w.linear("transform", x, config_.hidden, config_.hidden, true, Split::kNone);
        x = w.element_wise("transform.activation", config_.activation, {x}, tokens_, config_.hidden);
        x = w.norm("transform.norm", x);
        [[fallthrough]];
      case Head::kLanguageModel: return language_model(w, x);
    }
    return w.finish(x);
  }

  OpGraph language_model(LayerWriter& w, TensorId x) const {
    const std::int64_t width = config_.embedding_size;
    if (config_.dropout.hidden && config_.decoder_layers > 0) x = w.dropout("dropout", x, true, config_.hidden);
    if (width != config_.hidden) x = w.linear("project_out", x, config_.hidden, width, false, Split::kNone);
    if (config_.scaled_logits) x = w.element_wise("scale", VectorOp::kScale, {x}, tokens_, width);
    TensorId logits =
        w.linear("logits", x, width, config_.vocabulary, config_.head_bias, Split::kColumn, config_.tied_embeddings);
    if (config_.logit_softcap) {
      logits = w.element_wise("softcap.divide", VectorOp::kScale, {logits}, tokens_, config_.vocabulary);
      logits = w.element_wise("softcap.tanh", VectorOp::kTanh, {logits}, tokens_, config_.vocabulary);
      logits = w.element_wise("softcap.multiply", VectorOp::kScale, {logits}, tokens_, config_.vocabulary);
    }
    loss(w, "loss", logits, config_.vocabulary);
    return w.finish();
  }

  OpGraph classifier(LayerWriter& w, TensorId x, const std::string& name, std::int64_t classes) const {
    loss(w, "loss", w.linear(name, first_token(w, x), config_.hidden, classes, true, Split::kNone), classes);
    return w.finish();
  }

  TensorId first_token(LayerWriter& w, TensorId x) const {
    const VectorWork pick{.op = VectorOp::kGather, .rows = options_.microbatch, .cols = config_.hidden};
    return w.graph().emit("first_token", Work(pick), {x, w.constant(1, ElementType::kI64)},
                          {.elements = pick.elements()});
  }

  TensorId pooled(LayerWriter& w, TensorId x) const {
    const TensorId dense = w.linear("pooler", first_token(w, x), config_.hidden, config_.hidden, true, Split::kNone);
    return w.element_wise("pooler.tanh", VectorOp::kTanh, {dense}, options_.microbatch, config_.hidden);
  }

  // Cross entropy in 32 bits; the probabilities are kept for the backward pass.
  void loss(LayerWriter& w, const std::string& name, TensorId logits, std::int64_t classes) const {
    const std::int64_t rows = w.graph().look(logits).elements / classes;
    const Tensor wide{.elements = w.graph().look(logits).elements, .type = ElementType::kF32};
    const TensorId upcast = w.graph().emit(
        name + ".upcast", Work(VectorWork{.op = VectorOp::kCast, .rows = rows, .cols = classes}), {logits}, wide);
    w.graph().emit(name + ".cross_entropy",
                   Work(VectorWork{.op = VectorOp::kCrossEntropy, .rows = rows, .cols = classes}), {upcast}, wide);
  }

  // ---- models ----

  // Appends a node fed by `previous` and returns it.
  Result<NodeId> append(const std::string& name, const OpGraph& forward, NodeId previous) {
    auto node = layers_.node(name, forward);
    if (node && previous.valid()) layers_.edge(previous, *node, activation_bytes());
    return node;
  }

  Status chain() {
    const bool vision = config_.image_size > 0;
    auto last = append("embedding", vision ? patch_embedding() : embedding(false), NodeId::none());
    if (!last) return last.error();
    // Windowed or not, as each layer is: all of them, every second one, or those behind the first few.
    const std::array<BlockKind, 2> kinds = {{{.name = "block", .causal = config_.causal},
                                             {.name = "block", .window = config_.window, .causal = config_.causal}}};
    const auto is_windowed = [&](std::int64_t i) {
      if (config_.window == 0 || i < config_.first_windowed_layer) return false;
      return !config_.alternate_windows || i % 2 == 0;
    };
    const bool mixed = config_.window > 0 && (config_.alternate_windows || config_.first_windowed_layer > 0);
    std::array<NodeId, 2> firsts;
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::size_t which = is_windowed(i) ? 1 : 0;
      if (firsts[which].valid()) {
        const NodeId node = layers_.repeat(firsts[which]);
        layers_.edge(*last, node, activation_bytes());
        last = node;
        continue;
      }
      last = append(mixed ? (which == 1 ? "block.local" : "block.global") : "block", block(kinds[which]), *last);
      if (!last) return last.error();
      firsts[which] = *last;
    }
    if (config_.head == Head::kNone && !config_.final_norm) return Done{};
    last = append("head", head(), *last);
    if (!last) return last.error();
    return Done{};
  }

  // The blocks of one side of T5: the first owns the relative bias, which flows to all others.
  Result<NodeId> stack(const std::string& side, std::int64_t count, NodeId previous, NodeId encoder_output) {
    const bool decoder = encoder_output.valid();
    NodeId owner, twin;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool first = i == 0;
      const BlockKind kind{.name = side + (first ? ".first" : ".block"),
                           .causal = decoder,
                           .cross_attention = decoder,
                           .owns_relative_bias = first};
      Result<NodeId> node = NodeId::none();
      if (twin.valid()) {
        node = layers_.repeat(twin);
        layers_.edge(previous, *node, activation_bytes());
      } else {
        node = append(kind.name, block(kind), previous);
        if (!node) return node;
      }
      if (first)
        owner = *node;
      else
        twin = *node;
      if (!first) layers_.edge(owner, *node, relative_bias_bytes());
      if (decoder) layers_.edge(encoder_output, *node, activation_bytes());
      previous = *node;
    }
    return previous;
  }

  Status encoder_decoder() {
    const auto encoder_start = append("encoder.embedding", embedding(false), NodeId::none());
    if (!encoder_start) return encoder_start.error();
    const auto encoded = stack("encoder", config_.layers, *encoder_start, NodeId::none());
    if (!encoded) return encoded.error();
    const auto encoder_output = append("encoder.norm", encoder_end(), *encoded);
    if (!encoder_output) return encoder_output.error();
    const auto decoder_start = append("decoder.embedding", embedding(true), NodeId::none());
    if (!decoder_start) return decoder_start.error();
    const auto decoded = stack("decoder", config_.decoder_layers, *decoder_start, *encoder_output);
    if (!decoded) return decoded.error();
    const auto end = append("head", head(), *decoded);
    if (!end) return end.error();
    return Done{};
  }

  const TransformerConfig& config_;
  const WorkloadOptions& options_;
  std::int64_t sequence_, tokens_;
  LayerGraphBuilder layers_;
};

// Parameters of the whole model: one rank alone holds all of them.
std::int64_t count_parameters(const LayerGraph& graph) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    sum = saturating_add(sum, saturating_multiply(graph.layers[i].parameters, graph.repeat(LayerId(i))));
  return sum;
}

}  // namespace

Result<LayerGraph> build(const TransformerConfig& config, const WorkloadOptions& given) {
  WorkloadOptions options = given;
  if (options.microbatch == 0) options.microbatch = 1;
  const std::int64_t sequence = options.sequence != 0 ? options.sequence : config.default_sequence;
  if (auto status = check_options(config, options, sequence); !status) return status.error();
  auto graph = ModelBuilder(config, options, sequence).run();
  if (!graph) return graph;
  if (options.parallel.width == 1) {
    graph->parameters = count_parameters(*graph);
    return graph;
  }
  // The count does not depend on the tokens, so a one-token model on one rank gives it cheaply.
  const WorkloadOptions smallest{.sequence = config.image_size > 0 ? 0 : 1, .microbatch = 1};
  const auto whole = ModelBuilder(config, smallest, config.image_size > 0 ? sequence : 1).run();
  if (!whole) return whole.error();
  graph->parameters = count_parameters(*whole);
  return graph;
}

}  // namespace phaze::workload
