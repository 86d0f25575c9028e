#include "phaze/layer_times/layer_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "phaze/base/units.h"

namespace phaze::layer_times {
namespace {

using layer_schedule::LayerScheduler;
using placement::LayerCost;
using placement::LayerTable;
using placement::PassTime;
using workload::Layer;
using workload::LayerGraph;

bool has_attention_core(const Layer& layer) {
  return std::ranges::any_of(layer.forward.ops(), [](const workload::Op& op) { return op.attention_core; });
}

LayerCost untimed_cost(const Layer& layer, bool recomputed, const LayerGraph& graph) {
  LayerCost cost;
  cost.name = layer.name;
  cost.parameters = real(layer.parameters);
  cost.tied_parameters = real(layer.tied_parameters);
  cost.saved.fill(real(layer.saved.none.value()));
  if (!recomputed) return cost;
  using workload::Recompute;
  cost.saved[1] = std::min(cost.saved[0], real(layer.saved.under(Recompute::kSelective).value()));
  // Published formulas count the layer's input whole on every rank; under sequence parallelism each keeps its tokens.
  const double input =
      real(layer.saved.under(Recompute::kFull).value()) / (graph.parallel.sequence ? real(graph.parallel.width) : 1);
  cost.saved[2] = std::min(cost.saved[1], input);
  return cost;
}

// Adding the gradients of a microbatch to those before it.
double accumulation_seconds(const Layer& layer, const cost::OperatorCosts& costs, const TableOptions& options) {
  const double per_byte = 1 / (costs.chip().hbm_bandwidth * costs.chip().calibration.hbm);
  return real(layer.parameters + layer.tied_parameters) * options.accumulation_bytes * per_byte;
}

bool is_recomputed(const LayerGraph& graph, const Layer& layer) {
  return !std::ranges::any_of(graph.layers, has_attention_core) || has_attention_core(layer);
}

// Every tensor that is made in front of a cut and read behind it crosses the cut once.
std::vector<double> cut_bytes(const LayerGraph& graph) {
  std::vector<double> bytes(graph.nodes.empty() ? 0 : graph.nodes.size() - 1, 0);
  std::map<std::pair<std::size_t, std::int64_t>, std::size_t> reach;  // (from, bytes) to the last reader
  for (const workload::LayerEdge& edge : graph.edges) {
    std::size_t& last = reach[{edge.from.index(), edge.bytes.value()}];
    last = std::max(last, edge.to.index());
  }
  for (const auto& [tensor, last] : reach)
    for (std::size_t cut = tensor.first; cut < last; ++cut) bytes[cut] += real(tensor.second);
  return bytes;
}

}  // namespace

TimedPass pass_time(const workload::OpGraph& graph, const cost::OperatorCosts& costs, LayerScheduler& scheduler,
                    const TableOptions& options) {
  const layer_schedule::LayerTime scheduled = scheduler.time(graph, costs);
  TimedPass pass{.time = {.seconds = scheduled.seconds}, .lower_bound = scheduled.lower_bound};
  if (scheduled.proven) pass.lower_bound = scheduled.seconds;
  double communication = 0;
  double operators = 0;
  if (options.communication || costs.chip().calibration.dispatch_seconds > 0) {
    for (std::size_t i = 0; i < graph.size(); ++i) {
      const double seconds = costs.of(graph, workload::OpId(i), costs.all_cores()).seconds;
      if (seconds > 0) ++operators;
      if (std::holds_alternative<workload::Collective>(graph.op(workload::OpId(i)).work)) communication += seconds;
    }
  }
  if (options.communication && communication > 0) {
    // What is left of it beside compute: the time that the pass would save if communication were free.
    const double without = scheduler.time(graph, costs, LayerScheduler::Collectives::kFree).seconds;
    pass.time.communication = std::clamp(pass.time.seconds - without, 0.0, communication);
  }
  const double dispatched = operators * costs.chip().calibration.dispatch_seconds;
  pass.time.seconds = std::max(pass.time.seconds, dispatched);
  pass.lower_bound = std::max(pass.lower_bound, dispatched);
  return pass;
}

LayerPricer::LayerPricer(const LayerGraph& graph)
    : graph_(&graph),
      untimed_{.tensor_parallel = graph.parallel.width,
               .microbatch = graph.microbatch,
               .sequence_parallel = graph.parallel.sequence,
               .cut_bytes = cut_bytes(graph),
               .cut_is_replicated = !graph.parallel.sequence} {
  for (const Layer& layer : graph.layers) {
    const bool again = is_recomputed(graph, layer);
    untimed_.kinds.push_back(untimed_cost(layer, again, graph));
    recomputed_.push_back(
        again ? &selective_.emplace_back(workload::recomputed(layer.forward, workload::Recompute::kSelective))
              : nullptr);
  }
  for (const workload::LayerNode& node : graph.nodes)
    untimed_.nodes.push_back(static_cast<std::uint32_t>(node.layer.index()));
}

LayerPricer::Tables LayerPricer::price(const cost::OperatorCosts& costs, const TableOptions& options) const {
  Tables tables{.times = untimed_, .lower_bounds = untimed_};
  LayerScheduler scheduler(options.schedule, options.states_per_layer, options.engine, options.memo);
  bool proven = true;
  const auto timed = [&](const workload::OpGraph& graph) {
    const TimedPass pass = pass_time(graph, costs, scheduler, options);
    proven = proven && pass.lower_bound == pass.time.seconds;
    return pass;
  };
  const auto least = [](const TimedPass& pass) {
    return PassTime{pass.lower_bound, std::min(pass.lower_bound, pass.time.communication)};
  };
  for (std::size_t i = 0; i < graph_->layers.size(); ++i) {
    const Layer& layer = graph_->layers[i];
    const double accumulation = accumulation_seconds(layer, costs, options);
    const auto fill = [&](LayerCost& cost, const PassTime& forward, const PassTime& backward, const PassTime& again) {
      cost.forward = forward;
      cost.backward = backward;
      cost.backward.seconds += accumulation;
      if (recomputed_[i] == nullptr) return;
      cost.recompute[1] = again.seconds > forward.seconds ? forward : again;
      cost.recompute[2] = forward;
    };
    const TimedPass forward = timed(layer.forward);
    const TimedPass backward = timed(layer.backward);
    const TimedPass again = recomputed_[i] == nullptr ? TimedPass{} : timed(*recomputed_[i]);
    fill(tables.times.kinds[i], forward.time, backward.time, again.time);
    fill(tables.lower_bounds.kinds[i], least(forward), least(backward), least(again));
  }
  if (proven) tables.lower_bounds = {};
  return tables;
}

LayerPricer::Tables LayerPricer::bound(const cost::OperatorCosts& costs, const TableOptions& options,
                                       const Tables& known, const LayerTable& goals) const {
  check(options.engine == schedule::Engine::kExact, "only the exact engine looks for bounds");
  Tables tables = known;
  LayerScheduler scheduler(options.schedule, options.states_per_layer, options.engine, options.memo);
  for (std::size_t i = 0; i < tables.times.kinds.size(); ++i) {
    // `beside` its schedule a pass takes these seconds.
    const auto tighten = [&](const workload::OpGraph& graph, PassTime& least, PassTime& time, const PassTime& goal,
                             double beside) {
      if (least.seconds >= goal.seconds) return;
      const layer_schedule::LayerTime found = scheduler.bound(graph, costs, goal.seconds - beside);
      time.seconds = std::clamp(found.seconds + beside, least.seconds, time.seconds);
      least.seconds = std::clamp(found.lower_bound + beside, least.seconds, time.seconds);
    };
    const Layer& layer = graph_->layers[i];
    LayerCost& least = tables.lower_bounds.kinds[i];
    LayerCost& time = tables.times.kinds[i];
    const LayerCost& goal = goals.kinds[i];
    tighten(layer.forward, least.forward, time.forward, goal.forward, 0);
    tighten(layer.backward, least.backward, time.backward, goal.backward, accumulation_seconds(layer, costs, options));
    if (recomputed_[i] == nullptr) continue;
    tighten(*recomputed_[i], least.recompute[1], time.recompute[1], goal.recompute[1], 0);
    for (LayerCost* cost : {&least, &time}) {
      if (cost->recompute[1].seconds > cost->forward.seconds) cost->recompute[1] = cost->forward;
      cost->recompute[2] = cost->forward;
    }
  }
  return tables;
}

LayerTable layer_table(const LayerGraph& graph, const cost::OperatorCosts& costs, const TableOptions& options) {
  return LayerPricer(graph).price(costs, options).times;
}

}  // namespace phaze::layer_times
