#include "phaze/search/model_profile.h"

#include <algorithm>
#include <compare>
#include <map>
#include <mutex>
#include <utility>

#include "phaze/base/units.h"
#include "phaze/layer_times/study.h"
#include "phaze/placement/solve.h"
#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using placement::kNever;

}  // namespace

// What the bounds of rooflines depend on.
struct RooflineKey {
  Rates rates;
  double memory = 0;
  double step_seconds = 0;
  auto operator<=>(const RooflineKey&) const = default;
};

struct ModelProfile::Shared {
  std::mutex mutex;
  std::map<RooflineKey, std::shared_ptr<RooflineBounds>> bounds;
  std::map<std::pair<std::size_t, double>, bool> has_plan;  // by configuration and memory
  PlacedMemo placements;
};

ModelProfile::ModelProfile(const layer_times::Workload& workload, std::int64_t devices,
                           const hardware::Network& network, bool kernels, std::uint64_t states_per_layer,
                           const cost::SunstoneTable* sunstone, schedule::BlockMemo* schedules)
    : workload_(&workload),
      states_per_layer_(states_per_layer),
      sunstone_(sunstone),
      schedules_(schedules),
      shared_(std::make_shared<Shared>()) {
  const double bytes = layer_times::accumulation_bytes(workload.training.states);
  configurations_.reserve(workload.graphs.size());
  for (const workload::LayerGraph& graph : workload.graphs) {
    auto pricer = std::make_unique<layer_times::LayerPricer>(graph);
    PlacementBound bound(pricer->untimed(), workload.training, devices, network);
    Configuration configuration{.pricer = std::move(pricer), .bound = std::move(bound)};
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
      const workload::Layer& layer = graph.layers[i];
      const workload::OpGraph* again = configuration.pricer->recomputed(i);
      configuration.layers.push_back(
          {.forward = {layer.forward, network, kernels},
           .backward = {layer.backward, network, kernels},
           .recomputed = again == nullptr ? std::nullopt : std::optional<PassProfile>({*again, network, kernels}),
           .accumulated_bytes = real(layer.parameters + layer.tied_parameters) * bytes});
    }
    configurations_.push_back(std::move(configuration));
  }
}

layer_times::TableOptions ModelProfile::table_options(std::uint32_t effort) const {
  layer_times::TableOptions options = layer_times::table_options(*workload_);
  options.states_per_layer = states_per_layer_;
  for (std::uint32_t step = 0; step < effort; ++step)
    options.states_per_layer *= step == 0 ? kLittleEffort : kMoreEffort;
  options.engine = workload_->options.solver;
  options.memo = schedules_;
  return options;
}

cost::CostOptions ModelProfile::cost_options(const hardware::Cluster& cluster) const {
  return layer_times::cost_options(workload_->options, cluster, sunstone_);
}

// In the schedules of 2024 operators side by side do not share the bandwidth of memory, and Sunstone has one of its
// own, so that bytes bound nothing there. PlacementBound holds as it is: for the same layers, stages and replicas, a
// batch takes (m + s − 1)·max L ≥ (m − 1)·max L + Σ L there, L counts arrivals from both sides too (gradients that
// arrive while a stage recomputes take no less than without recompute), and gradients cost four times what bounds them.
Rates ModelProfile::rates(const hardware::Chip& chip) const {
  Rates rates = rates_of(chip);
  if (study()) rates.bytes = kNever;
  return rates;
}

double ModelProfile::least_seconds(std::size_t c, const Rates& rates) const {
  const Configuration& configuration = configurations_[c];
  thread_local std::vector<double> scratch;
  thread_local std::vector<PlacementBound::Times> times;
  times.clear();
  for (const Layer& layer : configuration.layers)
    times.push_back({layer.forward.least_seconds(rates, nullptr, scratch),
                     layer.backward.least_seconds(rates, nullptr, scratch) + layer.accumulated_bytes / rates.bytes});
  return configuration.bound.least_seconds(times, kNever) * kStillABound;
}

double ModelProfile::least_seconds(std::size_t c, const placement::LayerTable& least_times, double below) const {
  thread_local std::vector<PlacementBound::Times> times;
  times.clear();
  for (const placement::LayerCost& kind : least_times.kinds)
    times.push_back({kind.forward.seconds, kind.backward.seconds});
  return configurations_[c].bound.least_seconds(times, below / kStillABound) * kStillABound;
}

placement::LayerTable ModelProfile::least_table(std::size_t c, const Rates& rates,
                                                const cost::OperatorCosts* costs) const {
  const Configuration& configuration = configurations_[c];
  placement::LayerTable table = configuration.pricer->untimed();
  std::vector<double> scratch;
  for (std::size_t i = 0; i < configuration.layers.size(); ++i) {
    const Layer& layer = configuration.layers[i];
    placement::LayerCost& cost = table.kinds[i];
    cost.forward.seconds = layer.forward.least_seconds(rates, costs, scratch) * kStillABound;
    cost.backward.seconds =
        (layer.backward.least_seconds(rates, costs, scratch) + layer.accumulated_bytes / rates.bytes) * kStillABound;
    if (!layer.recomputed) continue;
    cost.recompute[2] = cost.forward;
    cost.recompute[1].seconds =
        std::min(cost.forward.seconds, layer.recomputed->least_seconds(rates, costs, scratch) * kStillABound);
  }
  return table;
}

std::shared_ptr<RooflineBounds> ModelProfile::roofline_bounds(const hardware::Cluster& cluster) const {
  const placement::Request request = layer_times::empty_request(*workload_, cluster);
  const RooflineKey key{rates(cluster.chip), request.devices.memory, request.devices.step_seconds_per_parameter};
  const std::lock_guard lock(shared_->mutex);
  auto& bounds = shared_->bounds[key];
  if (bounds == nullptr) {
    std::vector<double> closed_form;
    closed_form.reserve(size());
    for (std::size_t c = 0; c < size(); ++c) closed_form.push_back(least_seconds(c, key.rates));
    bounds = std::make_shared<RooflineBounds>(std::move(closed_form));
  }
  return bounds;
}

bool ModelProfile::has_plan(std::size_t c, const hardware::Cluster& cluster) const {
  placement::Request request = layer_times::empty_request(*workload_, cluster);
  const std::pair key(c, request.devices.memory);
  {
    const std::lock_guard lock(shared_->mutex);
    if (const auto known = shared_->has_plan.find(key); known != shared_->has_plan.end()) return known->second;
  }
  request.tables.push_back(pricer(c).untimed());
  const bool found = study() ? layer_times::best_study_plan(request).has_value() : placement::has_plan(request);
  const std::lock_guard lock(shared_->mutex);
  shared_->has_plan[key] = found;
  return found;
}

PlacedMemo& ModelProfile::placements() const { return shared_->placements; }

}  // namespace phaze::search
