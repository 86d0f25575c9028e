// TransformerConfig: what all supported families have in common, in one vocabulary.
//
// Importers translate a published configuration into this; the builder (build.h) turns it into a LayerGraph. Every
// field changes the graph; what does not (initialiser ranges, token ids) is not here.
#pragma once

#include <cstdint>
#include <string>

#include "phaze/workload/vector_op.h"

namespace phaze::workload {

enum class NormKind : std::uint8_t { kLayerNorm, kRmsNorm };

// Where the norms of a block stand relative to attention and feed-forward.
enum class NormPlacement : std::uint8_t {
  kPre,       // x + f(norm(x)): GPT-2, Llama
  kPost,      // norm(x + f(x)): BERT, OPT-350M
  kSandwich,  // x + norm(f(norm(x))): Gemma-2
};

enum class Positions : std::uint8_t {
  kNone,
  kLearned,   // a table added to the embeddings
  kRotary,    // queries and keys are rotated
  kRelative,  // a learned bias per head and distance is added to the scores (T5)
  kAlibi,     // a fixed bias per head and distance is added to the scores
};

enum class Head : std::uint8_t {
  kLanguageModel,          // final norm, product with the vocabulary, loss on every token
  kMaskedLanguageModel,    // dense, activation, norm, product with the vocabulary, loss on every token
  kMaskedAndNextSentence,  // the same, and a pooled classifier of sentence pairs (how BERT was trained)
  kClassifier,             // one product on the first token (ViT)
  kPooled,                 // the bare encoder with a dense layer on the first token (BertModel, ViTModel)
  kNone,                   // the bare encoder or decoder
};

struct Dropout {
  bool embedding = false;
  bool attention = false;
  bool hidden = false;        // after attention and feed-forward, before the residual sum
  bool feed_forward = false;  // inside the feed-forward, after the activation (T5)

  bool operator==(const Dropout&) const = default;
};

struct TransformerConfig {
  std::string name, family;

  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t embedding_size = 0;  // where it differs from hidden, projections stand between (OPT-350M)
  std::int64_t position_rows = 0;   // of the learned table; OPT's has two more than positions
  std::int64_t token_types = 0;
  std::int64_t default_sequence = 0;
  std::int64_t max_sequence = 0;  // a hard limit (learned positions); 0: none

  VectorOp activation = VectorOp::kGelu;
  bool gated = false;          // activation(x·gate) ⊙ (x·up)
  bool fused_gate_up = false;  // gate and up in one product (Phi-3)
  bool fused_qkv = false;      // queries, keys and values in one product
  NormKind norm = NormKind::kLayerNorm;
  NormPlacement norm_placement = NormPlacement::kPre;
  bool norm_weights = true;  // off: plain normalisation without parameters
  bool norm_bias = true;
  bool parallel_block = false;  // attention and feed-forward read the same input, one residual sum (NeoX, Falcon)
  bool shared_norm = false;     // and the same norm (Falcon-7B)
  bool joint_dropout = false;   // one dropout on the sum of attention and feed-forward (Falcon)
  bool embedding_norm = false;  // BERT
  bool final_norm = true;
  bool qkv_bias = false, projection_bias = false, feed_forward_bias = false, head_bias = false;
  bool tied_embeddings = false;
  bool scaled_embeddings = false;  // multiplied by √hidden (Gemma)
  bool scaled_scores = true;       // divided by √head_dim (not T5)
  bool attention_softcap = false;  // cap·tanh(scores/cap) (Gemma-2)
  bool logit_softcap = false;
  bool scaled_logits = false;  // T5 with tied embeddings scales the decoder output
  bool causal = false;
  Positions positions = Positions::kNone;
  double rotary_fraction = 1.0;  // of each head's dimensions
  std::int64_t relative_buckets = 0;
  std::int64_t window = 0;                // sliding attention window; 0: none
  bool alternate_windows = false;         // every second layer sees everything (Gemma-2)
  std::int64_t first_windowed_layer = 0;  // layers before it see everything (Qwen2)
  Dropout dropout;
  Head head = Head::kLanguageModel;

  // Encoder-decoder: `layers` encoder blocks, then these decoder blocks with cross-attention.
  std::int64_t decoder_layers = 0;

  // Vision: the sequence is the image's patches and one class token.
  std::int64_t image_size = 0, patch_size = 0, channels = 0, classes = 0;

  bool operator==(const TransformerConfig&) const = default;
};

}  // namespace phaze::workload
