#include "phaze/placement/phaze2024/testing/device_table.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace phaze::placement::phaze2024 {
namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();

struct Chain {
  const Instance& instance;
  const Width& width;
  std::vector<Node> nodes;                 // in order
  std::vector<std::vector<double>> bytes;  // [source][target], below zero without an edge

  Chain(const Instance& given, const Width& at) : instance(given), width(at) {
    std::vector<Edge> edges = width.edges;
    while (nodes.size() < width.nodes.size())
      for (const Node& node : width.nodes) {
        const bool waits = std::ranges::any_of(edges, [&](const Edge& edge) { return edge.target == node.id; });
        if (waits || std::ranges::find(nodes, node.id, &Node::id) != nodes.end()) continue;
        nodes.push_back(node);
        std::erase_if(edges, [&](const Edge& edge) { return edge.source == node.id; });
      }
    bytes.assign(nodes.size(), std::vector<double>(nodes.size(), -1));
    const auto at_id = [&](std::int64_t id) {
      return static_cast<std::size_t>(std::ranges::find(nodes, id, &Node::id) - nodes.begin());
    };
    for (const Edge& edge : width.edges) bytes[at_id(edge.source)][at_id(edge.target)] = edge.bytes;
  }

  std::int64_t devices(std::size_t first, std::size_t last) const {
    for (std::size_t v = first; v <= last; ++v)
      if (nodes[v].tensor_parallel) return width.width;
    return 1;
  }

  // Load as k-th stage from the end; infinite if it does not fit.
  double load(std::size_t first, std::size_t last, std::size_t k) const {
    double parameters = 0, activations = 0, entering = 0, forward = 0, again = 0;
    for (std::size_t v = first; v <= last; ++v) {
      parameters += nodes[v].parameter_bytes;
      activations += nodes[v].activation_bytes;
      for (std::size_t u = 0; u < first; ++u) {
        entering += std::max(0.0, bytes[u][v]);
        forward = std::max(forward, bytes[u][v] / instance.bandwidth);
      }
      forward += nodes[v].forward_seconds;
      again += nodes[v].forward_seconds;
    }
    double backward = instance.recompute && k > 1 ? again : 0;
    for (std::size_t v = last + 1; v-- > first;) {
      for (std::size_t w = last + 1; w < nodes.size(); ++w)
        backward = std::max(backward, bytes[v][w] / instance.bandwidth);
      backward += nodes[v].backward_seconds;
    }
    const double states = (instance.optimizer == Optimizer::kAdam ? 3 : 2) * parameters;
    const double stash = instance.recompute ? entering : activations;
    const bool fits = states + activations + static_cast<double>(k - 1) * stash <= instance.memory_per_device;
    return fits ? forward + backward : kNone;
  }

  std::optional<double> best() const {
    const std::size_t n = nodes.size();
    const auto most = static_cast<std::size_t>(instance.devices);
    // [k][first][devices]: least largest load of nodes first.. in k stages on at most so many devices.
    std::vector table(n + 1, std::vector(n + 1, std::vector<double>(most + 1, kNone)));
    std::fill(table[0][n].begin(), table[0][n].end(), 0);
    std::optional<double> least;
    for (std::size_t k = 1; k <= n; ++k)
      for (std::size_t first = 0; first < n; ++first)
        for (std::size_t last = first; last < n; ++last) {
          const double own = load(first, last, k);
          const auto needs = static_cast<std::size_t>(devices(first, last));
          for (std::size_t d = needs; d <= most; ++d) {
            double& entry = table[k][first][d];
            entry = std::min(entry, std::max(own, table[k - 1][last + 1][d - needs]));
          }
          if (first > 0) continue;
          double parameters = 0;
          for (std::size_t v = 0; v <= last; ++v) parameters += nodes[v].parameter_bytes;
          for (std::int64_t d = 1; d <= std::min(instance.devices, instance.microbatches); ++d) {
            const auto left = static_cast<std::size_t>(instance.devices / d);
            if (left < needs) break;
            const double largest = std::max(own, table[k - 1][last + 1][left - needs]);
            if (largest == kNone) continue;
            const std::int64_t rounds = (instance.microbatches + d - 1) / d;
            const double time =
                largest * (static_cast<double>(rounds) + static_cast<double>(k) - 1) +
                4.0 * static_cast<double>(d - 1) * parameters / instance.bandwidth / static_cast<double>(d);
            least = std::min(time, least.value_or(time));
          }
        }
    return least;
  }
};

}  // namespace

std::optional<double> device_table(const Instance& instance) {
  std::optional<double> least;
  for (const Width& width : instance.widths)
    if (const auto time = Chain(instance, width).best()) least = std::min(*time, least.value_or(*time));
  return least;
}

}  // namespace phaze::placement::phaze2024
