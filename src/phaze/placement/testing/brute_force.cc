#include "phaze/placement/testing/brute_force.h"

#include <algorithm>
#include <map>

namespace phaze::placement::testing {
namespace {

class Enumeration {
 public:
  explicit Enumeration(const Request& request) : request_(request) {}

  BruteForce run() {
    for (how_.table = 0; how_.table < request_.tables.size(); ++how_.table) {
      const LayerTable& table = request_.tables[how_.table];
      const auto layers = static_cast<std::int64_t>(table.size());
      for (how_.pipeline = 1; how_.pipeline <= layers; ++how_.pipeline) {
        if (request_.freedom.pipeline > 0 && how_.pipeline != request_.freedom.pipeline) continue;
        for (how_.data_parallel = 1; how_.data_parallel <= request_.devices.count; ++how_.data_parallel) {
          if (request_.freedom.data_parallel > 0 && how_.data_parallel != request_.freedom.data_parallel) continue;
          // A replica without a sample is no replica.
          if ((how_.data_parallel - 1) * table.microbatch >= request_.training.global_batch) continue;
          for (how_.interleave = 1; how_.interleave <= layers; ++how_.interleave) strategy();
        }
      }
    }
    BruteForce result{.times = std::move(times_), .points = std::move(points_)};
    if (!result.times.empty()) result.best = std::ranges::min(result.times);
    return result;
  }

 private:
  void strategy() {
    if (how_.interleave > 1 && how_.pipeline == 1) return;
    best_ = -1;
    for (how_.zero = 0; how_.zero <= 3; ++how_.zero) {
      const auto& allowed = request_.freedom.zero;
      if (!allowed.empty() && std::ranges::find(allowed, how_.zero) == allowed.end()) continue;
      for (const Order order : kOrders) {
        const auto& orders = request_.freedom.orders;
        if (!orders.empty() && std::ranges::find(orders, order) == orders.end()) continue;
        how_.order = order;
        Plan plan{how_, std::vector<Stage>(static_cast<std::size_t>(how_.pipeline))};
        if (how_.interleave == 1)
          cut(plan, 0, 0);
        else
          interleaved(plan);
      }
    }
    if (best_ >= 0) times_.push_back(best_);
  }

  void cut(Plan& plan, std::size_t stage, std::size_t begin) {
    const std::size_t n = request_.tables[how_.table].size();
    if (stage + 1 == plan.stages.size()) {
      plan.stages[stage].chunks = {{begin, n}};
      return policies(plan, 0);
    }
    for (std::size_t end = begin + 1; end < n; ++end) {
      plan.stages[stage].chunks = {{begin, end}};
      cut(plan, stage + 1, end);
    }
  }

  // Chunks of equally many repeated layers.
  void interleaved(Plan& plan) {
    const LayerTable& table = request_.tables[how_.table];
    std::map<std::uint32_t, int> uses;
    for (const std::uint32_t node : table.nodes) ++uses[node];
    std::size_t begin = 0, end = table.size();
    while (begin < table.size() && uses[table.nodes[begin]] == 1) ++begin;
    while (end > begin && uses[table.nodes[end - 1]] == 1) --end;
    const auto chunks = static_cast<std::size_t>(how_.pipeline * how_.interleave);
    if (begin == end || (end - begin) % chunks != 0) return;
    for (std::size_t c = 0; c < chunks; ++c) {
      Range range{begin + c * (end - begin) / chunks, begin + (c + 1) * (end - begin) / chunks};
      if (c == 0) range.begin = 0;
      if (c + 1 == chunks) range.end = table.size();
      plan.stages[c % plan.stages.size()].chunks.push_back(range);
    }
    policies(plan, 0);
  }

  bool cut_as_asked(const Plan& plan) const {
    std::vector<std::size_t> cuts;
    for (const Stage& stage : plan.stages)
      for (const Range& chunk : stage.chunks)
        if (chunk.begin > 0) cuts.push_back(chunk.begin);
    return request_.freedom.cuts.empty() || (how_.interleave == 1 && cuts == request_.freedom.cuts);
  }

  void policies(Plan& plan, std::size_t stage) {
    if (!cut_as_asked(plan)) return;
    if (stage == plan.stages.size()) {
      const Evaluation evaluation = evaluate(request_, plan);
      if (!evaluation.violations.empty()) return;
      points_.push_back({evaluation.time_per_batch, evaluation.peak_memory()});
      if (best_ < 0 || evaluation.time_per_batch < best_) best_ = evaluation.time_per_batch;
      return;
    }
    for (const Recompute policy : kPolicies) {
      const auto& allowed = request_.freedom.recompute;
      if (!allowed.empty() && std::ranges::find(allowed, policy) == allowed.end()) continue;
      plan.stages[stage].recompute = policy;
      policies(plan, stage + 1);
    }
  }

  const Request& request_;
  Strategy how_;
  double best_ = -1;
  std::vector<double> times_;
  std::vector<BruteForce::Point> points_;
};

}  // namespace

BruteForce brute_force(const Request& request) { return Enumeration(request).run(); }

}  // namespace phaze::placement::testing
