// The layers of one width in topological order, as the solvers want them: dense arrays by position.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

// The ids in topological order; among nodes that could come next, the one with the smallest id.
std::vector<std::int64_t> topological_order(const Instance& instance);

struct Arc {
  std::uint32_t node = 0;  // position of the node at the far end
  double bytes = 0;
  double seconds = 0;  // of the transfer, if it crosses stages
};

struct Graph {
  std::int64_t width = 1;
  std::vector<double> parameters, activations, forward, backward;
  std::vector<bool> split;                        // tensor-parallel
  std::vector<std::vector<Arc>> inputs, outputs;  // sorted by position

  std::size_t size() const { return forward.size(); }
  // Each node has an edge from the one before it, so that the topological order is the only one. Other edges skip.
  bool is_chain() const;
};

Graph make_graph(const Instance& instance, const Width& width, const std::vector<std::int64_t>& order);

}  // namespace phaze::placement::phaze2024
