#include "phaze/workload/transformer/build.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "phaze/workload/zoo/zoo.h"

namespace phaze::workload {
namespace {

TransformerConfig zoo(std::string_view name) {
  auto entry = zoo_entry(name);
  check(static_cast<bool>(entry), "a zoo entry of that name");
  return std::move(entry->config);
}

const Layer& layer(const LayerGraph& graph, std::string_view name) {
  const auto found = std::ranges::find(graph.layers, name, &Layer::name);
  check(found != graph.layers.end(), "a layer of that name");
  return *found;
}

std::int64_t count_ops(const OpGraph& graph, VectorOp op) {
  return std::ranges::count_if(graph.ops(), [&](const Op& o) {
    const auto* vector = std::get_if<VectorWork>(&o.work);
    return vector != nullptr && vector->op == op && !vector->backward;
  });
}

std::int64_t count_collectives(const OpGraph& graph, CollectiveKind kind) {
  return std::ranges::count_if(graph.ops(), [&](const Op& o) {
    const auto* collective = std::get_if<Collective>(&o.work);
    return collective != nullptr && collective->kind == kind;
  });
}

TEST(Zoo, every_entry_has_its_published_number_of_parameters) {
  const auto names = zoo_names();
  ASSERT_EQ(names.size(), 29U);
  for (const std::string& name : names) {
    const auto entry = zoo_entry(name);
    ASSERT_TRUE(entry) << name;
    const auto graph = build(entry->config, {});
    ASSERT_TRUE(graph) << name << ": " << to_string(graph.error());
    const double ratio = static_cast<double>(graph->parameters) / static_cast<double>(entry->published_parameters);
    EXPECT_NEAR(ratio, 1.0, 0.001) << name;
    EXPECT_FALSE(entry->source.empty()) << name;
  }
}

// Korthikanti et al. 2022, equations 1 to 6: the whole family of published formulas, exactly.
TEST(Build, gpt_layers_follow_the_published_formulas_exactly) {
  for (const char* name : {"gpt2-xl", "megatron-gpt2-2.5b", "megatron-gpt2-8.3b", "gpt3-175b", "megatron-22b",
                           "megatron-530b", "megatron-1t"}) {
    const TransformerConfig config = zoo(name);
    const std::int64_t h = config.hidden, a = config.heads, s = config.default_sequence;
    for (const std::int64_t b : {1, 2, 4})
      for (const std::int64_t t : {1, 2, 4, 8})
        for (const bool sequence : {false, true}) {
          if (a % t != 0) continue;
          const auto graph = build(config, {.microbatch = b, .parallel = {t, sequence}});
          ASSERT_TRUE(graph) << to_string(graph.error());
          const Layer& block = layer(*graph, "block");
          if (t == 1) {
            EXPECT_EQ(block.parameters, 12 * h * h + 13 * h) << name;
          }
          const std::int64_t sbh = s * b * h;
          const std::int64_t core = 5 * a * s * s * b / t;
          const std::int64_t rest = sequence ? 34 * sbh / t : 10 * sbh + 24 * sbh / t;
          EXPECT_EQ(block.saved.none.value(), rest + core)
              << name << " b " << b << " t " << t << " sequence " << sequence;
          EXPECT_EQ(block.saved.selective.value(), rest)
              << name << " b " << b << " t " << t << " sequence " << sequence;
          EXPECT_EQ(block.saved.full.value(), 2 * sbh) << name;
        }
  }
}

TEST(Build, gpt_matrix_work_follows_the_published_formula) {
  // Narayanan et al. 2021, appendix: 24·B·s·h²·(1 + s/(6h)) per layer forward, 6·B·s·h·V for the head in all.
  const TransformerConfig config = zoo("gpt3-175b");
  const auto graph = build(config, {.microbatch = 2});
  ASSERT_TRUE(graph);
  const std::int64_t h = config.hidden, s = 2048, b = 2;
  const GraphTotals forward = totals(layer(*graph, "block").forward);
  EXPECT_EQ(forward.gemm_flops.value(), 24 * b * s * h * h + 4 * b * s * s * h);
  const ModelFlops flops = model_flops(*graph);
  EXPECT_EQ(flops.forward.value(), 96 * forward.gemm_flops.value() + 2 * b * s * h * config.vocabulary);
  EXPECT_EQ(flops.backward.value(), 2 * flops.forward.value());
}

// Everything that holds for every model under every option.
TEST(Build, all_models_are_valid_under_all_options) {
  for (const std::string& name : zoo_names()) {
    const TransformerConfig config = zoo(name);
    const auto plain = build(config, {.attention = AttentionKind::kEager});
    ASSERT_TRUE(plain) << name;
    for (const std::int64_t width : {1, 2, 4, 8})
      for (const bool sequence : {false, true})
        for (const bool fuse : {false, true})
          for (const AttentionKind attention : {AttentionKind::kEager, AttentionKind::kFlash}) {
            const auto graph = build(config, {.parallel = {width, sequence}, .attention = attention, .fuse = fuse});
            if (config.heads % width != 0 || config.kv_heads % width != 0 ||
                (sequence && config.default_sequence % width != 0)) {
              EXPECT_FALSE(graph) << name << " width " << width;
              continue;
            }
            ASSERT_TRUE(graph) << name << " width " << width << ": " << to_string(graph.error());
            EXPECT_EQ(graph->parameters, plain->parameters) << name;
            EXPECT_EQ(graph->nodes.size(), plain->nodes.size());
            const double ratio = static_cast<double>(model_flops(*graph).forward.value()) /
                                 static_cast<double>(model_flops(*plain).forward.value());
            // Weights that are not divided (patches, pooler) are computed by every rank, and vocabularies are rounded
            // up.
            EXPECT_NEAR(ratio, 1.0, 0.05) << name << " width " << width;
            for (const Layer& l : graph->layers) {
              EXPECT_LE(l.saved.selective, l.saved.none) << name << " " << l.name;
              EXPECT_EQ(totals(l.forward).collective_bytes.value() > 0 && width == 1, false);
            }
          }
  }
}

TEST(Build, tensor_parallelism_reduces_twice_forward_and_twice_backward_per_block) {
  const auto graph = build(zoo("gpt3-175b"), {.parallel = {8, false}});
  ASSERT_TRUE(graph);
  const Layer& block = layer(*graph, "block");
  EXPECT_EQ(count_collectives(block.forward, CollectiveKind::kAllReduce), 2);
  EXPECT_EQ(count_collectives(block.backward, CollectiveKind::kAllReduce), 2);
  EXPECT_EQ(totals(block.forward).collective_bytes.value(), 2 * 2 * 2048 * 12288);
  EXPECT_EQ(totals(block.backward).collective_bytes.value(), 2 * 2 * 2048 * 12288);
}

TEST(Build, sequence_parallelism_gathers_and_scatters_and_gathers_again_in_backward) {
  const auto graph = build(zoo("gpt3-175b"), {.parallel = {8, true}});
  ASSERT_TRUE(graph);
  const Layer& block = layer(*graph, "block");
  EXPECT_EQ(count_collectives(block.forward, CollectiveKind::kAllGather), 2);
  EXPECT_EQ(count_collectives(block.forward, CollectiveKind::kReduceScatter), 2);
  EXPECT_EQ(count_collectives(block.forward, CollectiveKind::kAllReduce), 0);
  // Two adjoints of the scatters, and the two products' inputs gathered again for their weights' gradients.
  EXPECT_EQ(count_collectives(block.backward, CollectiveKind::kAllGather), 4);
  EXPECT_EQ(count_collectives(block.backward, CollectiveKind::kReduceScatter), 2);
}

TEST(Build, parameters_per_rank_are_the_published_share) {
  const std::int64_t h = 12288, t = 8;
  const auto graph = build(zoo("gpt3-175b"), {.parallel = {t, false}});
  ASSERT_TRUE(graph);
  // Norms (4h) and the biases of row-split products (2h) are whole; 12h² weights and 7h biases are divided.
  EXPECT_EQ(layer(*graph, "block").parameters, 12 * h * h / t + 7 * h / t + 6 * h);
}

TEST(Build, dropout_stands_only_where_the_model_trains_with_it) {
  const auto gpt = build(zoo("gpt2-xl"), {});
  const auto llama = build(zoo("llama2-7b"), {});
  const auto opt = build(zoo("opt-350m"), {});
  EXPECT_EQ(count_ops(layer(*gpt, "block").forward, VectorOp::kDropout), 3);
  EXPECT_EQ(count_ops(layer(*llama, "block").forward, VectorOp::kDropout), 0);
  EXPECT_EQ(count_ops(layer(*opt, "block").forward, VectorOp::kDropout), 3);
}

TEST(Build, families_differ_as_they_do_in_reality) {
  const auto ops = [](const char* name, const char* block, VectorOp op) {
    const auto graph = build(zoo(name), {});
    return count_ops(layer(*graph, block).forward, op);
  };
  EXPECT_EQ(ops("llama2-7b", "block", VectorOp::kRotary), 2);
  EXPECT_EQ(ops("llama2-7b", "block", VectorOp::kRmsNorm), 2);
  EXPECT_EQ(ops("llama2-7b", "block", VectorOp::kMul), 1) << "gated feed-forward";
  EXPECT_EQ(ops("gemma2-9b", "block.local", VectorOp::kRmsNorm), 4) << "norms before and after";
  EXPECT_EQ(ops("gemma2-9b", "block.local", VectorOp::kTanh), 1) << "capped scores";
  EXPECT_EQ(ops("falcon-40b", "block", VectorOp::kLayerNorm), 2);
  EXPECT_EQ(ops("gpt-neox-20b", "block", VectorOp::kAdd), 2) << "attention and feed-forward join, then one residual";
  EXPECT_EQ(ops("vit-large", "block", VectorOp::kMask), 0);
  EXPECT_EQ(ops("bert-large", "block", VectorOp::kMask), 1);
  EXPECT_EQ(ops("t5-large", "encoder.first", VectorOp::kEmbedding), 1) << "owns the relative positions";
  EXPECT_EQ(ops("t5-large", "encoder.block", VectorOp::kEmbedding), 0);
  EXPECT_EQ(ops("t5-large", "decoder.block", VectorOp::kSoftmax), 2) << "self and cross attention";
}

TEST(Build, parallel_blocks_are_shorter_than_sequential_ones) {
  // Longest chain of products: parallel attention and feed-forward overlap.
  const auto depth = [](const OpGraph& graph) {
    std::vector<std::int64_t> longest(graph.size());
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (const OpId before : graph.predecessors(OpId(i))) longest[i] = std::max(longest[i], longest[before.index()]);
      longest[i] += std::holds_alternative<Gemm>(graph.op(OpId(i)).work) ? 1 : 0;
    }
    return *std::ranges::max_element(longest);
  };
  EXPECT_EQ(depth(layer(*build(zoo("gpt-neox-20b"), {}), "block").forward), 4);
  EXPECT_EQ(depth(layer(*build(zoo("gpt3-175b"), {}), "block").forward), 6);
}

TEST(Build, flash_keeps_no_scores_and_computes_them_again) {
  const TransformerConfig config = zoo("bert-large");
  const auto eager = build(config, {});
  const auto flash = build(config, {.attention = AttentionKind::kFlash});
  const std::int64_t sbh = 512 * 1024;
  // 34·s·b·h and the row sums; measured on a GPU: 17,867,776 bytes with the norms' statistics (reference data).
  EXPECT_EQ(layer(*flash, "block").saved.none.value(), 34 * sbh + 4 * 16 * 512);
  EXPECT_EQ(totals(layer(*flash, "block").forward).gemm_flops, totals(layer(*eager, "block").forward).gemm_flops);
  EXPECT_GT(totals(layer(*flash, "block").backward).gemm_flops, totals(layer(*eager, "block").backward).gemm_flops);
}

TEST(Build, grouped_queries_have_the_work_of_all_heads_and_the_memory_of_few) {
  const auto graph = build(zoo("llama3-70b"), {});
  const Layer& block = layer(*graph, "block");
  const std::int64_t s = 8192, h = 8192, kv = 1024, f = 28672;
  EXPECT_EQ(totals(block.forward).gemm_flops.value(), 2 * s * h * (2 * h + 2 * kv + 3 * f) + 4 * s * s * h);
  EXPECT_EQ(block.parameters, h * (2 * h + 2 * kv + 3 * f) + 2 * h);
}

TEST(Build, sliding_windows_reach_the_fused_attention_only) {
  const auto flash = build(zoo("gemma2-9b"), {.attention = AttentionKind::kFlash});
  ASSERT_TRUE(flash);
  ASSERT_EQ(flash->layers.size(), 4U);
  EXPECT_EQ(flash->repeat(LayerId(1)), 21);
  EXPECT_EQ(flash->repeat(LayerId(2)), 21);
  const auto eager = build(zoo("gemma2-9b"), {});
  EXPECT_EQ(eager->layers.size(), 3U) << "with scores written out, local and global layers do the same work";
  EXPECT_EQ(eager->repeat(LayerId(1)), 42);
}

TEST(Build, an_encoder_decoder_is_no_chain) {
  const auto graph = build(zoo("t5-large"), {});
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->nodes.size(), 52U);
  std::vector<int> inputs(graph->nodes.size());
  for (const LayerEdge& edge : graph->edges) ++inputs[edge.to.index()];
  EXPECT_EQ(inputs[0], 0);
  EXPECT_EQ(inputs[26], 0) << "the decoder's embedding starts afresh";
  EXPECT_EQ(inputs[27], 2) << "the decoder's first block reads its embedding and the encoder's output";
  EXPECT_EQ(inputs[28], 3) << "later ones read the shared relative positions too";
}

TEST(Build, what_many_layers_read_is_kept_once_by_its_maker) {
  const auto graph = build(zoo("t5-large"), {});
  const std::int64_t activation = 512 * 1024 * 2, mask = 512 * 1024, bias = std::int64_t{16} * 512 * 512 * 2;
  EXPECT_EQ(layer(*graph, "encoder.norm").saved.none.value(), 2 * activation + mask)
      << "its input, its dropout mask and its output";
  EXPECT_EQ(layer(*graph, "encoder.norm").saved.full.value(), 2 * activation);
  EXPECT_EQ(layer(*graph, "encoder.first").saved.full.value(), activation + bias);
  EXPECT_EQ(layer(*graph, "encoder.block").saved.full.value(), activation);
}

TEST(Build, tied_embeddings_are_counted_once) {
  const auto graph = build(zoo("gpt2-xl"), {});
  EXPECT_EQ(layer(*graph, "head").tied_parameters, 50257 * 1600);
  EXPECT_EQ(layer(*graph, "head").parameters, 2 * 1600);
  const auto untied = build(zoo("llama2-7b"), {});
  EXPECT_EQ(layer(*untied, "head").tied_parameters, 0);
}

TEST(Build, the_sum_over_layers_is_the_model) {
  for (const std::string& name : zoo_names()) {
    const auto graph = build(zoo(name), {});
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < graph->layers.size(); ++i)
      sum += graph->layers[i].parameters * graph->repeat(LayerId(i));
    EXPECT_EQ(sum, graph->parameters) << name;
  }
}

TEST(Build, work_grows_in_proportion_to_the_microbatch) {
  for (const std::string& name : zoo_names()) {
    const auto one = build(zoo(name), {.microbatch = 1});
    const auto three = build(zoo(name), {.microbatch = 3});
    EXPECT_EQ(model_flops(*one).forward.value() * 3, model_flops(*three).forward.value()) << name;
    EXPECT_EQ(model_flops(*one).backward.value() * 3, model_flops(*three).backward.value()) << name;
  }
}

TEST(Build, selective_recompute_runs_the_attention_core_again) {
  const auto graph = build(zoo("gpt2-xl"), {});
  const OpGraph again = recomputed(layer(*graph, "block").forward, Recompute::kSelective);
  const std::int64_t s = 1024, h = 1600;
  EXPECT_EQ(totals(again).gemm_flops.value(), 4 * s * s * h);
  EXPECT_EQ(totals(again).ops, 6) << "scores, scale, mask, softmax, dropout, context";
}

TEST(Build, refuses_what_does_not_fit) {
  const auto message = [](const char* name, WorkloadOptions options) {
    const auto graph = build(zoo(name), options);
    return graph ? std::string("accepted") : to_string(graph.error());
  };
  EXPECT_EQ(
      message("gpt2-xl", {.parallel = {8, false}}),
      "--tensor-parallel: width 8 does not divide the 25 attention heads of 'gpt2-xl' (widths that do: 1, 5, 25)");
  EXPECT_EQ(
      message("llama3-70b", {.parallel = {16, false}}),
      "--tensor-parallel: width 16 does not divide the 8 key-value heads of 'llama3-70b' (widths that do: 1, 2, 4, 8)");
  EXPECT_EQ(message("gpt2-xl", {.sequence = 2048}),
            "--seq: 2048 tokens are more than the 1024 positions that 'gpt2-xl' has learned (use at most 1024)");
  EXPECT_EQ(message("vit-large", {.sequence = 512}),
            "--seq: the sequence of 'vit-large' is its 197 patches and class token, not 512 (leave --seq out)");
  EXPECT_EQ(message("llama2-7b", {.sequence = 1001, .parallel = {2, true}}),
            "--sequence-parallel: width 2 does not divide the 1001 tokens of the sequence (choose a --seq that it "
            "divides, or leave "
            "--sequence-parallel out)");
  EXPECT_EQ(message("llama2-7b", {.sequence = 1 << 27}),
            "--seq: a sequence of 134217728 tokens is not between 1 and 67108864");
  EXPECT_NE(message("llama3-405b", {.sequence = 1 << 26, .microbatch = 1 << 20}).find("more than 2^62"),
            std::string::npos);
}

}  // namespace
}  // namespace phaze::workload
