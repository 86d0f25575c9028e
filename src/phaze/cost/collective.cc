#include "phaze/cost/collective.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace phaze::cost {
namespace {

using hardware::GroupLevel;
using workload::CollectiveKind;

// An all-reduce passes its data twice, the other two once.
double passes(CollectiveKind kind) { return kind == CollectiveKind::kAllReduce ? 2 : 1; }

double ring(CollectiveKind kind, double bytes, double n, double bandwidth, double latency) {
  return passes(kind) * ((n - 1) / n * bytes / bandwidth + (n - 1) * latency);
}

double tree(CollectiveKind kind, double bytes, std::int64_t n, double bandwidth, double latency) {
  const auto depth = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
  return passes(kind) * (depth * latency + bytes / bandwidth);
}

double torus(CollectiveKind kind, double bytes, const GroupLevel& level) {
  double links = 0;
  double steps = 0;
  for (const std::int64_t side : level.torus) {
    if (side == 1) continue;
    links += side > 2 ? 2 : 1;  // two neighbours on a ring; a pair has one
    steps += static_cast<double>(side - 1);
  }
  const auto n = static_cast<double>(level.members);
  return passes(kind) * ((n - 1) / n * bytes / (std::max(1.0, links) * level.ring_bandwidth) + steps * level.latency);
}

CollectiveCost flat(CollectiveKind kind, double bytes, std::int64_t n, double bandwidth, double latency) {
  const double by_ring = ring(kind, bytes, static_cast<double>(n), bandwidth, latency);
  const double by_tree = tree(kind, bytes, n, bandwidth, latency);
  return by_ring <= by_tree ? CollectiveCost{by_ring, "ring"} : CollectiveCost{by_tree, "tree"};
}

CollectiveCost on_one_level(CollectiveKind kind, double bytes, const GroupLevel& level) {
  if (!level.torus.empty()) return {torus(kind, bytes, level), "torus"};
  return flat(kind, bytes, level.members, level.ring_bandwidth, level.latency);
}

}  // namespace

CollectiveCost collective_cost(CollectiveKind kind, double bytes, std::span<const GroupLevel> levels) {
  if (levels.empty() || kind == CollectiveKind::kNone) return {};
  if (levels.size() == 1) return on_one_level(kind, bytes, levels.front());
  // One level at a time: what leaves the inner level is shared out over its members.
  const GroupLevel& inner = levels.front();
  const double part = bytes / static_cast<double>(inner.members);
  double hierarchical = collective_cost(kind, part, levels.subspan(1)).seconds;
  if (kind != CollectiveKind::kAllGather)
    hierarchical += on_one_level(CollectiveKind::kReduceScatter, bytes, inner).seconds;
  if (kind != CollectiveKind::kReduceScatter)
    hierarchical += on_one_level(CollectiveKind::kAllGather, bytes, inner).seconds;
  std::int64_t n = 1;
  double bandwidth = std::numeric_limits<double>::infinity();
  double latency = 0;
  for (const GroupLevel& level : levels) {
    // A ring through all members of a block leaves it once, with the share of all of them.
    bandwidth = std::min({bandwidth, level.bandwidth, level.ring_bandwidth * static_cast<double>(n)});
    n *= level.members;
    latency = std::max(latency, level.latency);
  }
  const CollectiveCost whole = flat(kind, bytes, n, bandwidth, latency);
  return hierarchical <= whole.seconds ? CollectiveCost{hierarchical, "hierarchical"} : whole;
}

}  // namespace phaze::cost
