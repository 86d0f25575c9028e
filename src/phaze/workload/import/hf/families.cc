#include "phaze/workload/import/hf/families.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace phaze::workload::hf {
namespace {

VectorOp activation(ConfigReader& read, std::string_view key, std::string_view otherwise) {
  const std::string name = read.text(key, otherwise);
  constexpr std::array<std::pair<std::string_view, VectorOp>, 11> kKnown = {{
      {"gelu", VectorOp::kGelu},
      {"gelu_new", VectorOp::kGelu},
      {"gelu_fast", VectorOp::kGelu},
      {"gelu_python", VectorOp::kGelu},
      {"gelu_pytorch_tanh", VectorOp::kGelu},
      {"quick_gelu", VectorOp::kGelu},
      {"relu", VectorOp::kRelu},
      {"silu", VectorOp::kSilu},
      {"swish", VectorOp::kSilu},
      {"tanh", VectorOp::kTanh},
      {"sigmoid", VectorOp::kSigmoid},
  }};
  for (const auto& [known, op] : kKnown)
    if (known == name) return op;
  std::string list;
  for (const auto& [known, op] : kKnown) list += (list.empty() ? "" : ", ") + std::string(known);
  read.fail(key, fmt::format("unknown activation '{}'", name), "known: " + list);
  return VectorOp::kGelu;
}

// The class in "architectures" chooses the head. `known` lists the ones that can be trained here; the first is the
// default.
Head head(ConfigReader& read, std::initializer_list<std::pair<std::string_view, Head>> known) {
  const auto names = read.texts("architectures");
  if (names.empty()) return known.begin()->second;
  for (const auto& [name, head] : known)
    if (name == names.front()) return head;
  std::string list;
  for (const auto& [name, head] : known) list += (list.empty() ? "" : ", ") + std::string(name);
  read.fail("architectures", fmt::format("cannot train a '{}'", names.front()), "known for this model_type: " + list);
  return Head::kNone;
}

// Multi-head attention in its first form: every head has its own keys, and the heads share the hidden size out.
void read_plain_heads(ConfigReader& read, TransformerConfig& config, std::string_view hidden_key,
                      std::string_view heads_key) {
  config.hidden = read.size(hidden_key);
  config.heads = config.kv_heads = read.size(heads_key);
  read.must_divide(hidden_key, config.hidden, heads_key, config.heads);
  config.head_dim = std::max<std::int64_t>(config.hidden / config.heads, 1);
}

// Sizes that nearly all decoder families spell the same way.
void read_llama_sizes(ConfigReader& read, TransformerConfig& config, std::int64_t default_head_dim = 0) {
  config.layers = read.layers({"num_hidden_layers"});
  config.hidden = read.size("hidden_size");
  config.heads = read.size("num_attention_heads");
  config.kv_heads = read.size("num_key_value_heads", config.heads);
  config.feed_forward = read.size("intermediate_size");
  config.vocabulary = read.size("vocab_size");
  if (default_head_dim == 0 && !read.present("head_dim")) {
    read.must_divide("hidden_size", config.hidden, "num_attention_heads", config.heads);
    default_head_dim = std::max<std::int64_t>(config.hidden / config.heads, 1);
  }
  config.head_dim = read.size("head_dim", default_head_dim);
  read.must_divide("num_attention_heads", config.heads, "num_key_value_heads", config.kv_heads);
  config.default_sequence = read.size("max_position_embeddings", 2048);
}

void read_rotary(ConfigReader& read, TransformerConfig& config, std::string_view key, double otherwise) {
  config.positions = Positions::kRotary;
  config.rotary_fraction = read.fraction(key, otherwise);
  // Newer files keep it with the other rotary settings.
  if (auto nested = read.inside("rope_parameters")) {
    config.rotary_fraction = nested->fraction("partial_rotary_factor", config.rotary_fraction);
    if (nested->error()) read.fail("rope_parameters", nested->error()->message);
  }
  if (config.head_dim % 2 != 0)
    read.fail(read.present("head_dim") ? "head_dim" : "hidden_size",
              fmt::format("rotary positions need an even head dimension, not {}", config.head_dim));
}

// RMSNorm, SwiGLU, rotary positions, causal: the family that Llama founded.
void read_llama_like(ConfigReader& read, TransformerConfig& config, std::int64_t default_head_dim = 0) {
  read_llama_sizes(read, config, default_head_dim);
  read_rotary(read, config, "partial_rotary_factor", 1.0);
  config.norm = NormKind::kRmsNorm;
  config.norm_bias = false;
  config.gated = true;
  config.activation = activation(read, "hidden_act", "silu");
  config.causal = true;
  config.tied_embeddings = read.flag("tie_word_embeddings", false);
  config.dropout.attention = read.probability("attention_dropout", 0) > 0;
}

void llama(ConfigReader& read, TransformerConfig& config) {
  read_llama_like(read, config);
  config.qkv_bias = config.projection_bias = read.flag("attention_bias", false);
  config.feed_forward_bias = read.flag("mlp_bias", false);
  config.head = head(read, {{"LlamaForCausalLM", Head::kLanguageModel}, {"LlamaModel", Head::kNone}});
}

void mistral(ConfigReader& read, TransformerConfig& config) {
  read_llama_like(read, config);
  config.window = read.is_null("sliding_window") ? 0 : read.size("sliding_window", 4096);
  config.head = head(read, {{"MistralForCausalLM", Head::kLanguageModel}, {"MistralModel", Head::kNone}});
}

void qwen2(ConfigReader& read, TransformerConfig& config) {
  read_llama_like(read, config);
  config.qkv_bias = true;
  if (read.flag("use_sliding_window", false)) {
    config.window = read.size("sliding_window", 4096);
    config.first_windowed_layer = read.size("max_window_layers", 28);
  }
  config.head = head(read, {{"Qwen2ForCausalLM", Head::kLanguageModel}, {"Qwen2Model", Head::kNone}});
}

void phi3(ConfigReader& read, TransformerConfig& config) {
  read_llama_like(read, config);
  config.fused_qkv = config.fused_gate_up = true;
  config.window = read.size("sliding_window", 0);
  config.dropout.embedding = read.probability("embd_pdrop", 0) > 0;
  config.dropout.hidden = read.probability("resid_pdrop", 0) > 0;
  config.head = head(read, {{"Phi3ForCausalLM", Head::kLanguageModel}, {"Phi3Model", Head::kNone}});
}

void gemma2(ConfigReader& read, TransformerConfig& config) {
  read_llama_like(read, config, 256);
  config.activation =
      activation(read, read.present("hidden_activation") ? "hidden_activation" : "hidden_act", "gelu_pytorch_tanh");
  config.norm_placement = NormPlacement::kSandwich;
  config.scaled_embeddings = true;
  config.attention_softcap = !read.is_null("attn_logit_softcapping");
  config.logit_softcap = !read.is_null("final_logit_softcapping");
  config.window = read.size("sliding_window", 4096);
  config.alternate_windows = true;
  config.qkv_bias = config.projection_bias = read.flag("attention_bias", false);
  config.tied_embeddings = read.flag("tie_word_embeddings", true);
  config.head = head(read, {{"Gemma2ForCausalLM", Head::kLanguageModel}, {"Gemma2Model", Head::kNone}});
}

void gpt2(ConfigReader& read, TransformerConfig& config) {
  config.layers = read.layers({"n_layer"});
  read_plain_heads(read, config, "n_embd", "n_head");
  config.feed_forward = read.size("n_inner", 4 * config.hidden);
  config.vocabulary = read.size("vocab_size");
  config.positions = Positions::kLearned;
  config.position_rows = config.max_sequence = config.default_sequence = read.size({"n_positions", "n_ctx"});
  config.activation = activation(read, "activation_function", "gelu_new");
  config.fused_qkv = true;
  config.qkv_bias = config.projection_bias = config.feed_forward_bias = true;
  config.causal = true;
  config.tied_embeddings = read.flag("tie_word_embeddings", true);
  config.dropout.embedding = read.probability("embd_pdrop", 0.1) > 0;
  config.dropout.attention = read.probability("attn_pdrop", 0.1) > 0;
  config.dropout.hidden = read.probability("resid_pdrop", 0.1) > 0;
  config.head = head(read, {{"GPT2LMHeadModel", Head::kLanguageModel}, {"GPT2Model", Head::kNone}});
}

void opt(ConfigReader& read, TransformerConfig& config) {
  config.layers = read.layers({"num_hidden_layers"});
  read_plain_heads(read, config, "hidden_size", "num_attention_heads");
  config.feed_forward = read.size("ffn_dim");
  config.vocabulary = read.size("vocab_size");
  config.embedding_size = read.size("word_embed_proj_dim", config.hidden);
  config.positions = Positions::kLearned;
  config.max_sequence = config.default_sequence = read.size("max_position_embeddings");
  config.position_rows = config.max_sequence + 2;  // the first two rows are for padding
  config.activation = activation(read, "activation_function", "relu");
  config.qkv_bias = config.projection_bias = config.feed_forward_bias = read.flag("enable_bias", true);
  config.norm_weights = read.flag("layer_norm_elementwise_affine", true);
  config.causal = true;
  const bool pre = read.flag("do_layer_norm_before", true);
  config.norm_placement = pre ? NormPlacement::kPre : NormPlacement::kPost;
  config.final_norm = pre && !read.flag("_remove_final_layer_norm", false);
  config.tied_embeddings = read.flag("tie_word_embeddings", true);
  config.dropout.attention = read.probability("attention_dropout", 0) > 0;
  config.dropout.hidden = read.probability("dropout", 0.1) > 0;
  config.head = head(read, {{"OPTForCausalLM", Head::kLanguageModel}, {"OPTModel", Head::kNone}});
}

void gpt_neox(ConfigReader& read, TransformerConfig& config) {
  read_llama_sizes(read, config);
  read_rotary(read, config, "rotary_pct", 0.25);
  config.activation = activation(read, "hidden_act", "gelu");
  config.fused_qkv = true;
  config.qkv_bias = config.projection_bias = read.flag("attention_bias", true);
  config.feed_forward_bias = true;
  config.causal = true;
  config.parallel_block = read.flag("use_parallel_residual", true);
  config.tied_embeddings = read.flag("tie_word_embeddings", false);
  config.dropout.attention = read.probability("attention_dropout", 0) > 0;
  config.dropout.hidden = config.dropout.embedding = read.probability("hidden_dropout", 0) > 0;
  config.head = head(read, {{"GPTNeoXForCausalLM", Head::kLanguageModel}, {"GPTNeoXModel", Head::kNone}});
}

void falcon(ConfigReader& read, TransformerConfig& config) {
  config.layers = read.layers({"num_hidden_layers", "n_layer"});
  config.hidden = read.size("hidden_size");
  config.heads = read.size({"num_attention_heads", "n_head"});
  read.must_divide("hidden_size", config.hidden, "num_attention_heads", config.heads);
  config.head_dim = std::max<std::int64_t>(config.hidden / config.heads, 1);
  const bool grouped = read.flag("new_decoder_architecture", false);
  const bool multi_query = read.flag("multi_query", true);
  config.kv_heads = config.heads;
  if (grouped)
    config.kv_heads = read.size({"num_kv_heads", "n_head_kv"}, config.heads);
  else if (multi_query)
    config.kv_heads = 1;
  read.must_divide("num_attention_heads", config.heads, "num_kv_heads", config.kv_heads);
  config.feed_forward = read.size("ffn_hidden_size", 4 * config.hidden);
  config.vocabulary = read.size("vocab_size");
  config.default_sequence = read.size("max_position_embeddings", 2048);
  if (read.flag("alibi", false))
    config.positions = Positions::kAlibi;
  else
    read_rotary(read, config, "partial_rotary_factor", 1.0);
  config.activation = activation(read, "activation", "gelu");
  config.fused_qkv = true;
  config.qkv_bias = config.projection_bias = config.feed_forward_bias = read.flag("bias", false);
  config.causal = true;
  config.parallel_block = grouped || read.flag("parallel_attn", true);
  config.shared_norm = config.parallel_block && read.size("num_ln_in_parallel_attn", grouped ? 2 : 1) == 1;
  config.tied_embeddings = read.flag("tie_word_embeddings", true);
  config.dropout.attention = read.probability("attention_dropout", 0) > 0;
  config.dropout.hidden = read.probability("hidden_dropout", 0) > 0;
  config.joint_dropout = true;
  config.head = head(read, {{"FalconForCausalLM", Head::kLanguageModel},
                            {"RWForCausalLM", Head::kLanguageModel},
                            {"FalconModel", Head::kNone}});
}

void read_bert_like(ConfigReader& read, TransformerConfig& config) {
  config.layers = read.layers({"num_hidden_layers"});
  read_plain_heads(read, config, "hidden_size", "num_attention_heads");
  config.feed_forward = read.size("intermediate_size");
  config.activation = activation(read, "hidden_act", "gelu");
  config.qkv_bias = config.projection_bias = config.feed_forward_bias = true;
  config.dropout.attention = read.probability("attention_probs_dropout_prob", 0.1) > 0;
  config.dropout.hidden = config.dropout.embedding = read.probability("hidden_dropout_prob", 0.1) > 0;
}

void read_bert_embeddings(ConfigReader& read, TransformerConfig& config) {
  config.vocabulary = read.size("vocab_size");
  config.positions = Positions::kLearned;
  if (const std::string kind = read.text("position_embedding_type", "absolute"); kind != "absolute")
    read.fail("position_embedding_type", fmt::format("'{}' is not supported", kind), "known: absolute");
  config.position_rows = config.max_sequence = config.default_sequence = read.size("max_position_embeddings");
  config.token_types = read.size("type_vocab_size", 2);
  config.head_bias = true;
  config.tied_embeddings = read.flag("tie_word_embeddings", true);
}

void bert(ConfigReader& read, TransformerConfig& config) {
  read_bert_like(read, config);
  read_bert_embeddings(read, config);
  config.norm_placement = NormPlacement::kPost;
  config.embedding_norm = true;
  config.final_norm = false;
  config.head = head(read, {{"BertForMaskedLM", Head::kMaskedLanguageModel},
                            {"BertForPreTraining", Head::kMaskedAndNextSentence},
                            {"BertModel", Head::kPooled}});
}

void megatron_bert(ConfigReader& read, TransformerConfig& config) {
  read_bert_like(read, config);
  read_bert_embeddings(read, config);
  config.head = head(read, {{"MegatronBertForMaskedLM", Head::kMaskedLanguageModel},
                            {"MegatronBertForPreTraining", Head::kMaskedAndNextSentence},
                            {"MegatronBertModel", Head::kPooled}});
}

void vit(ConfigReader& read, TransformerConfig& config) {
  read_bert_like(read, config);
  config.dropout.attention = read.probability("attention_probs_dropout_prob", 0) > 0;
  config.dropout.hidden = config.dropout.embedding = read.probability("hidden_dropout_prob", 0) > 0;
  config.qkv_bias = read.flag("qkv_bias", true);
  config.image_size = read.size("image_size");
  config.patch_size = read.size("patch_size");
  config.channels = read.size("num_channels", 3);
  read.must_divide("image_size", config.image_size, "patch_size", config.patch_size);
  const std::int64_t side = std::max<std::int64_t>(config.image_size / config.patch_size, 1);
  if (side > 4096) read.fail("image_size", fmt::format("{} patches a side are more than 4096", side));
  config.default_sequence = side * side + 1;
  const auto labels = static_cast<std::int64_t>(read.entries("id2label"));
  config.classes = read.size("num_labels", labels > 0 ? labels : 2);
  config.vocabulary = 1;  // there is none; the classifier has `classes`
  config.head = head(read, {{"ViTForImageClassification", Head::kClassifier}, {"ViTModel", Head::kPooled}});
}

void t5(ConfigReader& read, TransformerConfig& config) {
  config.hidden = read.size("d_model");
  config.head_dim = read.size("d_kv");
  config.feed_forward = read.size("d_ff");
  config.layers = read.layers({"num_layers"});
  config.decoder_layers = read.present("num_decoder_layers") ? read.layers({"num_decoder_layers"}) : config.layers;
  config.heads = config.kv_heads = read.size("num_heads");
  config.vocabulary = read.size("vocab_size");
  config.positions = Positions::kRelative;
  config.relative_buckets = read.size("relative_attention_num_buckets", 32);
  config.default_sequence = read.size("n_positions", 512);
  config.norm = NormKind::kRmsNorm;
  config.norm_bias = false;
  config.scaled_scores = false;
  std::string projection = read.text("feed_forward_proj", "relu");
  if (projection.starts_with("gated-")) {
    config.gated = true;
    projection = projection.substr(6);
  }
  if (projection == "gelu")
    config.activation = VectorOp::kGelu;
  else if (projection == "relu")
    config.activation = VectorOp::kRelu;
  else if (projection == "silu")
    config.activation = VectorOp::kSilu;
  else
    read.fail("feed_forward_proj", fmt::format("unknown activation '{}'", projection),
              "known: relu, gelu, silu, gated-gelu, gated-silu");
  config.tied_embeddings = read.flag("tie_word_embeddings", true);
  config.scaled_logits = config.tied_embeddings;
  const bool dropout = read.probability("dropout_rate", 0.1) > 0;
  config.dropout = {.embedding = dropout, .attention = dropout, .hidden = dropout, .feed_forward = dropout};
  config.head =
      head(read, {{"T5ForConditionalGeneration", Head::kLanguageModel}, {"T5WithLMHeadModel", Head::kLanguageModel}});
}

constexpr std::array<Family, 13> kFamilies = {{
    {"bert", bert},
    {"falcon", falcon},
    {"gemma2", gemma2},
    {"gpt2", gpt2},
    {"gpt_neox", gpt_neox},
    {"llama", llama},
    {"megatron-bert", megatron_bert},
    {"mistral", mistral},
    {"opt", opt},
    {"phi3", phi3},
    {"qwen2", qwen2},
    {"t5", t5},
    {"vit", vit},
}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace phaze::workload::hf
