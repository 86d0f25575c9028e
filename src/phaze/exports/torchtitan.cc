#include "phaze/exports/torchtitan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "phaze/exports/quote.h"

namespace phaze::exports {
namespace {

using placement::Recompute;
using workload::TransformerConfig;

// The dense models that torchtitan ships, by their sizes.
struct Flavor {
  std::int64_t layers, hidden, heads, kv_heads, feed_forward;
  std::string_view name, flavor;
};
constexpr std::array<Flavor, 3> kFlavors = {{
    {32, 4096, 32, 8, 14336, "llama3", "8B"},
    {80, 8192, 64, 8, 28672, "llama3", "70B"},
    {126, 16384, 128, 8, 53248, "llama3", "405B"},
}};

const Flavor* flavor_of(const TransformerConfig& config) {
  for (const Flavor& flavor : kFlavors)
    if (config.layers == flavor.layers && config.hidden == flavor.hidden && config.heads == flavor.heads &&
        config.kv_heads == flavor.kv_heads && config.feed_forward == flavor.feed_forward && config.gated)
      return &flavor;
  return nullptr;
}

// The modules of one part under the names of torchtitan's transformer.
std::string modules_of(const PlanDocument& plan, const placement::Range& part) {
  std::string list;
  const auto add = [&](std::string_view name) { list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", name); };
  for (std::size_t node = part.begin; node < part.end; ++node) {
    if (node == 0) {
      add("tok_embeddings");
    } else if (node + 1 == plan.layers.size()) {
      add("norm");
      add("output");
    } else {
      add(fmt::format("layers.{}", node - 1));
    }
  }
  return "[" + list + "]";
}

std::string model_section(const PlanDocument& plan, const TransformerConfig& config, std::vector<std::string>& notes) {
  if (const Flavor* flavor = flavor_of(config))
    return fmt::format("[model]\nname = \"{}\"\nflavor = \"{}\"\n", flavor->name, flavor->flavor);
  notes.push_back(
      fmt::format("torchtitan ships no model of these sizes: register a flavor with dim {}, n_layers {}, n_heads {}, "
                  "n_kv_heads {}, "
                  "vocab_size {} and a feed-forward of {}, and name its model here.",
                  config.hidden, config.layers, config.heads, config.kv_heads, config.vocabulary, config.feed_forward));
  return fmt::format("[model]\nname = \"llama3\"\nflavor = {}\n", quoted_text(plan.model));
}

std::string parallelism_section(const PlanDocument& plan, std::vector<std::string>& notes) {
  const bool sharded = plan.zero >= 1 && plan.data_parallel > 1;
  if (sharded && plan.zero == 1) notes.emplace_back("ZeRO 1 has no setting: gradients are sharded too, as in ZeRO 2.");
  if (plan.tensor_parallel > 1 && !plan.sequence_parallel)
    notes.emplace_back("torchtitan's tensor parallelism is always sequence-parallel; the plan is not.");
  if (!plan.data_inside && plan.pipeline > 1 && plan.data_parallel > 1)
    notes.emplace_back(
        "torchtitan numbers devices tensor, data, pipeline; the plan wants tensor, pipeline, data, so that pipelines "
        "may "
        "stay inside nodes.");
  std::string text = fmt::format(
      "[parallelism]\n"
      "data_parallel_replicate_degree = {}\n"
      "data_parallel_shard_degree = {}\n"
      "fsdp_reshard_after_forward = \"{}\"\n"
      "tensor_parallel_degree = {}\n"
      "context_parallel_degree = 1\n"
      "pipeline_parallel_degree = {}\n",
      sharded ? 1 : plan.data_parallel, sharded ? plan.data_parallel : 1, plan.zero == 3 ? "always" : "never",
      plan.tensor_parallel, plan.pipeline);
  if (plan.pipeline == 1) return text;
  text += fmt::format(
      "pipeline_parallel_schedule = \"{}\"\n"
      "pipeline_parallel_microbatch_size = {}\n"
      "module_fqns_per_model_part = [\n",
      plan.interleave > 1 ? "Interleaved1F1B" : "1F1B", plan.microbatch);
  for (const placement::Range& part : plan.parts()) text += "  " + modules_of(plan, part) + ",\n";
  return text + "]\n";
}

std::string training_section(const PlanDocument& plan, std::vector<std::string>& notes) {
  // A pipeline cuts the local batch into microbatches; without one, steps are accumulated up to the global batch.
  const std::int64_t local = plan.pipeline > 1 ? plan.microbatch * plan.microbatches : plan.microbatch;
  const std::int64_t filled = plan.microbatch * plan.microbatches * plan.data_parallel;
  if (filled != plan.global_batch)
    notes.push_back(fmt::format("A global batch of {} does not fill {} microbatches of {} on {} replicas: {} is used.",
                                plan.global_batch, plan.microbatches, plan.microbatch, plan.data_parallel, filled));
  if (plan.gradient_bytes < 4) notes.emplace_back("torchtitan reduces gradients in float32; the plan has 16-bit ones.");
  return fmt::format(
      "[training]\n"
      "local_batch_size = {}\n"
      "global_batch_size = {}\n"
      "seq_len = {}\n"
      "steps = 100\n"
      "mixed_precision_param = \"bfloat16\"\n"
      "mixed_precision_reduce = \"float32\"\n",
      local, filled, plan.sequence);
}

std::string checkpoint_section(const PlanDocument& plan, std::vector<std::string>& notes) {
  const auto [most, mixed] = common_recompute(plan);
  if (mixed)
    notes.push_back(fmt::format(
        "The plan chooses recompute per stage, torchtitan once for all: '{}' is used everywhere.", to_string(most)));
  if (most == Recompute::kSelective)
    notes.emplace_back(
        "Selective recompute in the plan repeats the attention core; torchtitan's 'op' policy repeats other "
        "operators.");
  std::string text = fmt::format("[activation_checkpoint]\nmode = \"{}\"\n", to_string(most));
  if (most == Recompute::kSelective) text += "selective_ac_option = \"op\"\n";
  return text;
}

}  // namespace

Result<Exported> torchtitan_toml(const PlanDocument& plan) {
  const bool chain = plan.config && plan.config->decoder_layers == 0 && plan.config->image_size == 0 &&
                     plan.layers.size() == static_cast<std::size_t>(plan.config->layers) + 2 &&
                     plan.layers.front() == "embedding" && plan.layers.back() == "head";
  if (!chain)
    return Error{fmt::format("torchtitan's transformer does not build '{}'", plan.model), "--format torchtitan",
                 "decoders such as llama3-70b, planned by name or from a config.json, can be exported"};
  Exported out;
  const std::string body = model_section(plan, *plan.config, out.notes) + "\n" +
                           fmt::format("[optimizer]\nname = \"{}\"\n", plan.optimizer_bytes > 0 ? "AdamW" : "SGD") +
                           "\n" + training_section(plan, out.notes) + "\n" + parallelism_section(plan, out.notes) +
                           "\n" + checkpoint_section(plan, out.notes);
  if (plan.optimizer_bytes == 0) out.notes.emplace_back("torchtitan builds Adam and AdamW only; the plan is for SGD.");
  out.text = fmt::format(
      "# {} on {} x {}: pipeline {}, tensor {}, data {}. Made by 'phaze export --format torchtitan'.\n"
      "# Start with {} processes: torchrun ... -m torchtitan.train --job.config_file FILE\n",
      one_line(plan.model), plan.devices(), one_line(plan.chip_name), plan.pipeline, plan.tensor_parallel,
      plan.data_parallel, plan.devices());
  for (const std::string& note : out.notes) out.text += "# Note: " + note + "\n";
  out.text += "\n[job]\ndescription = " + quoted_text("phaze: " + plan.model + " on " + plan.chip_name) + "\n\n" + body;
  return out;
}

}  // namespace phaze::exports
