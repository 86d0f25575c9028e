#include "phaze/placement/phaze2024/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace phaze::placement::phaze2024 {
namespace {

constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

struct Link {
  std::size_t other = 0;  // the node at the far end
  double bytes = 0;
};
using Links = std::vector<std::vector<Link>>;

class Checker {
 public:
  Checker(const Instance& instance, const Plan& plan) : instance_(instance), plan_(plan) {}

  Evaluation run() {
    for (const Width& candidate : instance_.widths)
      if (candidate.width == plan_.tensor_parallel) width_ = &candidate;
    if (width_ == nullptr) violated("there is no tensor-parallel width {}", plan_.tensor_parallel);
    if (width_ != nullptr) link_nodes();
    if (result_.violations.empty()) assign_stages();
    if (result_.violations.empty()) check_devices();
    if (result_.violations.empty()) measure();
    return std::move(result_);
  }

 private:
  template <typename... Args>
  void violated(fmt::format_string<Args...> text, Args&&... args) {
    result_.violations.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  // The index of an id in the width's list of nodes.
  std::size_t index_of(std::int64_t id) const {
    const auto found = std::ranges::lower_bound(by_id_, std::pair{id, std::size_t{0}});
    return found != by_id_.end() && found->first == id ? found->second : kNowhere;
  }

  void link_nodes() {
    for (std::size_t i = 0; i < width_->nodes.size(); ++i) by_id_.emplace_back(width_->nodes[i].id, i);
    std::ranges::sort(by_id_);
    inputs_.resize(by_id_.size());
    outputs_.resize(by_id_.size());
    for (const Edge& edge : width_->edges) {
      const std::size_t source = index_of(edge.source);
      const std::size_t target = index_of(edge.target);
      inputs_[target].push_back({source, edge.bytes});
      outputs_[source].push_back({target, edge.bytes});
    }
  }

  // Every node in one stage, no edge against the pipeline.
  void assign_stages() {
    if (plan_.stages.empty()) violated("there are no stages");
    stage_of_.assign(by_id_.size(), kNowhere);
    members_.resize(plan_.stages.size());
    for (std::size_t s = 0; s < plan_.stages.size(); ++s)
      for (const std::int64_t id : plan_.stages[s].nodes) {
        const std::size_t node = index_of(id);
        if (node == kNowhere)
          violated("stage {} holds node {}, which does not exist", s + 1, id);
        else if (stage_of_[node] != kNowhere)
          violated("node {} is in stage {} and in stage {}", id, stage_of_[node] + 1, s + 1);
        else
          members_[stage_of_[node] = s].push_back(node);
      }
    for (std::size_t node = 0; node < stage_of_.size(); ++node) {
      if (stage_of_[node] == kNowhere) violated("node {} is in no stage", width_->nodes[node].id);
      for (const Link& out : outputs_[node])
        if (stage_of_[node] != kNowhere && stage_of_[out.other] != kNowhere && stage_of_[node] > stage_of_[out.other])
          violated("edge {} -> {} leads back from stage {} to stage {}", width_->nodes[node].id,
                   width_->nodes[out.other].id, stage_of_[node] + 1, stage_of_[out.other] + 1);
    }
  }

  void check_devices() {
    std::int64_t used = 0;
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const bool split =
          std::ranges::any_of(members_[s], [&](std::size_t node) { return width_->nodes[node].tensor_parallel; });
      const std::int64_t needed = split ? width_->width : 1;
      if (plan_.stages[s].devices < needed)
        violated("stage {} has {} devices and needs {}", s + 1, plan_.stages[s].devices, needed);
      used += plan_.stages[s].devices;
    }
    const std::int64_t most = std::min(instance_.devices, instance_.microbatches);
    if (plan_.data_parallel < 1 || plan_.data_parallel > most)
      violated("data-parallel degree {} is not between 1 and {}", plan_.data_parallel, most);
    else if (used > instance_.devices / plan_.data_parallel)
      violated("a pipeline uses {} devices and has {}", used, instance_.devices / plan_.data_parallel);
  }

  // Runs the nodes of a stage as its devices would: whatever can run runs, and only then is waited for transfers. The
  // devices are free from `begin` on; transfers began at 0, or were never needed.
  double pass(std::size_t stage, const Links& needs, const Links& feeds, double Node::*seconds, double begin,
              bool transfers) const {
    std::vector<std::pair<double, std::size_t>> startable;  // arrival of the last input from outside, node
    std::vector<std::size_t> missing(by_id_.size(), 0);     // inputs from inside that are not made yet
    const auto arrival = [&](std::size_t node) {
      double last = 0;
      for (const Link& input : needs[node])
        if (transfers && stage_of_[input.other] != stage) last = std::max(last, input.bytes / instance_.bandwidth);
      return last;
    };
    for (const std::size_t node : members_[stage]) {
      for (const Link& input : needs[node]) missing[node] += stage_of_[input.other] == stage ? 1 : 0;
      if (missing[node] == 0) startable.emplace_back(arrival(node), node);
    }
    double now = begin;
    while (!startable.empty()) {
      const auto next = std::ranges::min_element(startable);
      const auto [arrived, node] = *next;
      startable.erase(next);
      now = std::max(now, arrived) + width_->nodes[node].*seconds;
      for (const Link& output : feeds[node])
        if (stage_of_[output.other] == stage && --missing[output.other] == 0)
          startable.emplace_back(arrival(output.other), output.other);
    }
    return now;
  }

  StageEvaluation measure_stage(std::size_t s) const {
    const std::size_t from_end = plan_.stages.size() - s;
    StageEvaluation out;
    out.forward_seconds = pass(s, inputs_, outputs_, &Node::forward_seconds, 0, true);
    const bool recomputes = instance_.recompute && from_end > 1;
    const double again = recomputes ? pass(s, inputs_, outputs_, &Node::forward_seconds, 0, false) : 0;
    out.backward_seconds = pass(s, outputs_, inputs_, &Node::backward_seconds, again, true);
    out.load_seconds = out.forward_seconds + out.backward_seconds;
    double entering = 0;
    for (const std::size_t node : members_[s]) {
      out.parameter_bytes += width_->nodes[node].parameter_bytes;
      out.activation_bytes += width_->nodes[node].activation_bytes;
      for (const Link& input : inputs_[node]) entering += stage_of_[input.other] == s ? 0 : input.bytes;
    }
    const double copies = instance_.optimizer == Optimizer::kAdam ? 3 : 2;
    out.state_bytes = copies * out.parameter_bytes;
    out.stash_bytes = static_cast<double>(from_end - 1) * (instance_.recompute ? entering : out.activation_bytes);
    out.memory_bytes = out.state_bytes + out.activation_bytes + out.stash_bytes;
    return out;
  }

  void measure() {
    // Sums of bytes round differently in another order, which must not turn "just fits" into "does not".
    const double fits = instance_.memory_per_device * (1 + 1e-12);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) {
      const StageEvaluation stage = measure_stage(s);
      if (stage.memory_bytes > fits)
        violated("stage {} needs {:.0f} bytes per device and has {:.0f}", s + 1, stage.memory_bytes,
                 instance_.memory_per_device);
      result_.largest_load = std::max(result_.largest_load, stage.load_seconds);
      result_.stages.push_back(stage);
    }
    const double d = static_cast<double>(plan_.data_parallel);
    const std::int64_t rounds = (instance_.microbatches + plan_.data_parallel - 1) / plan_.data_parallel;
    const double slots = static_cast<double>(rounds + static_cast<std::int64_t>(plan_.stages.size()) - 1);
    result_.gradient_seconds = 4 * (d - 1) * result_.stages.front().parameter_bytes / instance_.bandwidth / d;
    result_.time_per_batch = result_.largest_load * slots + result_.gradient_seconds;
  }

  const Instance& instance_;
  const Plan& plan_;
  const Width* width_ = nullptr;
  std::vector<std::pair<std::int64_t, std::size_t>> by_id_;
  Links inputs_, outputs_;
  std::vector<std::size_t> stage_of_;              // by node
  std::vector<std::vector<std::size_t>> members_;  // by stage
  Evaluation result_;
};

}  // namespace

Evaluation evaluate(const Instance& instance, const Plan& plan) { return Checker(instance, plan).run(); }

}  // namespace phaze::placement::phaze2024
