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

LayerCost price(const Layer& layer, bool recomputed, const LayerGraph& graph, const cost::OperatorCosts& costs,
                const TableOptions& options, LayerScheduler& scheduler) {
  LayerCost priced;
  priced.name = layer.name;
  priced.forward = pass_time(layer.forward, costs, scheduler);
  priced.backward = pass_time(layer.backward, costs, scheduler);
  const hardware::Chip& chip = costs.chip();
  priced.backward.seconds += real(layer.parameters + layer.tied_parameters) * options.accumulation_bytes /
                             (chip.hbm_bandwidth * chip.calibration.hbm);
  priced.parameters = real(layer.parameters);
  priced.tied_parameters = real(layer.tied_parameters);
  priced.saved.fill(real(layer.saved.none.value()));
  if (!recomputed) return priced;
  using workload::Recompute;
  priced.saved[1] = std::min(priced.saved[0], real(layer.saved.under(Recompute::kSelective).value()));
  // Published formulas count the layer's input whole on every rank; under sequence parallelism each keeps its tokens.
  const double input =
      real(layer.saved.under(Recompute::kFull).value()) / (graph.parallel.sequence ? real(graph.parallel.width) : 1);
  priced.saved[2] = std::min(priced.saved[1], input);
  priced.recompute[1] = pass_time(workload::recomputed(layer.forward, Recompute::kSelective), costs, scheduler);
  priced.recompute[2] = priced.forward;
  if (priced.recompute[1].seconds > priced.recompute[2].seconds) priced.recompute[1] = priced.recompute[2];
  return priced;
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

PassTime pass_time(const workload::OpGraph& graph, const cost::OperatorCosts& costs, LayerScheduler& scheduler) {
  PassTime time{.seconds = scheduler.time(graph, costs, LayerScheduler::Collectives::kTimed).seconds};
  double communication = 0;
  double operators = 0;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const double seconds = costs.of(graph, workload::OpId(i), costs.all_cores()).seconds;
    if (seconds > 0) ++operators;
    if (std::holds_alternative<workload::Collective>(graph.op(workload::OpId(i)).work)) communication += seconds;
  }
  if (communication > 0) {
    // What is left of it beside compute: the time that the pass would save if communication were free.
    const double free = scheduler.time(graph, costs, LayerScheduler::Collectives::kFree).seconds;
    time.communication = std::clamp(time.seconds - free, 0.0, communication);
  }
  time.seconds = std::max(time.seconds, operators * costs.chip().calibration.dispatch_seconds);
  return time;
}

LayerTable layer_table(const LayerGraph& graph, const cost::OperatorCosts& costs, const TableOptions& options) {
  LayerTable table{.tensor_parallel = graph.parallel.width,
                   .microbatch = graph.microbatch,
                   .sequence_parallel = graph.parallel.sequence,
                   .cut_bytes = cut_bytes(graph),
                   .cut_is_replicated = !graph.parallel.sequence};
  LayerScheduler scheduler(options.schedule);
  const bool any_attention = std::ranges::any_of(graph.layers, has_attention_core);
  for (const Layer& layer : graph.layers)
    table.kinds.push_back(price(layer, !any_attention || has_attention_core(layer), graph, costs, options, scheduler));
  for (const workload::LayerNode& node : graph.nodes)
    table.nodes.push_back(static_cast<std::uint32_t>(node.layer.index()));
  return table;
}

}  // namespace phaze::layer_times
