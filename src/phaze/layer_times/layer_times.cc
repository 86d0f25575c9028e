#include "phaze/layer_times/layer_times.h"

#include <algorithm>
#include <map>
#include <utility>

namespace phaze::layer_times {
namespace {

using layer_schedule::LayerScheduler;
using placement::LayerCost;
using placement::LayerTable;
using placement::PassTime;
using workload::Layer;
using workload::LayerGraph;

double real(std::int64_t value) { return static_cast<double>(value); }

bool has_attention_core(const Layer& layer) {
  return std::ranges::any_of(layer.forward.ops(), [](const workload::Op& op) { return op.attention_core; });
}

LayerCost untimed(const Layer& layer, bool recomputed, const LayerGraph& graph) {
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

void price(const Layer& layer, bool recomputed, const cost::OperatorCosts& costs, const TableOptions& options,
           LayerScheduler& scheduler, LayerCost& priced, bool* proven) {
  priced.forward = pass_time(layer.forward, costs, scheduler, options, proven);
  priced.backward = pass_time(layer.backward, costs, scheduler, options, proven);
  const hardware::Chip& chip = costs.chip();
  priced.backward.seconds += real(layer.parameters + layer.tied_parameters) * options.accumulation_bytes /
                             (chip.hbm_bandwidth * chip.calibration.hbm);
  if (!recomputed) return;
  using workload::Recompute;
  priced.recompute[1] =
      pass_time(workload::recomputed(layer.forward, Recompute::kSelective), costs, scheduler, options, proven);
  priced.recompute[2] = priced.forward;
  if (priced.recompute[1].seconds > priced.recompute[2].seconds) priced.recompute[1] = priced.recompute[2];
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

PassTime pass_time(const workload::OpGraph& graph, const cost::OperatorCosts& costs, LayerScheduler& scheduler,
                   const TableOptions& options, bool* proven) {
  const auto seconds_of = [&](LayerScheduler::Collectives collectives) {
    const layer_schedule::LayerTime time = scheduler.time(graph, costs, collectives);
    if (proven != nullptr) *proven = *proven && time.proven;
    return options.lower_bounds ? time.lower_bound : time.seconds;
  };
  PassTime time{.seconds = seconds_of(LayerScheduler::Collectives::kTimed)};
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
    time.communication = std::clamp(time.seconds - seconds_of(LayerScheduler::Collectives::kFree), 0.0, communication);
  }
  time.seconds = std::max(time.seconds, operators * costs.chip().calibration.dispatch_seconds);
  return time;
}

LayerTable untimed_table(const LayerGraph& graph) {
  LayerTable table{.tensor_parallel = graph.parallel.width,
                   .microbatch = graph.microbatch,
                   .sequence_parallel = graph.parallel.sequence,
                   .cut_bytes = cut_bytes(graph),
                   .cut_is_replicated = !graph.parallel.sequence};
  for (const Layer& layer : graph.layers) table.kinds.push_back(untimed(layer, is_recomputed(graph, layer), graph));
  for (const workload::LayerNode& node : graph.nodes)
    table.nodes.push_back(static_cast<std::uint32_t>(node.layer.index()));
  return table;
}

LayerTable layer_table(const LayerGraph& graph, const cost::OperatorCosts& costs, const TableOptions& options,
                       bool* proven) {
  LayerTable table = untimed_table(graph);
  LayerScheduler scheduler(options.schedule, options.states_per_layer);
  for (std::size_t i = 0; i < graph.layers.size(); ++i)
    price(graph.layers[i], is_recomputed(graph, graph.layers[i]), costs, options, scheduler, table.kinds[i], proven);
  return table;
}

}  // namespace phaze::layer_times
