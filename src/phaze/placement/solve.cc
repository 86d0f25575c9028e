#include "phaze/placement/solve.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "phaze/base/check.h"
#include "phaze/base/units.h"
#include "phaze/placement/partition.h"
#include "phaze/placement/stage_costs.h"
#include "phaze/placement/strategies.h"
#include "phaze/placement/table_sums.h"

namespace phaze::placement {
namespace {

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

// Sums that are added up in another order differ in their last digits.
constexpr double kTie = 1 + 1e-9;

class Solver {
 public:
  Solver(const Request& request, const Options& options, Progress& progress)
      : request_(request),
        options_(options),
        progress_(progress),
        strategies_(request),
        zero_(request.freedom.zero),
        orders_(request.freedom.orders) {
    if (zero_.empty()) zero_ = {0, 1, 2, 3};
    if (orders_.empty()) orders_.assign(kOrders.begin(), kOrders.end());
    if (!request.freedom.recompute.empty()) policy_ = index(std::ranges::min(request.freedom.recompute));
    sums_.reserve(request.tables.size());
    for (const LayerTable& table : request.tables) sums_.emplace_back(table);
  }

  Solution run();

 private:
  // What the bound of a group of strategies comes from.
  enum class Known : std::uint8_t { kWork, kCosts, kPartition };
  struct Entry {
    double bound = 0;
    std::size_t family = 0;
    Replicas replicas;
    Known known = Known::kWork;
    bool tried = false;  // one strategy, shown to take at least `bound`
  };
  // The least bound first, then the order of enumeration, so that runs repeat.
  static bool later(const Entry& a, const Entry& b) {
    if (a.bound != b.bound) return a.bound > b.bound;
    if (a.family != b.family) return a.family > b.family;
    return a.replicas.most < b.replicas.most;
  }

  double worst() const { return best_.size() == keep() ? best_.back().seconds : options_.below; }
  std::size_t keep() const { return std::max<std::size_t>(1, options_.keep); }
  const Family& family(const Entry& entry) const { return strategies_.families()[entry.family]; }

  void push(const Entry& entry) {
    if (!options_.exhaustive && entry.bound >= worst()) return;
    queue_.push_back(entry);
    std::ranges::push_heap(queue_, later);
  }
  void next_group(std::size_t family, std::int64_t limit);
  void relax(Entry entry);
  void divide(Entry entry);
  double horizon(const Entry& entry) const;
  double work_bound(const Family& family, std::int64_t microbatches) const;
  double group_bound(const Entry& entry) const;
  template <typename Visit>
  void for_each_sharing(const Entry& entry, const Visit& visit) const;
  void settle(Entry entry);
  Solution answer();

  const Request& request_;
  const Options& options_;
  Progress& progress_;
  Strategies strategies_;
  std::vector<TableSums> sums_;
  std::vector<int> zero_;
  std::vector<Order> orders_;
  std::size_t policy_ = 0;
  std::vector<Entry> queue_;  // a heap
  std::vector<Found> best_;   // ascending
  std::int64_t solved_ = 0;
};

// From work alone: all stages equal and nothing else to wait for.
double Solver::work_bound(const Family& family, std::int64_t microbatches) const {
  const TableSums& sums = sums_[family.table];
  const double total = sums.total() + sums.recompute(policy_, 0, sums.size());
  const double largest = std::max(total / real(family.pipeline), sums.heaviest_layer());
  const double m = real(microbatches), v = real(family.interleave);
  return family.interleave == 1 ? (m - 1) * largest + total : m * largest + std::max(0.0, total - largest) / v;
}

void Solver::next_group(std::size_t index, std::int64_t limit) {
  Entry entry{.family = index};
  const Family& of = strategies_.families()[index];
  if (!strategies_.group(of, limit, entry.replicas)) return;
  entry.bound = work_bound(of, entry.replicas.microbatches);
  push(entry);
}

// Every ZeRO level and order that a group has, with its costs.
template <typename Visit>
void Solver::for_each_sharing(const Entry& entry, const Visit& visit) const {
  const Family& of = family(entry);
  Strategy strategy{
      .table = of.table, .pipeline = of.pipeline, .data_parallel = entry.replicas.most, .interleave = of.interleave};
  for (const int zero : zero_) {
    // Alone, a replica has nobody to share with.
    if (zero > 0 && strategy.data_parallel == 1 && zero != zero_.front()) continue;
    strategy.zero = zero;
    for (const Order order : orders_) {
      // Where all orders are alike, the first stands for them.
      if (order != orders_.front() && (strategy.data_parallel == 1 || !strategies_.order_matters(of))) continue;
      strategy.order = order;
      visit(strategy, StageCosts(request_, sums_[of.table], strategy, entry.replicas.fewest));
    }
  }
}

double Solver::group_bound(const Entry& entry) const {
  const Family& of = family(entry);
  double least = worst();
  const std::vector<Stage> given = given_stages(request_, of.table, of.pipeline, of.interleave);
  for_each_sharing(entry, [&](const Strategy&, const StageCosts& costs) {
    if (given.empty()) {
      const double bound = partition_bound(costs, least);
      if (bound < least && fits(costs)) least = bound;
    } else if (const auto partition = interleaved_partition(costs, given, of.interleave, least)) {
      least = partition->seconds;
    }
  });
  return least < worst() ? least / kTie : kNever;
}

// How far to look for plans of a group. Where memory is short they are far above its bound, and to find the best before
// there is anything to compare it with takes long. To show that there is none before the next in the queue takes no
// time: the group goes back then.
double Solver::horizon(const Entry& entry) const {
  constexpr double kFurther = 1.1;
  if (options_.exhaustive) return options_.below;
  const double next = queue_.empty() ? entry.bound : queue_.front().bound;
  const double further = std::max(entry.bound, next) * kFurther;
  // A tenth more than nothing is nothing, and the group would come back as it went.
  return further > entry.bound ? std::min(worst(), further) : worst();
}

// The best partition with the costs that all of the group exceed. Few groups need to be divided after that.
void Solver::relax(Entry entry) {
  const Family& of = family(entry);
  const double below = horizon(entry);
  double least = below;
  if (given_stages(request_, of.table, of.pipeline, of.interleave).empty())
    for_each_sharing(entry, [&](const Strategy&, const StageCosts& costs) {
      if (const auto partition = best_partition(costs, least)) least = partition->seconds;
    });
  else
    least = entry.bound;  // which is that of the partition given
  if (least < below) {
    entry.known = Known::kPartition;
    least /= kTie;
  }
  entry.bound = std::max(entry.bound, least);
  push(entry);
}

void Solver::divide(Entry entry) {
  entry.known = Known::kCosts;
  const std::int64_t middle = (entry.replicas.fewest + entry.replicas.most) / 2;
  Entry other = entry;
  entry.replicas.fewest = middle + 1;
  other.replicas.most = middle;
  for (Entry* half : {&entry, &other}) {
    half->bound = std::max(half->bound, options_.exhaustive ? 0 : group_bound(*half));
    push(*half);
  }
}

// The best ZeRO level, order and cuts of one strategy; among equals the one that needs less memory.
void Solver::settle(Entry entry) {
  const Family& of = family(entry);
  const double below = horizon(entry);
  if (!entry.tried) ++solved_;
  const std::vector<Stage> given = given_stages(request_, of.table, of.pipeline, of.interleave);
  std::optional<Found> best;
  for_each_sharing(entry, [&](const Strategy& strategy, const StageCosts& costs) {
    const double limit = best ? std::min(below, best->seconds * kTie) : below;
    auto partition =
        given.empty() ? best_partition(costs, limit) : interleaved_partition(costs, given, of.interleave, limit);
    if (!partition) return;
    const double memory = peak_memory(costs, partition->stages);
    if (best && partition->seconds * kTie > best->seconds && memory >= best->memory) return;
    best = Found{partition->seconds, memory, {strategy, std::move(partition->stages)}};
  });
  if (!best) {
    entry.bound = below;
    entry.tried = true;
    if (!options_.exhaustive) push(entry);
    return;
  }
  const auto place = std::ranges::upper_bound(best_, best->seconds, {}, &Found::seconds);
  best_.insert(place, std::move(*best));
  if (best_.size() > keep()) best_.pop_back();
}

Solution Solver::run() {
  for (std::size_t index = 0; index < strategies_.families().size(); ++index)
    next_group(index, strategies_.most_replicas(strategies_.families()[index]));
  const std::int64_t total = strategies_.count();
  bool stopped = false;
  for (std::int64_t step = 0; !queue_.empty(); ++step) {
    stopped = step % 256 == 0 && !progress_.advance("strategies", solved_, total);
    if (stopped) break;
    std::ranges::pop_heap(queue_, later);
    Entry entry = queue_.back();
    queue_.pop_back();
    if (!options_.exhaustive && entry.bound >= worst()) break;
    if (entry.known == Known::kWork) {
      next_group(entry.family, entry.replicas.fewest - 1);
      entry.known = Known::kCosts;
      if (!options_.exhaustive) entry.bound = std::max(entry.bound, group_bound(entry));
      push(entry);
    } else if (entry.replicas.fewest < entry.replicas.most) {
      if (entry.known == Known::kPartition || options_.exhaustive)
        divide(entry);
      else
        relax(entry);
    } else {
      settle(entry);
    }
  }
  Solution solution = answer();
  solution.statistics.strategies = total;
  if (stopped) solution.termination = Termination::kStopped;
  return solution;
}

Solution Solver::answer() {
  Solution solution;
  for (Found& found : best_) {
    Evaluation evaluation = evaluate(request_, found.plan);
    check(evaluation.violations.empty(), "a plan of the solver breaks a rule");
    check(std::abs(evaluation.time_per_batch - found.seconds) <= 1e-9 * found.seconds,
          "solver and checker disagree about the time of a plan");
    solution.plans.push_back({std::move(found.plan), std::move(evaluation)});
  }
  solution.termination = best_.empty() ? Termination::kInfeasible : Termination::kOptimal;
  solution.statistics.solved = solved_;
  return solution;
}

}  // namespace

Solution solve(const Request& request, const Options& options, Progress& progress) {
  return Solver(request, options, progress).run();
}

}  // namespace phaze::placement
