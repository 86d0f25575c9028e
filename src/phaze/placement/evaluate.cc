#include "phaze/placement/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "phaze/base/units.h"
#include "phaze/cost/collective.h"

namespace phaze::placement {
namespace {

using workload::CollectiveKind;

class Checker {
 public:
  Checker(const Request& request, const Plan& plan)
      : request_(request), plan_(plan), how_(plan.strategy), table_(request.tables[plan.strategy.table]) {}

  Evaluation run() {
    const auto batch = static_cast<double>(request_.training.global_batch);
    microbatches_ = std::ceil(batch / static_cast<double>(table_.microbatch * how_.data_parallel));
    result_.microbatches = static_cast<std::int64_t>(microbatches_);
    check_shape();
    if (!result_.violations.empty()) return std::move(result_);
    for (std::size_t s = 0; s < plan_.stages.size(); ++s) measure(s);
    add_up();
    return std::move(result_);
  }

 private:
  void broken(std::string rule) { result_.violations.push_back(std::move(rule)); }

  void check_shape() {
    const std::int64_t devices =
        hardware::devices_for(request_.devices.network, how_.pipeline * how_.data_parallel, table_.tensor_parallel);
    if (devices > request_.devices.count)
      broken(fmt::format("{} devices are used and {} are there", devices, request_.devices.count));
    if (how_.zero < 0 || how_.zero > 3) broken("there is no such ZeRO level");
    if (static_cast<std::int64_t>(plan_.stages.size()) != how_.pipeline)
      broken("the number of stages is not the pipeline's");
    if (how_.interleave > 1 && result_.microbatches % how_.pipeline != 0)
      broken("an interleaved pipeline needs a multiple of its stages in microbatches");
    std::vector<Range> order;
    for (std::int64_t round = 0; round < how_.interleave; ++round) {
      for (const Stage& stage : plan_.stages) {
        if (static_cast<std::int64_t>(stage.chunks.size()) != how_.interleave)
          return broken("a stage has not one chunk for each turn of the pipeline");
        order.push_back(stage.chunks[static_cast<std::size_t>(round)]);
      }
    }
    std::size_t at = 0;
    for (const Range& chunk : order) {
      if (chunk.begin != at || chunk.end <= chunk.begin) return broken("chunks do not follow each other");
      at = chunk.end;
    }
    if (at != table_.size()) broken("layers are left over");
  }

  std::int64_t data_stride() const {
    return how_.order == Order::kDataInside ? table_.tensor_parallel : table_.tensor_parallel * how_.pipeline;
  }
  std::int64_t pipeline_stride() const {
    return how_.order == Order::kDataInside ? table_.tensor_parallel * how_.data_parallel : table_.tensor_parallel;
  }

  std::vector<hardware::GroupLevel> levels(std::int64_t size, std::int64_t stride) const {
    return hardware::spanned(request_.devices.network,
                             {.size = size,
                              .stride = stride,
                              .devices = table_.tensor_parallel * how_.pipeline * how_.data_parallel,
                              .whole = table_.tensor_parallel});
  }

  double among_replicas(CollectiveKind kind, double bytes) const {
    return cost::collective_cost(kind, bytes, levels(how_.data_parallel, data_stride())).seconds;
  }

  // A message over the cut in front of a node.
  double message(std::size_t node) const {
    if (node == 0 || node == table_.size() || how_.pipeline == 1) return 0;
    const double bytes = table_.cut_bytes[node - 1];
    const auto path = levels(how_.pipeline, pipeline_stride());
    const double direct = bytes / path.back().bandwidth + path.back().latency;
    if (table_.tensor_parallel == 1 || !table_.cut_is_replicated) return direct;
    const auto ranks = levels(table_.tensor_parallel, 1);
    const double shared = bytes / static_cast<double>(table_.tensor_parallel) / path.back().bandwidth +
                          path.back().latency + cost::collective_cost(CollectiveKind::kAllGather, bytes, ranks).seconds;
    return std::min(direct, shared);
  }

  void measure(std::size_t s) {
    const Stage& stage = plan_.stages[s];
    const std::size_t policy = index(stage.recompute);
    StageEvaluation seen;
    double rerun = 0, widest = 0;
    std::vector<double> kept;
    for (const Range& chunk : stage.chunks) {
      double copy = 0, saved = 0;
      for (std::size_t node = chunk.begin; node < chunk.end; ++node) {
        const LayerCost& layer = table_.layer(node);
        seen.forward_seconds += layer.forward.seconds;
        seen.backward_seconds += layer.backward.seconds;
        seen.recompute_seconds += layer.recompute[policy].seconds;
        seen.tensor_parallel_seconds +=
            layer.forward.communication + layer.backward.communication + layer.recompute[policy].communication;
        seen.parameters += layer.parameters;
        saved += layer.saved[policy];
        rerun = std::max(rerun, layer.saved[0] - layer.saved[policy]);
        widest = std::max(widest, layer.parameters);
        copy = std::max(copy, layer.tied_parameters);
      }
      kept.push_back(saved);
      if (chunk.begin > 0) seen.parameters += copy;
      seen.arrival_seconds += message(chunk.begin) + message(chunk.end);
    }
    add_sharding(seen, widest);
    const StateBytes& states = request_.training.states;
    const auto d = static_cast<double>(how_.data_parallel);
    seen.memory.parameters = seen.parameters * states.parameters / (how_.zero == 3 ? d : 1);
    seen.memory.gradients = seen.parameters * states.gradients / (how_.zero >= 2 ? d : 1);
    seen.memory.optimizer = seen.parameters * states.optimizer / (how_.zero >= 1 ? d : 1);
    seen.memory.activations = most_kept(kept, s);
    seen.memory.workspace = rerun + (how_.zero == 3 ? 2 * widest * states.parameters : 0);
    if (seen.memory.total() > request_.devices.memory * (1 + 1e-12))
      broken(fmt::format("stage {} needs {:.6g} bytes per device and has {:.6g}", s + 1, seen.memory.total(),
                         request_.devices.memory));
    result_.stages.push_back(seen);
  }

  // What a stage has begun and not yet taken back, at most: after every forward pass, by how often each chunk's turn
  // has come in either direction.
  double most_kept(const std::vector<double>& kept, std::size_t s) const {
    const std::int64_t p = how_.pipeline, v = how_.interleave, m = result_.microbatches;
    const std::int64_t behind = p - 1 - static_cast<std::int64_t>(s);
    if (v == 1) return kept.front() * static_cast<double>(std::min(behind + 1, m));
    const std::int64_t ahead = 2 * behind + (v - 1) * p;
    const auto turns = [&](std::int64_t passes, std::int64_t place) {
      return passes / (p * v) * p + std::clamp(passes % (p * v) - place * p, std::int64_t{0}, p);
    };
    double most = 0;
    for (std::int64_t begun = 1; begun <= std::min(m * v, ahead + p * v); ++begun) {
      const std::int64_t ended = std::max<std::int64_t>(0, begun - 1 - ahead);
      double now = 0;
      for (std::int64_t chunk = 0; chunk < v; ++chunk)
        now += kept[static_cast<std::size_t>(chunk)] *
               static_cast<double>(turns(begun, chunk) - turns(ended, v - 1 - chunk));
      most = std::max(most, now);
    }
    return most;
  }

  void add_sharding(StageEvaluation& seen, double widest) const {
    if (how_.zero < 2 || how_.data_parallel == 1) return;
    const StateBytes& states = request_.training.states;
    const auto reduce = [&](double parameters) {
      return among_replicas(CollectiveKind::kReduceScatter, parameters * states.gradients_in_network);
    };
    const auto gather = [&](double parameters) {
      return how_.zero < 3 ? 0 : among_replicas(CollectiveKind::kAllGather, parameters * states.parameters);
    };
    if (!request_.training.overlap_gradients) {
      seen.sharding_seconds = reduce(seen.parameters) + 2 * gather(seen.parameters);
      return;
    }
    // A pass waits for the parameters of one layer, and for its gradients, or until all of them are through.
    const double back = seen.backward_seconds + seen.recompute_seconds;
    seen.sharding_seconds =
        std::max(gather(widest), gather(seen.parameters) - seen.forward_seconds) +
        std::max(gather(widest) + reduce(widest), gather(seen.parameters) + reduce(seen.parameters) - back);
  }

  double shown(double communication, double behind, double layers) const {
    if (!request_.training.overlap_gradients) return communication;
    return std::max(communication / layers, communication - behind * (layers - 1) / layers);
  }

  // Once per batch, behind the last backward pass of a stage.
  struct Ending {
    double sync = 0;  // gradients out and parameters in, among the replicas
    double tied = 0;
    double step = 0;
    double total() const { return sync + tied + step; }
  };

  Ending ending_of(std::size_t s) const {
    const StateBytes& states = request_.training.states;
    const StageEvaluation& stage = result_.stages[s];
    double layers = 0;
    for (const Range& chunk : plan_.stages[s].chunks) layers += static_cast<double>(chunk.end - chunk.begin);
    Ending ending;
    if (how_.data_parallel > 1) {
      const double bytes = stage.parameters * states.gradients_in_network;
      if (how_.zero == 0)
        ending.sync = shown(among_replicas(CollectiveKind::kAllReduce, bytes), stage.backward_seconds, layers);
      if (how_.zero == 1)
        ending.sync = shown(among_replicas(CollectiveKind::kReduceScatter, bytes), stage.backward_seconds, layers);
      if (how_.zero == 1 || how_.zero == 2)
        ending.sync += shown(among_replicas(CollectiveKind::kAllGather, stage.parameters * states.parameters),
                             stage.forward_seconds, layers);
    }
    double tied = 0;
    for (std::size_t node = plan_.stages.front().chunks.front().end;
         s == 0 && node < table_.size() && how_.pipeline > 1; ++node)
      tied = std::max(tied, table_.layer(node).tied_parameters);
    if (tied > 0) {
      const hardware::GroupLevel ends = hardware::pair_over(levels(how_.pipeline, pipeline_stride()).back());
      ending.tied =
          cost::collective_cost(CollectiveKind::kAllReduce, tied * states.gradients_in_network, {&ends, 1}).seconds;
    }
    ending.step = stage.parameters * request_.devices.step_seconds_per_parameter /
                  (how_.zero >= 1 ? static_cast<double>(how_.data_parallel) : 1);
    return ending;
  }

  // With least times: a pass of an interleaved stage that is not the slowest may hide more than it adds to the ramp.
  double gain_of_longer_passes(std::size_t s, double most) const {
    if (!request_.training.least_times || !request_.training.overlap_gradients || how_.data_parallel == 1) return 0;
    const StateBytes& states = request_.training.states;
    const StageEvaluation& stage = result_.stages[s];
    double layers = 0;
    for (const Range& chunk : plan_.stages[s].chunks) layers += static_cast<double>(chunk.end - chunk.begin);
    const double bytes = stage.parameters * states.gradients_in_network;
    double seconds = 0;
    if (how_.zero < 2) {
      const CollectiveKind kind = how_.zero == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter;
      seconds += std::max(0.0, among_replicas(kind, bytes) - stage.backward_seconds);
    }
    if (how_.zero == 1 || how_.zero == 2) {
      const double gather = among_replicas(CollectiveKind::kAllGather, stage.parameters * states.parameters);
      seconds += std::max(0.0, gather - stage.forward_seconds);
    }
    const double rate = (layers - 1) / layers - 1 / static_cast<double>(how_.interleave);
    return std::max(0.0, rate) * std::min(seconds, most);
  }

  void add_up() {
    double sum = 0;
    const StageEvaluation* slowest = &result_.stages.front();
    for (const StageEvaluation& stage : result_.stages) {
      sum += stage.load();
      if (stage.load() > slowest->load()) slowest = &stage;
    }
    Ending last;  // what the batch waits for in the end
    double in_front = 0;
    for (std::size_t s = 0; s < result_.stages.size(); ++s) {
      const double head_start = in_front / static_cast<double>(how_.interleave);
      Ending ending = ending_of(s);
      ending.sync -= gain_of_longer_passes(s, slowest->load() - result_.stages[s].load());
      if (s == 0 || ending.total() - head_start > last.total()) {
        // The head start hides communication first.
        const double hidden = std::min(head_start, ending.sync);
        ending.sync -= hidden;
        ending.step -= head_start - hidden;
        last = ending;
      }
      in_front += result_.stages[s].load();
    }

    Breakdown& parts = result_.breakdown;
    const double plain = slowest->forward_seconds + slowest->backward_seconds + slowest->recompute_seconds;
    const double network_in_recompute = recompute_communication(*slowest);
    parts.tensor_parallel = microbatches_ * slowest->tensor_parallel_seconds;
    parts.recompute = microbatches_ * (slowest->recompute_seconds - network_in_recompute);
    parts.compute = microbatches_ * plain - parts.tensor_parallel - parts.recompute;
    parts.transfers = microbatches_ * slowest->arrival_seconds;
    parts.bubble = (sum - slowest->load()) / static_cast<double>(how_.interleave);
    parts.gradient_sync = microbatches_ * slowest->sharding_seconds + last.sync + last.tied;
    parts.optimizer = last.step;
    result_.time_per_batch = microbatches_ * slowest->load() + parts.bubble + last.total();
  }

  double recompute_communication(const StageEvaluation& stage) const {
    const auto s = static_cast<std::size_t>(&stage - result_.stages.data());
    double seconds = 0;
    for (const Range& chunk : plan_.stages[s].chunks)
      for (std::size_t node = chunk.begin; node < chunk.end; ++node)
        seconds += table_.layer(node).recompute[index(plan_.stages[s].recompute)].communication;
    return seconds;
  }

  const Request& request_;
  const Plan& plan_;
  const Strategy& how_;
  const LayerTable& table_;
  double microbatches_ = 0;
  Evaluation result_;
};

}  // namespace

double Evaluation::peak_memory() const {
  double peak = 0;
  for (const StageEvaluation& stage : stages) peak = std::max(peak, stage.memory.total());
  return peak;
}

Evaluation evaluate(const Request& request, const Plan& plan) {
  if (plan.strategy.table >= request.tables.size()) {
    Evaluation refused;
    refused.violations.emplace_back("the plan names a table that is not there");
    return refused;
  }
  return Checker(request, plan).run();
}

}  // namespace phaze::placement
