// LayerGraph: a model as layers joined by the tensors that flow between them.
//
// Layers that compute the same are stored once and named by many nodes: a model of 96 equal blocks has one block here,
// and costs, schedules and memory are worked out once. Most models are chains; an encoder-decoder is not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/ids.h"
#include "phaze/workload/backward.h"
#include "phaze/workload/op_graph.h"
#include "phaze/workload/tensor_parallel.h"

namespace phaze::workload {

using LayerId = Id<struct LayerTag>;
using NodeId = Id<struct NodeTag>;

struct Layer {
  std::string name;
  OpGraph forward, backward;
  SavedBytes saved;
  std::int64_t parameters = 0;       // owned, per tensor-parallel rank
  std::int64_t tied_parameters = 0;  // read here, owned by another layer, per rank
};

struct LayerNode {
  LayerId layer;
  bool operator==(const LayerNode&) const = default;
};

// A tensor that node `to` reads from node `from`, per tensor-parallel rank and microbatch.
struct LayerEdge {
  NodeId from, to;
  Bytes bytes;
  bool operator==(const LayerEdge&) const = default;
};

struct LayerGraph {
  std::string model;
  std::string family;
  std::int64_t parameters = 0;  // of the whole model, tied ones once
  std::int64_t sequence = 0;    // tokens per sample
  std::int64_t microbatch = 1;
  TensorParallel parallel;
  std::vector<Layer> layers;     // distinct ones, in order of first appearance
  std::vector<LayerNode> nodes;  // topological order
  std::vector<LayerEdge> edges;
  std::vector<std::string> warnings;

  std::int64_t repeat(LayerId id) const;
};

// Whole model, all tensor-parallel ranks together, one microbatch.
struct ModelFlops {
  Flops forward, backward;
};
ModelFlops model_flops(const LayerGraph& graph);

// Forward and backward, what the model needs (op.h): what utilisation counts.
double useful_flops(const LayerGraph& graph);

// What happens to each layer's forward graph on its way into a LayerGraph.
struct LayerOptions {
  TensorParallel parallel;
  bool fuse = false;
};

// Slices, differentiates, measures and (if asked) fuses one layer.
Result<Layer> make_layer(std::string name, const OpGraph& whole_forward, const LayerOptions& options);

// Adds layers, giving equal ones the same id.
class LayerGraphBuilder {
 public:
  LayerGraphBuilder(LayerGraph header, LayerOptions options);

  // A node whose layer computes `forward`; equal layers are recognised whatever their names.
  Result<NodeId> node(const std::string& name, const OpGraph& forward);
  // Another node of the same layer as `like`.
  NodeId repeat(NodeId like);
  void edge(NodeId from, NodeId to, Bytes bytes) { graph_.edges.push_back({from, to, bytes}); }

  Result<LayerGraph> build() &&;

 private:
  LayerGraph graph_;
  LayerOptions options_;
  std::vector<OpGraph> sources_;  // the whole forward graph of each distinct layer
  std::vector<std::uint64_t> hashes_;
};

// Layers valid, edges forward and non-negative, totals below 2^62.
Status validate(const LayerGraph& graph);

}  // namespace phaze::workload
