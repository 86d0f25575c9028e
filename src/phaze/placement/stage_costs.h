// What any stage costs under one strategy: its load and memory in constant time, and what it does once per batch behind
// the last microbatch.
//
// The policy of a stage needs no search of its own: policies that recompute more take longer and keep less, and nothing
// else in the time of a batch depends on them (plan.h), so a stage takes the first of those allowed that fits.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "phaze/hardware/group.h"
#include "phaze/placement/plan.h"
#include "phaze/placement/table_sums.h"
#include "phaze/placement/training.h"

namespace phaze::placement {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct StageChoice {
  double load = kNever;
  Recompute recompute = Recompute::kNone;
};

// Microbatches of m that the k-th stage from the end of p holds at most, in units of whole stages: min(k, m) under
// 1F1B. Interleaved, a device runs 2·(k − 1) + (v − 1)·p chunks ahead of its first backward pass (Narayanan et al.
// 2021), and one more, which is p + (p − 1)/v stages on the first; of chunks that keep equally much.
double stages_in_flight(std::int64_t k, std::int64_t p, std::int64_t v, std::int64_t m);

class StageCosts {
 public:
  StageCosts(const Request& request, const TableSums& sums, const Strategy& strategy)
      : StageCosts(request, sums, strategy, strategy.data_parallel) {}
  // Of no strategy between `fewest` replicas and the strategy's more than the true costs: communication as among the
  // fewest, shares of states as among the most (strategies.h says for which it holds).
  StageCosts(const Request& request, const TableSums& sums, const Strategy& strategy, std::int64_t fewest);

  std::int64_t microbatches() const { return microbatches_; }
  std::int64_t pipeline() const { return strategy_.pipeline; }
  std::size_t layers() const { return sums_->size(); }

  // A stage [begin, end) that is the k-th from the end, k from 1.
  StageChoice stage(std::size_t begin, std::size_t end, std::int64_t k) const {
    return choose(begin, end, k, arrival(begin) + arrival(end));
  }
  // Never more than the load of this stage or of one that contains it and stands at the same k.
  double least_load(std::size_t begin, std::size_t end, std::int64_t k) const {
    return choose(begin, end, k, least_arrival_ * ((k > 1 ? 1 : 0) + (k < strategy_.pipeline ? 1 : 0))).load;
  }
  // Loads that a stage, or a device with several chunks, could have, by policy, whether it fits or not.
  double load(std::size_t begin, std::size_t end, Recompute policy) const {
    return with_sharding(begin, end, sums_->recompute(index(policy), begin, end)) + arrival(begin) + arrival(end);
  }
  const std::vector<Recompute>& policies() const { return policies_; }

  double load(std::span<const Range> chunks, Recompute policy) const;

  // Interleaved: the k-th device from the end with all its chunks.
  StageChoice device(std::span<const Range> chunks, std::int64_t k) const;

  Memory memory(std::span<const Range> chunks, std::int64_t k, Recompute policy) const;

  // What a device does once per batch, at its full length.
  struct OncePerBatch {
    double reduce = 0;  // gradients, among the replicas
    double tied = 0;    // gradients of tied parameters, between the first stage and the last
    double step = 0;
    double gather = 0;  // new parameters, among the replicas
    double layers = 0;  // over which reduce and gather are spread
  };
  OncePerBatch once_per_batch(std::span<const Range> chunks) const;

  // Behind the last backward pass of a stage: E in plan.h.
  struct Ending {
    double gradient_sync = 0;
    double tied = 0;
    double step = 0;
    double gather = 0;  // of new parameters, as far as the next forward pass does not hide it
    double total() const { return gradient_sync + tied + step + gather; }
  };
  Ending ending(std::span<const Range> chunks) const;
  Ending ending(std::size_t begin, std::size_t end) const {
    const Range stage{begin, end};
    return ending({&stage, 1});
  }

  // With Training::least_times, what of its ending an interleaved device could gain if its passes took longer; it may
  // take so many seconds more before it is the slowest.
  double could_gain(std::span<const Range> chunks, double ahead_of_slowest) const;

  // Σ of all loads is at least this.
  double least_total() const;
  // Σ of the loads of all stages within [begin, end), arrivals apart, is at least this.
  double least_work(std::size_t begin, std::size_t end) const;
  double heaviest_layer() const { return sums_->heaviest_layer(); }

  // One message over the cut in front of node `begin`, 0 at either end of the chain.
  double arrival(std::size_t begin) const { return arrivals_[begin]; }
  double largest_arrival() const { return largest_arrival_; }
  double least_arrival() const { return least_arrival_; }

 private:
  StageChoice choose(std::size_t begin, std::size_t end, std::int64_t k, double arrivals) const;
  // Forward, backward and recompute, with what ZeRO-2 and ZeRO-3 communicate for every microbatch.
  double with_sharding(std::size_t begin, std::size_t end, double recompute) const;
  double sharded(double forward, double backward, double parameters, double largest_layer) const;
  double all_gather(double parameters) const;
  double tied_outside_first(std::span<const Range> chunks, bool first) const;
  double reduce_scatter(double parameters) const;
  double kept(std::span<const Range> chunks, std::int64_t k, std::size_t policy) const;

  const Request* request_;
  const TableSums* sums_;
  Strategy strategy_;
  std::int64_t microbatches_ = 1;
  std::vector<Recompute> policies_;
  std::vector<hardware::GroupLevel> replicas_;  // the network among data-parallel replicas
  hardware::GroupLevel ends_;                   // between the first stage and the last
  std::vector<double> arrivals_;
  double least_arrival_ = 0;
  double largest_arrival_ = 0;
  double bytes_per_parameter_ = 0;  // states on a device, after sharding
  std::vector<double> in_flight_;   // by k
};

}  // namespace phaze::placement
