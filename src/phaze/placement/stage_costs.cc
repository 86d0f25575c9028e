#include "phaze/placement/stage_costs.h"

#include <algorithm>

#include "phaze/base/units.h"
#include "phaze/cost/collective.h"

namespace phaze::placement {
namespace {

using workload::CollectiveKind;

// The network that a message between neighbouring stages crosses: the outermost level that the pipeline spans, since
// some of its hops do.
double message_seconds(const LayerTable& table, double bytes, const hardware::GroupLevel& level,
                       const std::vector<hardware::GroupLevel>& ranks) {
  const double whole = bytes / level.bandwidth + level.latency;
  if (!table.cut_is_replicated || table.tensor_parallel == 1) return whole;
  // Every rank sends its share, and the ranks gather the rest from each other.
  const double scattered = bytes / real(table.tensor_parallel) / level.bandwidth + level.latency +
                           cost::collective_cost(CollectiveKind::kAllGather, bytes, ranks).seconds;
  return std::min(whole, scattered);
}

}  // namespace

double stages_in_flight(std::int64_t k, std::int64_t p, std::int64_t v, std::int64_t m) {
  if (v == 1) return real(std::min(k, m));
  return real(std::min(2 * (k - 1) + (v - 1) * p + 1, m * v)) / real(v);
}

StageCosts::StageCosts(const Request& request, const TableSums& sums, const Strategy& strategy, std::int64_t fewest)
    : request_(&request), sums_(&sums), strategy_(strategy), policies_(request.freedom.recompute) {
  const LayerTable& table = sums.table();
  const std::int64_t p = strategy.pipeline, d = strategy.data_parallel, t = table.tensor_parallel;
  microbatches_ = ceil_divide(request.training.global_batch, table.microbatch * d);
  if (policies_.empty()) policies_.assign(kPolicies.begin(), kPolicies.end());
  std::ranges::sort(policies_);

  const bool data_inside = strategy.order == Order::kDataInside;
  // The bound of many strategies is that of groups which lie as well as they can.
  const auto levels = [&](std::int64_t size, std::int64_t stride) {
    const hardware::Group group{.size = size, .stride = stride, .devices = t * p * fewest, .whole = t};
    return fewest == d ? hardware::spanned(request.devices.network, group)
                       : hardware::spanned_at_best(request.devices.network, group);
  };
  replicas_ = levels(fewest, data_inside ? t : t * p);

  arrivals_.assign(table.size() + 1, 0);
  if (p > 1) {
    const auto pipeline = levels(p, data_inside ? t * fewest : t);
    const auto ranks = levels(t, 1);
    ends_ = hardware::pair_over(pipeline.back());
    double known_bytes = -1, known_seconds = 0;
    least_arrival_ = kNever;
    for (std::size_t i = 1; i < table.size(); ++i) {
      const double bytes = table.cut_bytes[i - 1];
      if (bytes != known_bytes) {
        known_bytes = bytes;
        known_seconds = message_seconds(table, bytes, pipeline.back(), ranks);
      }
      arrivals_[i] = known_seconds;
      least_arrival_ = std::min(least_arrival_, known_seconds);
      largest_arrival_ = std::max(largest_arrival_, known_seconds);
    }
    if (table.size() < 2) least_arrival_ = 0;
  }

  const StateBytes& states = request.training.states;
  const auto share = [&](int from) { return strategy.zero >= from ? 1 / real(d) : 1.0; };
  bytes_per_parameter_ = states.parameters * share(3) + states.gradients * share(2) + states.optimizer * share(1);
  in_flight_.assign(static_cast<std::size_t>(p) + 1, 0);
  for (std::int64_t k = 1; k <= p; ++k)
    in_flight_[static_cast<std::size_t>(k)] = stages_in_flight(k, p, strategy.interleave, microbatches_);
}

double StageCosts::all_gather(double parameters) const {
  const double bytes = parameters * request_->training.states.parameters;
  return cost::collective_cost(CollectiveKind::kAllGather, bytes, replicas_).seconds;
}

double StageCosts::reduce_scatter(double parameters) const {
  const double bytes = parameters * request_->training.states.gradients_in_network;
  return cost::collective_cost(CollectiveKind::kReduceScatter, bytes, replicas_).seconds;
}

double StageCosts::sharded(double forward, double backward, double parameters, double largest_layer) const {
  const double reduce = reduce_scatter(parameters);
  const double gather = strategy_.zero == 3 ? all_gather(parameters) : 0;
  if (!request_->training.overlap_gradients) return forward + backward + reduce + 2 * gather;
  // Layer by layer, beside compute: before its first layer a pass waits for parameters, behind its last for gradients.
  const double gather_one = strategy_.zero == 3 ? all_gather(largest_layer) : 0;
  const double reduce_one = reduce_scatter(largest_layer);
  return std::max(forward + gather_one, gather) + std::max(backward + gather_one + reduce_one, gather + reduce);
}

double StageCosts::with_sharding(std::size_t begin, std::size_t end, double recompute) const {
  const double forward = sums_->forward(begin, end);
  const double backward = sums_->backward(begin, end) + recompute;
  if (strategy_.zero < 2 || strategy_.data_parallel == 1) return forward + backward;
  return sharded(forward, backward, sums_->parameters(begin, end), sums_->largest_layer_parameters(begin, end));
}

StageChoice StageCosts::choose(std::size_t begin, std::size_t end, std::int64_t k, double arrivals) const {
  const double parameters = sums_->parameters(begin, end);
  double fixed = parameters * bytes_per_parameter_;
  if (strategy_.zero == 3)
    fixed += 2 * request_->training.states.parameters * sums_->largest_layer_parameters(begin, end);
  const double in_flight = in_flight_[static_cast<std::size_t>(k)];
  for (const Recompute policy : policies_) {
    const std::size_t r = index(policy);
    double memory = fixed + in_flight * sums_->saved(r, begin, end);
    if (memory > request_->devices.memory) continue;
    if (policy != Recompute::kNone) memory += sums_->rerun(r, begin, end);
    if (memory <= request_->devices.memory)
      return {with_sharding(begin, end, sums_->recompute(r, begin, end)) + arrivals, policy};
  }
  return {};
}

double StageCosts::load(std::span<const Range> chunks, Recompute policy) const {
  double forward = 0, backward = 0, arrivals = 0, parameters = 0, largest_layer = 0;
  for (const Range& chunk : chunks) {
    forward += sums_->forward(chunk.begin, chunk.end);
    backward += sums_->backward(chunk.begin, chunk.end);
    arrivals += arrival(chunk.begin) + arrival(chunk.end);
    parameters += sums_->parameters(chunk.begin, chunk.end);
    largest_layer = std::max(largest_layer, sums_->largest_layer_parameters(chunk.begin, chunk.end));
  }
  for (const Range& chunk : chunks) backward += sums_->recompute(index(policy), chunk.begin, chunk.end);
  const bool sharding = strategy_.zero >= 2 && strategy_.data_parallel > 1;
  return (sharding ? sharded(forward, backward, parameters, largest_layer) : forward + backward) + arrivals;
}

StageChoice StageCosts::device(std::span<const Range> chunks, std::int64_t k) const {
  for (const Recompute policy : policies_)
    if (memory(chunks, k, policy).total() <= request_->devices.memory) return {load(chunks, policy), policy};
  return {};
}

// The most that a device keeps of its chunks. They take turns, p microbatches each, and backward passes follow in the
// same rhythm from the last chunk on; a first chunk with the embedding is in flight up to 2p times, a last one with the
// head once. After the first backward pass what is kept repeats with every round of p·v passes.
double StageCosts::kept(std::span<const Range> chunks, std::int64_t k, std::size_t policy) const {
  std::vector<double> saved;
  saved.reserve(chunks.size());
  for (const Range& chunk : chunks) saved.push_back(sums_->saved(policy, chunk.begin, chunk.end));
  // Sums of equal layers differ in their last digits.
  const auto [least, largest] = std::ranges::minmax(saved);
  if (least >= largest * (1 - 1e-12))
    return in_flight_[static_cast<std::size_t>(k)] * largest * real(strategy_.interleave);
  const std::int64_t p = strategy_.pipeline, v = strategy_.interleave;
  const std::int64_t passes = microbatches_ * v, ahead = std::min(passes, 2 * (k - 1) + (v - 1) * p);
  const auto turn = [&](std::int64_t pass) { return static_cast<std::size_t>(pass / p % v); };
  double held = 0, most = 0;
  for (std::int64_t pass = 0; pass < std::min(passes, ahead + p * v); ++pass) {
    held += saved[turn(pass)];
    most = std::max(most, held);
    if (pass >= ahead) held -= saved[saved.size() - 1 - turn(pass - ahead)];
  }
  return most;
}

Memory StageCosts::memory(std::span<const Range> chunks, std::int64_t k, Recompute policy) const {
  const StateBytes& states = request_->training.states;
  const auto share = [&](int from) { return strategy_.zero >= from ? 1 / real(strategy_.data_parallel) : 1.0; };
  double parameters = 0, rerun = 0, layer = 0;
  for (const Range& chunk : chunks) {
    parameters += sums_->parameters(chunk.begin, chunk.end);
    rerun = std::max(rerun, sums_->rerun(index(policy), chunk.begin, chunk.end));
    layer = std::max(layer, sums_->largest_layer_parameters(chunk.begin, chunk.end));
  }
  return {.parameters = parameters * states.parameters * share(3),
          .gradients = parameters * states.gradients * share(2),
          .optimizer = parameters * states.optimizer * share(1),
          .activations = kept(chunks, k, index(policy)),
          .workspace = rerun + (strategy_.zero == 3 ? 2 * states.parameters * layer : 0)};
}

StageCosts::OncePerBatch StageCosts::once_per_batch(std::span<const Range> chunks) const {
  const Training& training = request_->training;
  double parameters = 0;
  OncePerBatch once;
  for (const Range& chunk : chunks) {
    parameters += sums_->parameters(chunk.begin, chunk.end);
    once.layers += static_cast<double>(chunk.end - chunk.begin);
  }
  const double shards = strategy_.zero >= 1 ? real(strategy_.data_parallel) : 1;
  once.step = parameters / shards * request_->devices.step_seconds_per_parameter;
  if (strategy_.data_parallel > 1) {
    if (strategy_.zero == 0)
      once.reduce = cost::collective_cost(CollectiveKind::kAllReduce, parameters * training.states.gradients_in_network,
                                          replicas_)
                        .seconds;
    if (strategy_.zero == 1) once.reduce = reduce_scatter(parameters);
    if (strategy_.zero == 1 || strategy_.zero == 2) once.gather = all_gather(parameters);
  }
  const bool first = chunks.front().begin == 0, last = chunks.back().end == sums_->size();
  const double tied = strategy_.pipeline > 1 && (first || last) ? tied_outside_first(chunks, first) : 0;
  if (tied > 0)
    once.tied =
        cost::collective_cost(CollectiveKind::kAllReduce, tied * training.states.gradients_in_network, {&ends_, 1})
            .seconds;
  return once;
}

// Seen from the first stage all that later ones read, from the last what it reads itself.
double StageCosts::tied_outside_first(std::span<const Range> chunks, bool first) const {
  if (first) return sums_->tied(chunks.front().end, sums_->size());
  return sums_->tied(chunks.back().begin, chunks.back().end);
}

StageCosts::Ending StageCosts::ending(std::span<const Range> chunks) const {
  double forward = 0, backward = 0;
  for (const Range& chunk : chunks) {
    forward += sums_->forward(chunk.begin, chunk.end);
    backward += sums_->backward(chunk.begin, chunk.end);
  }
  const OncePerBatch once = once_per_batch(chunks);
  // Layer by layer, beside a pass over the layers: the part of one layer always shows.
  const auto shown = [&](double seconds, double beside) {
    if (!request_->training.overlap_gradients) return seconds;
    return std::max(seconds / once.layers, seconds - (1 - 1 / once.layers) * beside);
  };
  return {.gradient_sync = shown(once.reduce, backward),
          .tied = chunks.front().begin == 0 ? once.tied : 0,
          .step = once.step,
          .gather = shown(once.gather, forward)};
}

// In an interleaved pipeline a pass that takes longer may add less to the time of a batch than it hides. While stage s
// is not the slowest, a second more of it adds 1/v second to the ramp, and hides up to 1 − 1/n second of communication,
// n being its layers. So the time for least times of layers is no least time of a batch, unless what longer passes
// could gain is taken off: at most 1 − 1/n − 1/v for every second that shows beside each pass, and for no more seconds
// than stage s is ahead of the slowest; from there on, a second more costs m seconds, one for every microbatch.
double StageCosts::could_gain(std::span<const Range> chunks, double ahead_of_slowest) const {
  if (!request_->training.least_times || !request_->training.overlap_gradients) return 0;
  double forward = 0, backward = 0;
  for (const Range& chunk : chunks) {
    forward += sums_->forward(chunk.begin, chunk.end);
    backward += sums_->backward(chunk.begin, chunk.end);
  }
  const OncePerBatch once = once_per_batch(chunks);
  const double shows = std::max(0.0, once.reduce - backward) + std::max(0.0, once.gather - forward);
  const double gain = 1 - 1 / once.layers - 1 / real(strategy_.interleave);
  return std::min(ahead_of_slowest, shows) * std::max(0.0, gain);
}

// A collective over the bytes of several stages takes no longer than one for each: its time is concave in the bytes.
double StageCosts::least_work(std::size_t begin, std::size_t end) const {
  const double forward = sums_->forward(begin, end);
  const double backward = sums_->backward(begin, end) + sums_->recompute(index(policies_.front()), begin, end);
  if (strategy_.zero < 2 || strategy_.data_parallel == 1) return forward + backward;
  return sharded(forward, backward, sums_->parameters(begin, end), 0);
}

double StageCosts::least_total() const {
  return sums_->total() + sums_->recompute(index(policies_.front()), 0, sums_->size()) +
         2 * real(strategy_.pipeline * strategy_.interleave - 1) * least_arrival_;
}

}  // namespace phaze::placement
