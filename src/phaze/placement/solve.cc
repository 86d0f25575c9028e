#include "phaze/placement/solve.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "phaze/base/check.h"
#include "phaze/base/units.h"
#include "phaze/placement/partition.h"
#include "phaze/placement/stage_costs.h"
#include "phaze/placement/table_sums.h"

namespace phaze::placement {
namespace {

double real(std::int64_t value) { return static_cast<double>(value); }

struct Candidate {
  double bound = 0;
  Strategy strategy;
};

// Every p, d and v that a table allows.
class Enumeration {
 public:
  // Strategies whose bound reaches `below` are counted, not kept.
  Enumeration(const Request& request, double below) : request_(request), below_(below) {}

  std::int64_t dropped() const { return dropped_; }

  std::vector<Candidate> run(const std::vector<TableSums>& sums) {
    for (std::size_t table = 0; table < sums.size(); ++table) {
      const std::int64_t t = sums[table].table().tensor_parallel;
      const auto layers = static_cast<std::int64_t>(sums[table].size());
      const std::int64_t fixed = request_.freedom.pipeline;
      for (std::int64_t p = fixed > 0 ? fixed : 1; p <= (fixed > 0 ? fixed : layers); ++p) {
        if (p > layers || p * t > request_.devices.count) break;
        data_parallel(sums[table], table, p);
      }
    }
    // Equal bounds in the order of enumeration, so that runs repeat.
    std::ranges::stable_sort(candidates_, {}, &Candidate::bound);
    return std::move(candidates_);
  }

 private:
  void data_parallel(const TableSums& sums, std::size_t table, std::int64_t p) {
    const std::int64_t b = sums.table().microbatch;
    const std::int64_t fixed = request_.freedom.data_parallel;
    // Beyond one sample batch per replica, more replicas would stand idle.
    const std::int64_t most = std::min(request_.devices.count / (p * sums.table().tensor_parallel),
                                       ceil_divide(request_.training.global_batch, b));
    if (fixed > most) return;
    const std::vector<std::int64_t> depths = interleaves(sums.table(), p);
    for (std::int64_t d = fixed > 0 ? fixed : 1; d <= (fixed > 0 ? fixed : most); ++d) {
      const std::int64_t m = ceil_divide(request_.training.global_batch, b * d);
      for (const std::int64_t v : depths) {
        if (v > 1 && m % p != 0) continue;
        const double least = bound(sums, p, v, m);
        if (least >= below_)
          ++dropped_;
        else
          candidates_.push_back({least, {.table = table, .pipeline = p, .data_parallel = d, .interleave = v}});
      }
    }
  }

  std::vector<std::int64_t> interleaves(const LayerTable& table, std::int64_t p) const {
    std::vector<std::int64_t> depths;
    const auto& asked = request_.freedom.interleave;
    const Range repeated = repeated_layers(table);
    const auto layers = static_cast<std::int64_t>(repeated.end - repeated.begin);
    for (std::int64_t v = 1; v == 1 || p * v <= layers; ++v) {
      if (!asked.empty() && std::ranges::find(asked, v) == asked.end()) continue;
      if (v == 1 || (p > 1 && layers % (p * v) == 0)) depths.push_back(v);
    }
    return depths;
  }

  double bound(const TableSums& sums, std::int64_t p, std::int64_t v, std::int64_t m) const {
    std::size_t policy = 0;
    if (!request_.freedom.recompute.empty()) policy = index(std::ranges::min(request_.freedom.recompute));
    const double total = sums.total() + sums.recompute(policy, 0, sums.size());
    const double largest = std::max(total / real(p), sums.heaviest_layer());
    return v == 1 ? real(m - 1) * largest + total : real(m) * largest + std::max(0.0, total - largest) / real(v);
  }

  const Request& request_;
  double below_;
  std::int64_t dropped_ = 0;
  std::vector<Candidate> candidates_;
};

struct Found {
  double seconds = kNever;
  double memory = kNever;
  Plan plan;
};

double peak_memory(const StageCosts& costs, const std::vector<Stage>& stages) {
  double peak = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto k = static_cast<std::int64_t>(stages.size() - s);
    peak = std::max(peak, costs.memory(stages[s].chunks, k, stages[s].recompute).total());
  }
  return peak;
}

// The best ZeRO level, order and cuts of one strategy; among equals the one that needs less memory.
std::optional<Found> best_of(const Request& request, const TableSums& sums, Strategy strategy, double below) {
  std::vector<int> levels = request.freedom.zero;
  if (levels.empty()) levels = {0, 1, 2, 3};
  std::vector<Stage> chunks;
  if (strategy.interleave > 1) chunks = interleaved_stages(sums.table(), strategy.pipeline, strategy.interleave);
  std::optional<Found> best;
  for (const int zero : levels) {
    // Alone, a replica has nobody to share with.
    if (zero > 0 && strategy.data_parallel == 1 && zero != levels.front()) continue;
    for (const Order order : {Order::kDataInside, Order::kPipelineInside}) {
      const bool one_order = strategy.data_parallel == 1 || strategy.pipeline == 1;
      if (order == Order::kPipelineInside && one_order) continue;
      strategy.zero = zero;
      strategy.order = order;
      const StageCosts costs(request, sums, strategy);
      constexpr double kTie = 1 + 1e-9;
      const double limit = best ? std::min(below, best->seconds * kTie) : below;
      auto partition = strategy.interleave > 1 ? interleaved_partition(costs, chunks, strategy.interleave, limit)
                                               : best_partition(costs, limit);
      if (!partition) continue;
      const double memory = peak_memory(costs, partition->stages);
      if (best && partition->seconds * kTie > best->seconds && memory >= best->memory) continue;
      best = Found{partition->seconds, memory, {strategy, std::move(partition->stages)}};
    }
  }
  return best;
}

std::vector<TableSums> sums_of(const Request& request) {
  std::vector<TableSums> sums;
  sums.reserve(request.tables.size());
  for (const LayerTable& table : request.tables) sums.emplace_back(table);
  return sums;
}

}  // namespace

Solution solve(const Request& request, const Options& options, Progress& progress) {
  Solution solution;
  const std::vector<TableSums> sums = sums_of(request);
  Enumeration enumeration(request, options.below);
  const std::vector<Candidate> candidates = enumeration.run(sums);
  solution.statistics.strategies = static_cast<std::int64_t>(candidates.size()) + enumeration.dropped();
  std::vector<Found> best;  // ascending
  const std::size_t keep = std::max<std::size_t>(1, options.keep);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    double worst = options.below;
    if (best.size() == keep) worst = best.back().seconds;
    if (!options.exhaustive && candidates[i].bound >= worst) break;
    if (i % 64 == 0 &&
        !progress.advance("strategies", static_cast<std::int64_t>(i), static_cast<std::int64_t>(candidates.size()))) {
      solution.termination = Termination::kStopped;
      return solution;
    }
    ++solution.statistics.solved;
    const Strategy& strategy = candidates[i].strategy;
    if (options.exhaustive) worst = options.below;
    auto found = best_of(request, sums[strategy.table], strategy, worst);
    if (!found) continue;
    const auto place = std::ranges::upper_bound(best, found->seconds, {}, &Found::seconds);
    best.insert(place, std::move(*found));
    if (best.size() > keep) best.pop_back();
    if (options.any) break;
  }
  for (Found& found : best) {
    Evaluation evaluation = evaluate(request, found.plan);
    check(evaluation.violations.empty(), "a plan of the solver breaks a rule");
    check(std::abs(evaluation.time_per_batch - found.seconds) <= 1e-9 * found.seconds,
          "solver and checker disagree about the time of a plan");
    solution.plans.push_back({std::move(found.plan), std::move(evaluation)});
  }
  solution.termination = best.empty() ? Termination::kInfeasible : Termination::kOptimal;
  return solution;
}

}  // namespace phaze::placement
