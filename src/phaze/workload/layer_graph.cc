#include "phaze/workload/layer_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "phaze/workload/fusion.h"

namespace phaze::workload {

std::int64_t LayerGraph::repeat(LayerId id) const { return std::ranges::count(nodes, LayerNode{id}); }

ModelFlops model_flops(const LayerGraph& graph) {
  ModelFlops sum;
  for (std::size_t i = 0; i < graph.layers.size(); ++i) {
    const std::int64_t times = saturating_multiply(graph.repeat(LayerId(i)), graph.parallel.width);
    sum.forward += totals(graph.layers[i].forward).gemm_flops * times;
    sum.backward += totals(graph.layers[i].backward).gemm_flops * times;
  }
  return sum;
}

double useful_flops(const LayerGraph& graph) {
  double sum = 0;
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    for (const OpGraph* pass : {&graph.layers[i].forward, &graph.layers[i].backward})
      for (const Op& op : pass->ops())
        sum += useful_flops(op.work) * static_cast<double>(graph.repeat(LayerId(i)) * graph.parallel.width);
  return sum;
}

Result<Layer> make_layer(std::string name, const OpGraph& whole_forward, const LayerOptions& options) {
  if (auto status = validate(whole_forward); !status) return within("layer '" + name + "'", status.error());
  auto forward = slice(whole_forward, options.parallel);
  if (!forward) return within("layer '" + name + "'", forward.error());
  BackwardPass backward = derive_backward(*forward);
  Layer layer{.name = std::move(name)};
  layer.saved = saved_bytes(*forward, backward, whole_forward);
  for (const Tensor& tensor : forward->tensors()) {
    if (tensor.role != TensorRole::kParameter || tensor.producer.valid()) continue;
    std::int64_t& count = tensor.tied ? layer.tied_parameters : layer.parameters;
    count = saturating_add(count, tensor.elements);
  }
  layer.forward = options.fuse ? fuse(*forward, backward.saved) : std::move(*forward);
  layer.backward = options.fuse ? fuse(backward.graph) : std::move(backward.graph);
  return layer;
}

LayerGraphBuilder::LayerGraphBuilder(LayerGraph header, LayerOptions options)
    : graph_(std::move(header)), options_(options) {
  graph_.parallel = options_.parallel;
}

Result<NodeId> LayerGraphBuilder::node(const std::string& name, const OpGraph& forward) {
  const std::uint64_t hash = forward.structure_hash();
  std::size_t found = 0;
  while (found < hashes_.size() && (hashes_[found] != hash || !sources_[found].same_structure(forward))) ++found;
  if (found == hashes_.size()) {
    auto layer = make_layer(name, forward, options_);
    if (!layer) return layer.error();
    graph_.layers.push_back(std::move(*layer));
    sources_.push_back(forward);
    hashes_.push_back(hash);
  }
  graph_.nodes.push_back({LayerId(found)});
  return NodeId(graph_.nodes.size() - 1);
}

NodeId LayerGraphBuilder::repeat(NodeId like) {
  graph_.nodes.push_back(graph_.nodes[like.index()]);
  return NodeId(graph_.nodes.size() - 1);
}

Result<LayerGraph> LayerGraphBuilder::build() && {
  if (auto status = validate(graph_); !status) return status.error();
  return std::move(graph_);
}

Status validate(const LayerGraph& graph) {
  if (graph.nodes.empty()) return Error{"the model has no layers"};
  for (const Layer& layer : graph.layers) {
    const std::string where = "layer '" + layer.name + "'";
    if (auto status = validate(layer.forward); !status) return within(where + ", forward", status.error());
    if (auto status = validate(layer.backward); !status) return within(where + ", backward", status.error());
    if (layer.saved.none.saturated() || layer.parameters >= kSaturated)
      return Error{"needs more than 2^62 bytes or parameters", where};
  }
  for (const LayerNode& node : graph.nodes)
    if (node.layer.index() >= graph.layers.size()) return Error{"a node names a layer that does not exist"};
  for (const LayerEdge& edge : graph.edges) {
    if (edge.to.index() >= graph.nodes.size() || edge.from >= edge.to)
      return Error{
          fmt::format("the edge from node {} to node {} does not go forward", edge.from.index(), edge.to.index())};
    if (edge.bytes < Bytes(0)) return Error{"an edge carries a negative number of bytes"};
  }
  const ModelFlops flops = model_flops(graph);
  if (flops.forward.saturated() || flops.backward.saturated())
    return Error{"the model needs more than 2^62 operations", "", "lower --microbatch or --seq"};
  return Done{};
}

}  // namespace phaze::workload
