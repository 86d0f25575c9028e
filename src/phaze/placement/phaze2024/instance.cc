#include "phaze/placement/phaze2024/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "phaze/base/amount.h"

namespace phaze::placement::phaze2024 {
namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

Error not_a_size(std::string place, double value) {
  return {fmt::format("{} is not {}", value, kAmounts), std::move(place), "sizes are bytes, latencies seconds"};
}

// Bytes per second.
constexpr double kSmallestBandwidth = 1e-9;

Status check_count(const char* key, std::int64_t value) {
  if (value >= 1 && value <= kLargestCount) return Done{};
  return Error{fmt::format("{} is not between 1 and {}", value, kLargestCount), key};
}

Status check_nodes(const Width& width) {
  if (width.nodes.empty())
    return Error{"there are no layers", fmt::format("nodes.{}", width.width), "give at least one node"};
  std::map<std::int64_t, std::size_t> seen;
  for (std::size_t i = 0; i < width.nodes.size(); ++i) {
    const Node& node = width.nodes[i];
    const std::string place = fmt::format("nodes.{}[{}]", width.width, i);
    const std::pair<const char*, double> sizes[] = {{"parameterSize", node.parameter_bytes},
                                                    {"activationSize", node.activation_bytes},
                                                    {"optimalLatencyFw", node.forward_seconds},
                                                    {"optimalLatencyBw", node.backward_seconds}};
    for (const auto& [key, value] : sizes)
      if (!is_amount(value)) return not_a_size(place + "." + key, value);
    const auto [first, added] = seen.emplace(node.id, i);
    if (!added)
      return Error{fmt::format("id {} is already that of nodes.{}[{}]", node.id, width.width, first->second),
                   place + ".id", "ids are unique within a width"};
  }
  return Done{};
}

Status check_edges(const Width& width) {
  std::set<std::int64_t> ids;
  for (const Node& node : width.nodes) ids.insert(node.id);
  std::map<Pair, std::size_t> seen;
  for (std::size_t i = 0; i < width.edges.size(); ++i) {
    const Edge& edge = width.edges[i];
    const std::string place = fmt::format("edges.{}[{}]", width.width, i);
    for (const auto& [key, id] : {std::pair{"sourceId", edge.source}, std::pair{"destId", edge.target}})
      if (!ids.contains(id))
        return Error{fmt::format("there is no node with id {}", id), place + "." + key,
                     fmt::format("ids are those of nodes.{}", width.width)};
    if (edge.source == edge.target)
      return Error{fmt::format("joins node {} with itself", edge.source), place, "remove it"};
    if (!is_amount(edge.bytes)) return not_a_size(place + ".communicationCost", edge.bytes);
    const auto [first, added] = seen.emplace(Pair{edge.source, edge.target}, i);
    if (!added)
      return Error{
          fmt::format("{} -> {} is already edges.{}[{}]", edge.source, edge.target, width.width, first->second), place,
          "merge the two and add their bytes"};
  }
  return Done{};
}

// The same ids and the same edges at every width.
Status check_agreement(const Width& first, const Width& other) {
  std::set<std::int64_t> ids, other_ids;
  for (const Node& node : first.nodes) ids.insert(node.id);
  for (const Node& node : other.nodes) other_ids.insert(node.id);
  const auto nodes_differ = [](std::int64_t id, std::int64_t in, std::int64_t missing) {
    return Error{fmt::format("node {} of width {} is missing", id, in), fmt::format("nodes.{}", missing),
                 "all widths describe the same layers"};
  };
  for (const std::int64_t id : ids)
    if (!other_ids.contains(id)) return nodes_differ(id, first.width, other.width);
  for (const std::int64_t id : other_ids)
    if (!ids.contains(id)) return nodes_differ(id, other.width, first.width);
  std::set<Pair> edges, other_edges;
  for (const Edge& edge : first.edges) edges.emplace(edge.source, edge.target);
  for (const Edge& edge : other.edges) other_edges.emplace(edge.source, edge.target);
  const auto edges_differ = [](const Pair& edge, std::int64_t in, std::int64_t missing) {
    return Error{fmt::format("edge {} -> {} of width {} is missing", edge.first, edge.second, in),
                 fmt::format("edges.{}", missing), "all widths describe the same graph"};
  };
  for (const Pair& edge : edges)
    if (!other_edges.contains(edge)) return edges_differ(edge, first.width, other.width);
  for (const Pair& edge : other_edges)
    if (!edges.contains(edge)) return edges_differ(edge, other.width, first.width);
  return Done{};
}

// Follows edges backwards from a node that no topological order reaches, until one repeats.
Status check_acyclic(const Width& width) {
  std::map<std::int64_t, std::vector<std::int64_t>> targets;
  std::map<std::int64_t, std::size_t> waits_for;
  for (const Node& node : width.nodes) waits_for[node.id] = 0;
  for (const Edge& edge : width.edges) {
    targets[edge.source].push_back(edge.target);
    ++waits_for[edge.target];
  }
  std::vector<std::int64_t> ready;
  for (const auto& [id, count] : waits_for)
    if (count == 0) ready.push_back(id);
  std::set<std::int64_t> left;
  for (const Node& node : width.nodes) left.insert(node.id);
  while (!ready.empty()) {
    const std::int64_t id = ready.back();
    ready.pop_back();
    left.erase(id);
    for (const std::int64_t target : targets[id])
      if (--waits_for[target] == 0) ready.push_back(target);
  }
  if (left.empty()) return Done{};
  std::map<std::int64_t, std::int64_t> before;  // of each node that is left, one that is left too
  for (const Edge& edge : width.edges)
    if (left.contains(edge.source) && left.contains(edge.target)) before[edge.target] = edge.source;
  std::int64_t id = *left.begin();
  for (std::size_t i = 0; i < left.size(); ++i) id = before[id];
  std::vector<std::int64_t> cycle = {id};
  for (std::int64_t other = before[id]; other != id; other = before[other]) cycle.push_back(other);
  cycle.push_back(id);
  std::ranges::reverse(cycle);
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t i = 0; i < cycle.size() && i < kShown; ++i)
    text += (i == 0 ? "" : " -> ") + std::to_string(cycle[i]);
  if (cycle.size() > kShown) text += " -> ...";
  return Error{"nodes form a cycle: " + text, fmt::format("edges.{}", width.width),
               "edges lead from producers to consumers"};
}

Status check_range(const char* key, double value, double least, const char* unit) {
  if (value >= least && value <= kLargestAmount) return Done{};
  return Error{fmt::format("{} is not from {} to {} {}", value, least, kLargestAmount, unit), key};
}

}  // namespace

Status validate(const Instance& instance) {
  if (const Status fine = check_range("maxMemoryPerDevice", instance.memory_per_device, kLeastAmount, "bytes"); !fine)
    return fine.error();
  if (const Status fine = check_range("bandwidth", instance.bandwidth, kSmallestBandwidth, "bytes per second"); !fine)
    return fine.error();
  for (const auto& [key, value] :
       {std::pair{"maxDevices", instance.devices}, std::pair{"mbsInBatch", instance.microbatches}})
    if (const Status fine = check_count(key, value); !fine) return fine.error();
  if (instance.expert)
    for (const auto& [key, value] :
         {std::pair{"fixedPP", instance.expert->pipeline}, std::pair{"fixedTMPC", instance.expert->tensor_parallel},
          std::pair{"fixedDP", instance.expert->data_parallel},
          std::pair{"numTransformerLayers", instance.expert->transformer_layers}})
      if (const Status fine = check_count(key, value); !fine) return fine.error();
  if (instance.widths.empty())
    return Error{"there are no tensor-parallel widths", "nodes", R"(give at least one, such as "1")"};
  for (std::size_t i = 0; i < instance.widths.size(); ++i) {
    const Width& width = instance.widths[i];
    if (const Status fine = check_count("nodes", width.width); !fine) return fine.error();
    if (i > 0 && width.width <= instance.widths[i - 1].width)
      return Error{fmt::format("width {} is out of order", width.width), "nodes", "widths ascend"};
    if (const Status fine = check_nodes(width); !fine) return fine.error();
    if (const Status fine = check_edges(width); !fine) return fine.error();
    if (const Status fine = check_agreement(instance.widths.front(), width); !fine) return fine.error();
  }
  return check_acyclic(instance.widths.front());
}

}  // namespace phaze::placement::phaze2024
