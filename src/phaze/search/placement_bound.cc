#include "phaze/search/placement_bound.h"

#include <algorithm>
#include <limits>

#include "phaze/base/units.h"

namespace phaze::search {
namespace {

// Bytes per second and device that no collective exceeds: in a torus, both directions of all sides at once.
double fastest_links(const hardware::Network& network) {
  double fastest = 0;
  for (const hardware::NetworkLevel& level : network.levels)
    fastest = std::max(fastest, level.achieved() * std::max(1.0, 2 * static_cast<double>(level.torus.size())));
  return fastest;
}

}  // namespace

PlacementBound::PlacementBound(const placement::LayerTable& table, const placement::Training& training,
                               std::int64_t devices, const hardware::Network& network)
    : nodes_(table.nodes),
      batch_(training.global_batch),
      microbatch_(table.microbatch),
      groups_(devices / table.tensor_parallel) {
  const double fastest = fastest_links(network);
  reduce_.push_back(0);
  gather_.push_back(0);
  for (std::size_t node = 0; node < table.size(); ++node) {
    const double parameters = table.layer(node).parameters;
    reduce_.push_back(reduce_.back() + parameters * training.states.gradients_in_network / fastest);
    gather_.push_back(gather_.back() + parameters *
                                           std::min(training.states.parameters, training.states.gradients_in_network) /
                                           fastest);
  }
  if (!table.cut_bytes.empty()) {
    const double share = table.cut_is_replicated ? real(table.tensor_parallel) : 1;
    message_ = std::ranges::min(table.cut_bytes) / share / fastest;
  }
}

double PlacementBound::least_seconds(const std::vector<Times>& times, double below) const {
  thread_local std::vector<double> both, backward;  // F and G
  const std::size_t layers = nodes_.size();
  both.assign(1, 0);
  backward.assign(1, 0);
  double heaviest = 0;
  for (const std::uint32_t kind : nodes_) {
    const Times& time = times[kind];
    heaviest = std::max(heaviest, time.forward + time.backward);
    both.push_back(both.back() + time.forward + time.backward);
    backward.push_back(backward.back() + time.backward);
  }
  const double total = both.back();
  const double a = message_;
  double best = below;
  for (std::int64_t p = 1; p <= static_cast<std::int64_t>(layers) && p <= groups_; ++p) {
    const double stages = real(p);
    const double messages = 2 * (stages - 1) * a;
    const double pace = std::max((total + messages) / stages, heaviest);
    for (std::int64_t d = std::min(groups_ / p, ceil_divide(batch_, microbatch_)); d >= 1;) {
      const std::int64_t count = ceil_divide(batch_, microbatch_ * d);
      const std::int64_t fewest = ceil_divide(batch_, microbatch_ * count);
      const double m = real(count);
      if (m * std::max(total / stages, heaviest) >= best) break;
      if (p > 1 && count % p == 0) {
        for (std::int64_t v = 2; v * p <= static_cast<std::int64_t>(layers); ++v) {
          const double slowest = std::max(total / stages, heaviest) + (2 * real(v) - 1) * a;
          best = std::min(best, (m - 1 / real(v)) * slowest + total / real(v));
        }
      }
      const double moved = 1 - 1 / real(fewest);
      // Where p leaves each other stage a layer.
      const std::size_t last = layers - static_cast<std::size_t>(p) + 1;
      for (std::size_t e = p == 1 ? layers : 1; e <= last; ++e) {
        const double first = both[e] + (p > 1 ? a : 0);
        if ((m - 1) * std::max(first, pace) + total + messages >= best) break;
        const double others = p > 1 ? (total - both[e] + (2 * stages - 3) * a) / (stages - 1) : 0;
        const double slowest = std::max({first, others, heaviest});
        const double reduce = moved * reduce_[e], gather = moved * gather_[e];
        const double ending = std::max({0.0, reduce - backward[e], reduce + gather - both[e]});
        best = std::min(best, (m - 1) * slowest + total + messages + ending);
      }
      d = fewest - 1;
    }
  }
  return best < below ? best : std::numeric_limits<double>::infinity();
}

}  // namespace phaze::search
