#include "phaze/workload/import/hf/read_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "phaze/workload/transformer/build.h"

namespace phaze::workload::hf {
namespace {

using nlohmann::json;

json llama() {
  return {{"model_type", "llama"},
          {"architectures", {"LlamaForCausalLM"}},
          {"vocab_size", 32000},
          {"hidden_size", 512},
          {"intermediate_size", 1376},
          {"num_hidden_layers", 4},
          {"num_attention_heads", 8},
          {"num_key_value_heads", 2},
          {"max_position_embeddings", 4096},
          {"hidden_act", "silu"},
          {"rms_norm_eps", 1e-6},
          {"rope_theta", 10000.0}};
}

json gpt2() {
  return {{"model_type", "gpt2"}, {"vocab_size", 50257}, {"n_embd", 768},
          {"n_layer", 12},        {"n_head", 12},        {"n_positions", 1024}};
}

std::string refusal(const json& config) {
  const auto read = parse_config(config.dump(), "m");
  return read ? "accepted" : to_string(read.error());
}

json with(json config, const char* key, json value) {
  config[key] = std::move(value);
  return config;
}

json without(json config, const char* key) {
  config.erase(key);
  return config;
}

constexpr const char* kFamilies =
    "known: bert, falcon, gemma2, gpt2, gpt_neox, llama, megatron-bert, mistral, opt, phi3, qwen2, t5, vit";

struct Broken {
  const char* what;
  json config;
  std::string message;
};

TEST(HuggingFace, broken_configurations_are_refused_by_key) {
  const std::vector<Broken> cases = {
      {"unknown family", with(llama(), "model_type", "mamba"),
       std::string("key 'model_type': unknown architecture 'mamba' (") + kFamilies + ")"},
      {"no family", {{"hidden_size", 8}}, std::string("key 'model_type': missing (") + kFamilies + ")"},
      {"unknown class",
       {{"architectures", {"MambaForCausalLM"}}},
       std::string("key 'architectures': unknown architecture 'MambaForCausalLM' (") + kFamilies + ")"},
      {"untrainable head", with(llama(), "architectures", {"LlamaForSequenceClassification"}),
       "key 'architectures': cannot train a 'LlamaForSequenceClassification' (known for this model_type: "
       "LlamaForCausalLM, LlamaModel)"},
      {"missing size", without(llama(), "hidden_size"),
       "key 'hidden_size': missing (the graph cannot be built without it)"},
      {"null size", with(llama(), "vocab_size", nullptr),
       "key 'vocab_size': missing (the graph cannot be built without it)"},
      {"zero", with(llama(), "num_hidden_layers", 0), "key 'num_hidden_layers': 0 is not between 1 and 2147483648"},
      {"negative", with(llama(), "hidden_size", -512), "key 'hidden_size': -512 is not between 1 and 2147483648"},
      {"absurd", with(llama(), "hidden_size", 1e18), "key 'hidden_size': 1e+18 is not between 1 and 2147483648"},
      {"fraction", with(llama(), "hidden_size", 512.5), "key 'hidden_size': 512.5 is not a whole number"},
      {"text for a number", with(llama(), "hidden_size", "512"),
       "key 'hidden_size': \"512\" is not a number (give a positive whole number)"},
      {"list for a number", with(llama(), "hidden_size", {512}),
       "key 'hidden_size': [512] is not a number (give a positive whole number)"},
      {"heads do not divide", with(llama(), "num_attention_heads", 7),
       "key 'hidden_size': 512 is not a multiple of 'num_attention_heads', which is 7"},
      {"kv heads do not divide", with(llama(), "num_key_value_heads", 3),
       "key 'num_attention_heads': 8 is not a multiple of 'num_key_value_heads', which is 3"},
      {"more kv heads than heads", with(llama(), "num_key_value_heads", 16),
       "key 'num_attention_heads': 8 is not a multiple of 'num_key_value_heads', which is 16"},
      {"odd rotary", with(llama(), "head_dim", 63),
       "key 'head_dim': rotary positions need an even head dimension, not 63"},
      {"unknown activation", with(llama(), "hidden_act", "sine"),
       "key 'hidden_act': unknown activation 'sine' (known: gelu, gelu_new, gelu_fast, gelu_python, gelu_pytorch_tanh, "
       "quick_gelu, relu, silu, swish, tanh, sigmoid)"},
      {"flag that is none", with(llama(), "tie_word_embeddings", "yes"),
       "key 'tie_word_embeddings': \"yes\" is neither true nor false"},
      {"dropout of one", with(gpt2(), "resid_pdrop", 1.0), "key 'resid_pdrop': 1.0 is not a probability below 1"},
      {"gpt2 without layers", without(gpt2(), "n_layer"),
       "key 'n_layer': missing (the graph cannot be built without it)"},
      {"gpt2 without positions", without(gpt2(), "n_positions"),
       "key 'n_positions' or 'n_ctx': missing (the graph cannot be built without it)"},
      {"gpt2 heads", with(gpt2(), "n_head", 11), "key 'n_embd': 768 is not a multiple of 'n_head', which is 11"},
      {"rotary share",
       {{"model_type", "gpt_neox"},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"num_attention_heads", 4},
        {"intermediate_size", 256},
        {"vocab_size", 10},
        {"rotary_pct", 1.5}},
       "key 'rotary_pct': 1.5 is not above 0 and at most 1"},
      {"patches do not fit",
       {{"model_type", "vit"},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"num_attention_heads", 4},
        {"intermediate_size", 256},
        {"image_size", 224},
        {"patch_size", 15}},
       "key 'image_size': 224 is not a multiple of 'patch_size', which is 15"},
      {"unknown feed-forward",
       {{"model_type", "t5"},
        {"d_model", 64},
        {"d_kv", 16},
        {"d_ff", 128},
        {"num_layers", 2},
        {"num_heads", 4},
        {"vocab_size", 100},
        {"feed_forward_proj", "gated-sine"}},
       "key 'feed_forward_proj': unknown activation 'sine' (known: relu, gelu, silu, gated-gelu, gated-silu)"},
      {"relative BERT",
       {{"model_type", "bert"},
        {"hidden_size", 64},
        {"num_hidden_layers", 1},
        {"num_attention_heads", 4},
        {"intermediate_size", 256},
        {"vocab_size", 10},
        {"max_position_embeddings", 512},
        {"position_embedding_type", "relative_key"}},
       "key 'position_embedding_type': 'relative_key' is not supported (known: absolute)"},
      {"too many layers", with(llama(), "num_hidden_layers", 2000000000),
       "key 'num_hidden_layers': 2000000000 layers are more than 65536"},
      {"architectures is no list", with(llama(), "architectures", "LlamaForCausalLM"),
       "key 'architectures': \"LlamaForCausalLM\" is not a list"},
      {"model_type is no text", with(llama(), "model_type", 7), "key 'model_type': 7 is not a text"},
  };
  for (const Broken& broken : cases) EXPECT_EQ(refusal(broken.config), broken.message) << broken.what;
}

TEST(HuggingFace, what_is_not_json_is_refused_with_its_line) {
  const auto refuse = [](std::string_view text) { return to_string(parse_config(text, "m").error()); };
  EXPECT_EQ(refuse("{\"a\": 1,\n \"b\": }"), "line 2, column 7: is not valid JSON");
  EXPECT_EQ(refuse(""), "line 1, column 1: is not valid JSON");
  EXPECT_EQ(refuse("{\"hidden_size\": 1e999}"),
            "hidden_size: holds a number that is too large (numbers end at 1.8e308)");
  EXPECT_EQ(refuse("{\"n_head\": 2, \"n_head\": 4}"), "key 'n_head' is there twice (leave one of them out)");
  EXPECT_EQ(refuse("[1, 2]"), "is not a JSON object (expected a Hugging Face config.json)");
  EXPECT_EQ(refuse("{\"a\": " + std::string(100, '[') + std::string(100, ']') + "}"),
            "is nested more than 64 levels deep");
}

TEST(HuggingFace, files_that_cannot_be_read_are_named) {
  EXPECT_EQ(to_string(read_config("/nowhere/config.json").error()),
            "/nowhere/config.json: cannot be read: No such file or directory");
}

TEST(HuggingFace, defaults_are_those_of_the_family) {
  const auto gpt = parse_config(gpt2().dump(), "m");
  ASSERT_TRUE(gpt);
  EXPECT_EQ(gpt->feed_forward, 4 * 768);
  EXPECT_TRUE(gpt->tied_embeddings);
  EXPECT_TRUE(gpt->dropout.attention);
  const auto plain = parse_config(without(llama(), "num_key_value_heads").dump(), "m");
  EXPECT_EQ(plain->kv_heads, 8);
  EXPECT_FALSE(plain->tied_embeddings);
}

TEST(HuggingFace, the_class_name_stands_in_for_a_missing_family) {
  const auto config = parse_config(without(llama(), "model_type").dump(), "m");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->family, "llama");
}

TEST(HuggingFace, long_contexts_do_not_become_the_default_sequence) {
  const auto config = parse_config(with(llama(), "max_position_embeddings", 1 << 20).dump(), "m");
  EXPECT_EQ(config->default_sequence, 8192);
  EXPECT_TRUE(build(*config, {.sequence = 1 << 17})) << "a longer one may be asked for";
}

TEST(HuggingFace, bare_encoders_have_their_pooler) {
  const json bert = {{"model_type", "bert"},      {"architectures", {"BertModel"}}, {"vocab_size", 30522},
                     {"hidden_size", 768},        {"num_hidden_layers", 12},        {"num_attention_heads", 12},
                     {"intermediate_size", 3072}, {"max_position_embeddings", 512}, {"type_vocab_size", 2}};
  EXPECT_EQ(build(*parse_config(bert.dump(), "m"), {})->parameters, 109482240)
      << "bert-base-uncased without its heads, as published";
  const json vit = {
      {"model_type", "vit"},       {"architectures", {"ViTModel"}}, {"hidden_size", 768}, {"num_hidden_layers", 12},
      {"num_attention_heads", 12}, {"intermediate_size", 3072},     {"image_size", 224},  {"patch_size", 16}};
  EXPECT_EQ(build(*parse_config(vit.dump(), "m"), {})->parameters, 86389248)
      << "vit-base-patch16-224-in21k, as published";
}

// Checkpoint sizes as published, for models that are not in the zoo and use other corners of their families.
TEST(HuggingFace, parameters_are_those_of_the_published_checkpoints) {
  struct Published {
    const char* name;
    std::int64_t parameters;
    json config;
  };
  const std::vector<Published> models = {
      {"gpt2", 124439808, gpt2()},
      {"opt-125m, norms before",
       125239296,
       {{"model_type", "opt"},
        {"hidden_size", 768},
        {"num_hidden_layers", 12},
        {"num_attention_heads", 12},
        {"ffn_dim", 3072},
        {"vocab_size", 50272},
        {"max_position_embeddings", 2048}}},
      {"Qwen2.5-0.5B, tied",
       494032768,
       {{"model_type", "qwen2"},
        {"hidden_size", 896},
        {"num_hidden_layers", 24},
        {"num_attention_heads", 14},
        {"num_key_value_heads", 2},
        {"intermediate_size", 4864},
        {"vocab_size", 151936},
        {"tie_word_embeddings", true}}},
      {"gemma-2-2b",
       2614341888,
       {{"model_type", "gemma2"},
        {"hidden_size", 2304},
        {"num_hidden_layers", 26},
        {"num_attention_heads", 8},
        {"num_key_value_heads", 4},
        {"intermediate_size", 9216},
        {"vocab_size", 256000}}},
      {"Phi-3-medium, grouped queries",
       13960238080,
       {{"model_type", "phi3"},
        {"hidden_size", 5120},
        {"num_hidden_layers", 40},
        {"num_attention_heads", 40},
        {"num_key_value_heads", 10},
        {"intermediate_size", 17920},
        {"vocab_size", 32064}}},
      {"pythia-1b",
       1011781632,
       {{"model_type", "gpt_neox"},
        {"hidden_size", 2048},
        {"num_hidden_layers", 16},
        {"num_attention_heads", 8},
        {"intermediate_size", 8192},
        {"vocab_size", 50304}}},
      {"falcon-rw-1b, alibi and biases",
       1311625216,
       {{"model_type", "falcon"},
        {"hidden_size", 2048},
        {"num_hidden_layers", 24},
        {"num_attention_heads", 32},
        {"vocab_size", 50304},
        {"alibi", true},
        {"bias", true},
        {"multi_query", false},
        {"parallel_attn", false}}},
      {"t5-v1_1-large, gated and untied",
       783150080,
       {{"model_type", "t5"},
        {"d_model", 1024},
        {"d_kv", 64},
        {"d_ff", 2816},
        {"num_layers", 24},
        {"num_heads", 16},
        {"vocab_size", 32128},
        {"feed_forward_proj", "gated-gelu"},
        {"tie_word_embeddings", false}}},
      {"vit-base-patch16-224",
       86567656,
       {{"model_type", "vit"},
        {"hidden_size", 768},
        {"num_hidden_layers", 12},
        {"num_attention_heads", 12},
        {"intermediate_size", 3072},
        {"image_size", 224},
        {"patch_size", 16},
        {"num_labels", 1000}}},
      {"bert-base, masked words only",
       109514298,
       {{"model_type", "bert"},
        {"architectures", {"BertForMaskedLM"}},
        {"hidden_size", 768},
        {"num_hidden_layers", 12},
        {"num_attention_heads", 12},
        {"intermediate_size", 3072},
        {"vocab_size", 30522},
        {"max_position_embeddings", 512}}},
  };
  for (const Published& model : models) {
    const auto config = parse_config(model.config.dump(), model.name);
    ASSERT_TRUE(config) << model.name << ": " << to_string(config.error());
    EXPECT_EQ(build(*config, {})->parameters, model.parameters) << model.name;
  }
}

TEST(HuggingFace, windows_start_where_qwen_says) {
  json config = llama();
  config["model_type"] = "qwen2";
  config["architectures"] = {"Qwen2ForCausalLM"};
  config["use_sliding_window"] = true;
  config["sliding_window"] = 1024;
  config["max_window_layers"] = 3;
  const auto graph = build(*parse_config(config.dump(), "m"), {.attention = AttentionKind::kFlash});
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_EQ(graph->layers[1].name, "block.global");
  EXPECT_EQ(graph->repeat(LayerId(1)), 3);
  EXPECT_EQ(graph->repeat(LayerId(2)), 1);
}

TEST(HuggingFace, absent_keys_mean_the_library_default_and_null_means_off) {
  json gemma = llama();
  gemma["model_type"] = "gemma2";
  gemma.erase("architectures");
  const auto defaults = parse_config(gemma.dump(), "m");
  ASSERT_TRUE(defaults) << to_string(defaults.error());
  EXPECT_EQ(defaults->head_dim, 256);
  EXPECT_TRUE(defaults->attention_softcap);
  gemma["attn_logit_softcapping"] = nullptr;
  EXPECT_FALSE(parse_config(gemma.dump(), "m")->attention_softcap);
  json rotary = llama();
  rotary["rope_parameters"] = {{"partial_rotary_factor", 0.5}};
  EXPECT_EQ(parse_config(rotary.dump(), "m")->rotary_fraction, 0.5);
}

TEST(HuggingFace, old_falcon_shares_its_norm_and_its_keys) {
  const auto config = parse_config(json{{"model_type", "falcon"},
                                        {"hidden_size", 4544},
                                        {"n_layer", 32},
                                        {"n_head", 71},
                                        {"vocab_size", 65024},
                                        {"multi_query", true},
                                        {"parallel_attn", true},
                                        {"bias", false}}
                                       .dump(),
                                   "m");
  ASSERT_TRUE(config) << to_string(config.error());
  EXPECT_EQ(config->kv_heads, 1);
  EXPECT_TRUE(config->shared_norm);
  const auto graph = build(*config, {});
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->parameters, 6921720704) << "Falcon-7B as published, tied";
}

}  // namespace
}  // namespace phaze::workload::hf
