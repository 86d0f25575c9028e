#include "phaze/exports/megatron.h"

#include <fmt/format.h>

#include <algorithm>

#include "phaze/exports/quote.h"

namespace phaze::exports {
namespace {

using placement::Recompute;
using workload::Head;
using workload::NormKind;
using workload::NormPlacement;
using workload::Positions;
using workload::TransformerConfig;
using workload::VectorOp;

constexpr std::int64_t kUsualNode = 8;

// Arguments in groups, each word quoted for the shell, and what they cannot say.
class Arguments {
 public:
  void group(std::string_view comment) { text_ += fmt::format("  # {}\n", comment); }
  void flag(std::string_view name) { text_ += fmt::format("  {}\n", name); }
  void value(std::string_view name, std::string_view word) {
    text_ += fmt::format("  {} {}\n", name, shell_word(word));
  }
  void value(std::string_view name, std::int64_t number) { value(name, std::to_string(number)); }
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  const std::string& text() const { return text_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string text_;
  std::vector<std::string> notes_;
};

bool masked(Head head) { return head == Head::kMaskedLanguageModel || head == Head::kMaskedAndNextSentence; }

void add_activation(const TransformerConfig& config, Arguments& out) {
  if (config.gated && config.activation == VectorOp::kSilu) return out.flag("--swiglu");
  if (config.gated)
    return out.note("A gated activation other than SwiGLU has no argument: a plain feed-forward with GELU is trained.");
  if (config.activation != VectorOp::kGelu)
    out.note(fmt::format("The activation {} has no argument: GELU is trained.", to_string(config.activation)));
}

void add_positions(const TransformerConfig& config, Arguments& out) {
  switch (config.positions) {
    case Positions::kLearned: return out.value("--position-embedding-type", "learned_absolute");
    case Positions::kRotary:
      out.value("--position-embedding-type", "rope");
      if (config.rotary_fraction < 1) out.value("--rotary-percent", fmt::format("{}", config.rotary_fraction));
      return;
    case Positions::kRelative:
      out.value("--position-embedding-type", "relative");
      if (config.relative_buckets > 0) out.value("--relative-attention-num-buckets", config.relative_buckets);
      return;
    case Positions::kAlibi: out.note("ALiBi has no argument: no positions are trained."); [[fallthrough]];
    case Positions::kNone: return out.value("--position-embedding-type", "none");
  }
}

void add_model(const PlanDocument& plan, const TransformerConfig& config, Arguments& out) {
  out.group("the model");
  out.flag("--use-mcore-models");
  out.value("--num-layers", config.layers);
  out.value("--hidden-size", config.hidden);
  out.value("--ffn-hidden-size", config.feed_forward);
  out.value("--num-attention-heads", config.heads);
  if (config.kv_heads != config.heads) {
    out.flag("--group-query-attention");
    out.value("--num-query-groups", config.kv_heads);
  }
  if (config.head_dim * config.heads != config.hidden) out.value("--kv-channels", config.head_dim);
  out.value("--seq-length", plan.sequence);
  out.value("--max-position-embeddings", std::max(plan.sequence, config.position_rows));
  add_positions(config, out);
  out.value("--normalization", config.norm == NormKind::kRmsNorm ? "RMSNorm" : "LayerNorm");
  add_activation(config, out);
  if (!config.feed_forward_bias && !config.projection_bias) {
    out.flag("--disable-bias-linear");
    if (config.qkv_bias) out.flag("--add-qkv-bias");
  }
  if (!config.tied_embeddings) out.flag("--untie-embeddings-and-output-weights");
  if (!config.dropout.attention) out.value("--attention-dropout", "0.0");
  if (!config.dropout.hidden) out.value("--hidden-dropout", "0.0");
  out.value("--attention-backend", plan.flash_attention ? "flash" : "unfused");
  if (config.head == Head::kMaskedLanguageModel) out.flag("--bert-no-binary-head");

  if (config.norm_placement != NormPlacement::kPre)
    out.note("Norms behind the residual sums have no argument: norms before attention and feed-forward are trained.");
  if (config.parallel_block)
    out.note("Parallel attention and feed-forward have no argument: they are trained one after the other.");
  if (config.window > 0) out.note("The sliding window is left out: attention sees everything.");
  if (config.attention_softcap || config.logit_softcap)
    out.note("Soft caps of scores and logits have no argument and are left out.");
  if (config.embedding_size != config.hidden)
    out.note("Embeddings narrower than the model have no argument: they are trained at full width.");
}

// The embedding stands in the first part, the head in the last, and transformer layers are spread evenly: what Megatron
// does by itself.
bool even(const PlanDocument& plan) {
  const auto parts = plan.parts();
  std::size_t first = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t ends = (i == 0 ? 1U : 0U) + (i + 1 == parts.size() ? 1U : 0U);
    const std::size_t size = parts[i].end - parts[i].begin;
    if (size <= ends) return false;
    if (i == 0) first = size - ends;
    if (size - ends != first) return false;
  }
  return true;
}

void add_parallelism(const PlanDocument& plan, Arguments& out) {
  out.group("parallelism");
  out.value("--tensor-model-parallel-size", plan.tensor_parallel);
  if (plan.sequence_parallel) out.flag("--sequence-parallel");
  out.value("--pipeline-model-parallel-size", plan.pipeline);
  if (plan.pipeline > 1 && !even(plan))
    out.value("--pipeline-model-parallel-layout", megatron_layout(plan));
  else if (plan.interleave > 1)
    out.value("--num-virtual-stages-per-pipeline-rank", plan.interleave);
  if (!plan.data_inside && plan.pipeline > 1 && plan.data_parallel > 1) out.flag("--use-tp-pp-dp-mapping");
  if (plan.data_parallel > 1) {
    if (plan.zero >= 1) out.flag("--use-distributed-optimizer");
    if (plan.zero >= 2) {
      out.flag("--use-megatron-fsdp");
      out.value("--data-parallel-sharding-strategy", plan.zero == 2 ? "optim_grads" : "optim_grads_params");
      out.value("--ckpt-format", "fsdp_dtensor");
      if (plan.pipeline > 1)
        out.note(
            fmt::format("ZeRO {} with a pipeline needs Megatron-FSDP to support both; if your version does not, plan "
                        "with --zero 1.",
                        plan.zero));
    }
    if (plan.overlap_gradients) {
      out.flag("--overlap-grad-reduce");
      if (plan.zero >= 1) out.flag("--overlap-param-gather");
    }
  }
}

void add_recompute(const PlanDocument& plan, Arguments& out) {
  const auto [most, mixed] = common_recompute(plan);
  if (mixed)
    out.note(fmt::format(
        "The plan chooses recompute per stage, Megatron-LM once for all: '{}' is used everywhere, which fits "
        "but is slower than planned.",
        to_string(most)));
  if (most == Recompute::kNone) return;
  out.group("recompute");
  out.value("--recompute-granularity", to_string(most));
  if (most == Recompute::kFull) {
    out.value("--recompute-method", "uniform");
    out.value("--recompute-num-layers", 1);
  }
}

void add_batch(const PlanDocument& plan, Arguments& out) {
  out.group("batch and precision");
  out.value("--micro-batch-size", plan.microbatch);
  const std::int64_t filled = plan.microbatch * plan.data_parallel * plan.microbatches;
  if (filled != plan.global_batch)
    out.note(fmt::format("A global batch of {} does not fill {} microbatches of {} on {} replicas: {} is used.",
                         plan.global_batch, plan.microbatches, plan.microbatch, plan.data_parallel, filled));
  out.value("--global-batch-size", filled);
  out.flag("--bf16");
  out.flag(plan.gradient_bytes < 4 ? "--grad-reduce-in-bf16" : "--accumulate-allreduce-grads-in-fp32");
  out.value("--optimizer", plan.optimizer_bytes > 0 ? "adam" : "sgd");
  if (plan.optimizer_bytes > 0 && plan.optimizer_bytes < 12)
    out.note(
        "The plan keeps 16-bit optimizer states, as in 2024; Megatron-LM keeps 32-bit ones and needs more memory.");
}

// The most devices of a node that the plan's devices can be shared out in, tensor-parallel groups that fit in one
// whole.
std::int64_t processes_per_node(const PlanDocument& plan) {
  std::int64_t size =
      std::min(plan.network.levels.front().size > 0 ? plan.network.levels.front().size : kUsualNode, plan.devices());
  const std::int64_t whole = plan.tensor_parallel <= size ? plan.tensor_parallel : 1;
  while (plan.devices() % size != 0 || size % whole != 0) --size;
  return size;
}

}  // namespace

std::string megatron_layout(const PlanDocument& plan) {
  std::vector<std::string> parts;
  for (const placement::Range& part : plan.parts()) {
    std::size_t begin = part.begin, end = part.end;
    const bool first = begin == 0, last = end == plan.layers.size();
    if (first) ++begin;
    if (last && end > begin) --end;
    parts.push_back(fmt::format("{}{:t<{}}{}", first ? "E" : "", "", end - begin, last ? "L" : ""));
  }
  std::string text;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t next = i;
    while (next + 1 < parts.size() && parts[next] == parts[i]) ++next;
    if (next - i > 1)  // the last part ends without a bar and stays outside
      text += fmt::format("({}|)*{}", parts[i], next - i);
    else
      text += parts[i] + (i + 1 < parts.size() ? "|" : "");
    i = std::max(next, i + 1);
  }
  return text;
}

Result<Exported> megatron_script(const PlanDocument& plan) {
  const Error refusal{fmt::format("Megatron-LM's training scripts do not build '{}'", plan.model), "--format megatron"};
  if (!plan.config)
    return Error{refusal.message, refusal.place, "plans of ONNX files carry no model sizes; plan from a config.json"};
  const TransformerConfig& config = *plan.config;
  if (config.decoder_layers > 0 || config.image_size > 0)
    return Error{refusal.message, refusal.place,
                 "decoders such as gpt3-175b and encoders such as bert-large can be exported"};
  const bool chain = plan.layers.size() == static_cast<std::size_t>(config.layers) + 2 &&
                     plan.layers.front() == "embedding" && plan.layers.back() == "head";
  if (!chain) return Error{refusal.message, refusal.place, "it is not an embedding, equal layers and a head"};
  Arguments out;
  add_model(plan, config, out);
  add_parallelism(plan, out);
  add_recompute(plan, out);
  add_batch(plan, out);

  const std::int64_t node = processes_per_node(plan);
  std::string text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# {} on {} x {}: pipeline {}, tensor {}, data {}. Made by 'phaze export --format megatron' for\n"
      "# Megatron-LM (megatron-core 0.15); run it in its folder, once per node.\n"
      "#\n"
      "# Set MASTER_ADDR, MASTER_PORT and NODE_RANK. Without DATA_ARGS the run uses mock data; learning rate, "
      "iterations,\n"
      "# norm epsilon and rotary base are not part of a plan: add yours behind the script's name, they overrule what "
      "is here.\n",
      one_line(plan.model), plan.devices(), one_line(plan.chip_name), plan.pipeline, plan.tensor_parallel,
      plan.data_parallel);
  for (const std::string& note : out.notes()) text += "# Note: " + note + "\n";
  text += fmt::format(
      "set -euo pipefail\n"
      "export CUDA_DEVICE_MAX_CONNECTIONS=${{CUDA_DEVICE_MAX_CONNECTIONS:-{}}}\n\n"
      "args=(\n{})\n\n"
      "read -r -a data <<< \"${{DATA_ARGS:---mock-data --tokenizer-type NullTokenizer --vocab-size {} --train-iters 20 "
      "--lr 1e-4}}\"\n\n"
      "exec torchrun --nnodes {} --nproc-per-node {} --node-rank \"${{NODE_RANK:-0}}\" \\\n"
      "  --master-addr \"${{MASTER_ADDR:-localhost}}\" --master-port \"${{MASTER_PORT:-29500}}\" \\\n"
      "  {} \"${{args[@]}}\" \"${{data[@]}}\" \"$@\"\n",
      // One connection keeps tensor-parallel kernels in order; Megatron-FSDP refuses to run with one.
      plan.zero >= 2 && plan.data_parallel > 1 ? 32 : 1, out.text(), config.vocabulary, plan.devices() / node, node,
      masked(config.head) ? "pretrain_bert.py" : "pretrain_gpt.py");
  return Exported{std::move(text), out.notes()};
}

}  // namespace phaze::exports
