// The pieces of a transformer layer, as operators of a whole (not yet sliced) forward graph.
#pragma once

#include <string>

#include "phaze/workload/op_graph.h"
#include "phaze/workload/transformer/build.h"
#include "phaze/workload/transformer/config.h"

namespace phaze::workload {

// Writes operators into one layer's graph. Sizes common to all pieces (tokens, microbatch) are fixed at construction.
class LayerWriter {
 public:
  LayerWriter(const TransformerConfig& config, const WorkloadOptions& options, std::int64_t sequence);

  OpGraphBuilder& graph() { return graph_; }

  TensorId input(std::int64_t elements, TensorRole role = TensorRole::kInput);
  TensorId constant(std::int64_t elements, ElementType type);
  TensorId parameter(std::int64_t elements, bool tied = false);

  // [tokens, inner] · [inner, outer]
  TensorId linear(const std::string& name, TensorId x, std::int64_t inner, std::int64_t outer, bool bias, Split split,
                  bool tied = false);
  TensorId element_wise(const std::string& name, VectorOp op, std::initializer_list<TensorId> inputs, std::int64_t rows,
                        std::int64_t cols, bool core = false);
  TensorId norm(const std::string& name, TensorId x);
  TensorId dropout(const std::string& name, TensorId x, bool active, std::int64_t cols);
  TensorId view(const std::string& name, TensorId x, std::int64_t elements);
  TensorId add(const std::string& name, TensorId a, TensorId b);
  TensorId embed(const std::string& name, std::int64_t rows, std::int64_t width, Split split, std::int64_t look_ups,
                 bool tied = false);

  struct AttentionInputs {
    TensorId x;             // queries, and keys and values unless `context`
    TensorId context = {};  // cross-attention: keys and values come from here
    TensorId bias = {};     // added to the scores
    std::int64_t window = 0;
    bool causal = false;
  };
  TensorId attention(const std::string& prefix, const AttentionInputs& inputs);
  TensorId feed_forward(const std::string& prefix, TensorId x);

  // The learned bias of relative positions, [heads, s, s].
  TensorId relative_bias(const std::string& prefix);

  OpGraph finish(TensorId output);
  OpGraph finish() { return std::move(graph_).build(); }

 private:
  struct Projections {
    TensorId queries, keys, values;
  };
  Projections project(const std::string& prefix, const AttentionInputs& inputs);
  TensorId rotate(const std::string& name, TensorId x, std::int64_t heads);
  TensorId eager_core(const std::string& prefix, const Projections& qkv, const AttentionInputs& inputs);
  TensorId flash_core(const std::string& prefix, const Projections& qkv, const AttentionInputs& inputs);

  const TransformerConfig& config_;
  const WorkloadOptions& options_;
  std::int64_t sequence_;
  std::int64_t tokens_;
  OpGraphBuilder graph_;
};

}  // namespace phaze::workload
