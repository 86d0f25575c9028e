#include "phaze/cost/collective.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace phaze::cost {
namespace {

using hardware::GroupLevel;
using workload::CollectiveKind;

// An all-reduce passes its data twice, the other two once.
double passes(CollectiveKind kind) { return kind == CollectiveKind::kAllReduce ? 2 : 1; }

// `lacked`: the share of the whole that a device, or a block, does not have at first.
double ring(CollectiveKind kind, double bytes, double lacked, std::int64_t n, double bandwidth, double latency) {
  return passes(kind) * (lacked * bytes / bandwidth + static_cast<double>(n - 1) * latency);
}

double tree(CollectiveKind kind, double bytes, std::int64_t n, double bandwidth, double latency) {
  const auto depth = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
  return passes(kind) * (depth * latency + bytes / bandwidth);
}

double torus(CollectiveKind kind, double bytes, double lacked, const GroupLevel& level) {
  double links = 0;
  double steps = 0;
  for (const std::int64_t side : level.torus) {
    if (side == 1) continue;
    links += side > 2 ? 2 : 1;  // two neighbours on a ring; a pair has one
    steps += static_cast<double>(side - 1);
  }
  return passes(kind) * (lacked * bytes / (std::max(1.0, links) * level.ring_bandwidth) + steps * level.latency);
}

CollectiveCost flat(CollectiveKind kind, double bytes, double lacked, std::int64_t n, double bandwidth,
                    double latency) {
  const double by_ring = ring(kind, bytes, lacked, n, bandwidth, latency);
  const double by_tree = tree(kind, bytes, n, bandwidth, latency);
  return by_ring <= by_tree ? CollectiveCost{by_ring, "ring"} : CollectiveCost{by_tree, "tree"};
}

// A collective over `levels` from one on. What comes there is shared out over the devices in the blocks below, the
// fewest where they are not equally many.
class Collective {
 public:
  Collective(CollectiveKind kind, double bytes, std::span<const GroupLevel> levels)
      : kind_(kind), bytes_(bytes), levels_(levels) {}

  CollectiveCost from(std::size_t first) const {
    const GroupLevel& inner = levels_[first];
    if (first + 1 == levels_.size()) return on_level(kind_, first);
    double hierarchical = from(first + 1).seconds;
    if (kind_ != CollectiveKind::kAllGather) hierarchical += on_level(CollectiveKind::kReduceScatter, first).seconds;
    if (kind_ != CollectiveKind::kReduceScatter) hierarchical += on_level(CollectiveKind::kAllGather, first).seconds;
    std::int64_t n = 1;
    double bandwidth = inner.bandwidth;
    double latency = 0;
    for (std::size_t i = first; i < levels_.size(); ++i) {
      const GroupLevel& level = levels_[i];
      // A ring through all members of a block leaves it once, with the share of all of them.
      bandwidth = std::min({bandwidth, level.bandwidth, level.ring_bandwidth * (below(i) / below(first))});
      n *= level.members;
      latency = std::max(latency, level.latency);
    }
    if (first == 0) n = levels_.back().fewest;
    const CollectiveCost whole =
        flat(kind_, bytes_ / below(first), 1 - 1 / static_cast<double>(n), n, bandwidth, latency);
    return hierarchical <= whole.seconds ? CollectiveCost{hierarchical, "hierarchical"} : whole;
  }

 private:
  // Devices that share what comes to a level.
  double below(std::size_t level) const { return level == 0 ? 1 : static_cast<double>(levels_[level - 1].fewest); }

  CollectiveCost on_level(CollectiveKind kind, std::size_t index) const {
    const GroupLevel& level = levels_[index];
    const double bytes = bytes_ / below(index);
    const double lacked =
        std::max(1 - 1 / static_cast<double>(level.members), 1 - below(index) / static_cast<double>(level.fewest));
    if (!level.torus.empty()) return {torus(kind, bytes, lacked, level), "torus"};
    return flat(kind, bytes, lacked, level.members, level.ring_bandwidth, level.latency);
  }

  CollectiveKind kind_;
  double bytes_;
  std::span<const GroupLevel> levels_;
};

}  // namespace

CollectiveCost collective_cost(CollectiveKind kind, double bytes, std::span<const GroupLevel> levels) {
  if (levels.empty() || kind == CollectiveKind::kNone) return {};
  return Collective(kind, bytes, levels).from(0);
}

}  // namespace phaze::cost
