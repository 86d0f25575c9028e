#include "phaze/placement/phaze2024/graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "phaze/base/check.h"

namespace phaze::placement::phaze2024 {
namespace {

// From ids to dense numbers.
class Positions {
 public:
  template <typename Range, typename Projection>
  Positions(const Range& items, Projection id) {
    sorted_.reserve(items.size());
    for (const auto& item : items) sorted_.emplace_back(std::invoke(id, item), sorted_.size());
    std::ranges::sort(sorted_);
  }
  std::uint32_t operator[](std::int64_t id) const {
    const auto found = std::ranges::lower_bound(sorted_, id, {}, &std::pair<std::int64_t, std::uint32_t>::first);
    check(found != sorted_.end() && found->first == id, "edges join known nodes");
    return found->second;
  }

 private:
  std::vector<std::pair<std::int64_t, std::uint32_t>> sorted_;
};

}  // namespace

std::vector<std::int64_t> topological_order(const Instance& instance) {
  const Width& width = instance.widths.front();
  const Positions index(width.nodes, &Node::id);
  std::vector<std::vector<std::uint32_t>> targets(width.nodes.size());
  std::vector<std::size_t> waits_for(width.nodes.size(), 0);
  for (const Edge& edge : width.edges) {
    targets[index[edge.source]].push_back(index[edge.target]);
    ++waits_for[index[edge.target]];
  }
  using Ready = std::pair<std::int64_t, std::size_t>;  // id, index
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::size_t i = 0; i < waits_for.size(); ++i)
    if (waits_for[i] == 0) ready.emplace(width.nodes[i].id, i);
  std::vector<std::int64_t> order;
  order.reserve(waits_for.size());
  while (!ready.empty()) {
    const auto [id, node] = ready.top();
    ready.pop();
    order.push_back(id);
    for (const std::uint32_t target : targets[node])
      if (--waits_for[target] == 0) ready.emplace(width.nodes[target].id, target);
  }
  check(order.size() == width.nodes.size(), "a validated instance has no cycle");
  return order;
}

bool Graph::is_chain() const {
  for (std::size_t v = 1; v < size(); ++v)
    if (inputs[v].empty() || inputs[v].back().node != v - 1) return false;
  return true;
}

Graph make_graph(const Instance& instance, const Width& width, const std::vector<std::int64_t>& order) {
  const std::size_t size = order.size();
  const Positions position(order, std::identity{});
  Graph graph{.width = width.width};
  for (std::vector<double>* values : {&graph.parameters, &graph.activations, &graph.forward, &graph.backward})
    values->resize(size);
  graph.split.resize(size);
  graph.inputs.resize(size);
  graph.outputs.resize(size);
  for (const Node& node : width.nodes) {
    const std::uint32_t at = position[node.id];
    graph.parameters[at] = node.parameter_bytes;
    graph.activations[at] = node.activation_bytes;
    graph.forward[at] = node.forward_seconds;
    graph.backward[at] = node.backward_seconds;
    graph.split[at] = node.tensor_parallel;
  }
  for (const Edge& edge : width.edges) {
    const std::uint32_t source = position[edge.source];
    const std::uint32_t target = position[edge.target];
    const double seconds = edge.bytes / instance.bandwidth;
    graph.inputs[target].push_back({source, edge.bytes, seconds});
    graph.outputs[source].push_back({target, edge.bytes, seconds});
  }
  for (auto* arcs : {&graph.inputs, &graph.outputs})
    for (auto& list : *arcs) std::ranges::sort(list, {}, &Arc::node);
  return graph;
}

}  // namespace phaze::placement::phaze2024
