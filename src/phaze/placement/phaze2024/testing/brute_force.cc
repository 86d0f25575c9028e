#include "phaze/placement/phaze2024/testing/brute_force.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

namespace phaze::placement::phaze2024 {
namespace {

using Ids = std::set<std::int64_t>;

class Enumeration {
 public:
  Enumeration(const Instance& instance, const Width& width) : instance_(instance), width_(width) {
    for (const Node& node : width.nodes) nodes_[node.id] = node;
    for (const auto& [id, node] : nodes_) left_.insert(id);
  }

  std::optional<double> run() {
    extend();
    return best_;
  }

 private:
  // All ways to make the next stage out of what is left: every set whose nodes need nothing that would be left after
  // it.
  void extend() {
    if (left_.empty()) return judge();
    const std::vector<std::int64_t> candidates(left_.begin(), left_.end());
    for (std::uint32_t mask = 1; mask < (1U << candidates.size()); ++mask) {
      Ids stage;
      for (std::size_t i = 0; i < candidates.size(); ++i)
        if ((mask >> i & 1U) != 0) stage.insert(candidates[i]);
      const bool closed = std::ranges::all_of(width_.edges, [&](const Edge& edge) {
        return !stage.contains(edge.target) || stage.contains(edge.source) || !left_.contains(edge.source);
      });
      if (!closed) continue;
      for (const std::int64_t id : stage) left_.erase(id);
      stages_.push_back(stage);
      extend();
      stages_.pop_back();
      left_.insert(stage.begin(), stage.end());
    }
  }

  // The shortest pass over all orders, tried one by one.
  double shortest(const Ids& stage, Ids undone, bool forward, double now, bool transfers) const {
    if (undone.empty()) return now;
    double best = std::numeric_limits<double>::infinity();
    for (const std::int64_t id : Ids(undone)) {
      double start = now;
      bool ready = true;
      for (const Edge& edge : width_.edges) {
        if ((forward ? edge.target : edge.source) != id) continue;
        const std::int64_t other = forward ? edge.source : edge.target;
        if (stage.contains(other))
          ready = ready && !undone.contains(other);
        else if (transfers)
          start = std::max(start, edge.bytes / instance_.bandwidth);
      }
      if (!ready) continue;
      undone.erase(id);
      const Node& node = nodes_.at(id);
      best = std::min(best, shortest(stage, undone, forward,
                                     start + (forward ? node.forward_seconds : node.backward_seconds), transfers));
      undone.insert(id);
    }
    return best;
  }

  struct Cost {
    double load = 0, load_recomputing = 0, parameters = 0, activations = 0, entering = 0;
    std::int64_t devices = 1;
  };

  const Cost& cost_of(const Ids& stage) {
    const auto [found, added] = costs_.try_emplace(stage);
    if (!added) return found->second;
    Cost& cost = found->second;
    const double forward = shortest(stage, stage, true, 0, true);
    const double again = shortest(stage, stage, true, 0, false);
    cost.load = forward + shortest(stage, stage, false, 0, true);
    cost.load_recomputing = forward + shortest(stage, stage, false, again, true);
    for (const std::int64_t id : stage) {
      cost.parameters += nodes_.at(id).parameter_bytes;
      cost.activations += nodes_.at(id).activation_bytes;
      if (nodes_.at(id).tensor_parallel) cost.devices = width_.width;
    }
    for (const Edge& edge : width_.edges)
      if (stage.contains(edge.target) && !stage.contains(edge.source)) cost.entering += edge.bytes;
    return cost;
  }

  void judge() {
    double largest = 0;
    std::int64_t devices = 0;
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const Cost& cost = cost_of(stages_[s]);
      const auto behind = static_cast<double>(stages_.size() - 1 - s);
      const double stash = instance_.recompute ? cost.entering : cost.activations;
      const double states = (instance_.optimizer == Optimizer::kAdam ? 3 : 2) * cost.parameters;
      if (states + cost.activations + behind * stash > instance_.memory_per_device) return;
      largest = std::max(largest, instance_.recompute && behind > 0 ? cost.load_recomputing : cost.load);
      devices += cost.devices;
    }
    for (std::int64_t d = 1; d <= instance_.microbatches && d * devices <= instance_.devices; ++d) {
      const std::int64_t rounds = (instance_.microbatches + d - 1) / d;
      const double time = largest * (static_cast<double>(rounds) + static_cast<double>(stages_.size()) - 1) +
                          4.0 * static_cast<double>(d - 1) / static_cast<double>(d) *
                              cost_of(stages_.front()).parameters / instance_.bandwidth;
      best_ = std::min(time, best_.value_or(time));
    }
  }

  const Instance& instance_;
  const Width& width_;
  std::map<std::int64_t, Node> nodes_;
  Ids left_;
  std::vector<Ids> stages_;
  std::map<Ids, Cost> costs_;
  std::optional<double> best_;
};

}  // namespace

std::optional<double> brute_force(const Instance& instance) {
  std::optional<double> best;
  for (const Width& width : instance.widths)
    if (const auto time = Enumeration(instance, width).run()) best = std::min(*time, best.value_or(*time));
  return best;
}

}  // namespace phaze::placement::phaze2024
