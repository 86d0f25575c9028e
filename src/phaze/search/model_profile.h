// What of a model all chips share: its layers' rooflines, what bounds its placements, and what chips have asked before.
//
// A configuration is a width, a microbatch and a choice of sequence parallelism: one graph of the workload.
//
// The first two levels of a bound (level.h) know of a chip only its peak rates, and chips by the hundred share those:
// RooflineBounds holds them for all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/layer_times.h"
#include "phaze/layer_times/request.h"
#include "phaze/search/placed.h"
#include "phaze/search/placement_bound.h"
#include "phaze/search/roofline.h"
#include "phaze/search/roofline_bounds.h"

namespace phaze::search {

// How much longer a layer scheduler may take with a little effort, and with each step more of it.
inline constexpr std::uint64_t kLittleEffort = 96, kMoreEffort = 64;

// Sums of the same numbers in another order differ in their last digits; times this, a bound stays one.
inline constexpr double kStillABound = 1 - 1e-12;

// The workload must outlive it.
class ModelProfile {
 public:
  // `kernels` as for PassProfile.
  // `sunstone` serves workloads of the 2024 profile faster where there are many chips, `schedules` all others. Both
  // must outlive the profile.
  ModelProfile(const layer_times::Workload& workload, std::int64_t devices, const hardware::Network& network,
               bool kernels, std::uint64_t states_per_layer = 20'000, const cost::SunstoneTable* sunstone = nullptr,
               schedule::BlockMemo* schedules = nullptr);

  // How operators are priced and layers scheduled for this model.
  cost::CostOptions cost_options(const hardware::Cluster& cluster) const;
  layer_times::TableOptions table_options(std::uint32_t effort) const;
  // Rates that bound this model's layers on a chip.
  Rates rates(const hardware::Chip& chip) const;
  // Whether plans are those of 2024.
  bool study() const { return workload_->options.profile == layer_times::Profile::kPhaze2024; }

  const layer_times::Workload& workload() const { return *workload_; }
  std::size_t size() const { return configurations_.size(); }
  const layer_times::LayerPricer& pricer(std::size_t c) const { return *configurations_[c].pricer; }

  // Least times of the layers of configuration c on a chip, as a table for placement.
  placement::LayerTable least_table(std::size_t c, const Rates& rates, const cost::OperatorCosts* costs) const;
  // Least seconds per batch by rooflines alone.
  double least_seconds(std::size_t c, const Rates& rates) const;
  // The same for layers that take no less than those of a table; infinite where that is `below` or more.
  double least_seconds(std::size_t c, const placement::LayerTable& least_times, double below) const;

  // Whether any plan of configuration c fits the memory of the devices, which does not depend on how fast they are.
  bool has_plan(std::size_t c, const hardware::Cluster& cluster) const;
  // Those of all chips with the peak rates and the memory of this one.
  std::shared_ptr<RooflineBounds> roofline_bounds(const hardware::Cluster& cluster) const;
  // What the chips ask for.
  PlacedMemo& placements() const;

 private:
  struct Layer {
    PassProfile forward, backward;
    std::optional<PassProfile> recomputed;  // under selective recompute
    double accumulated_bytes = 0;
  };
  struct Configuration {
    std::unique_ptr<layer_times::LayerPricer> pricer;
    std::vector<Layer> layers;
    PlacementBound bound;
  };
  struct Shared;

  const layer_times::Workload* workload_;
  std::uint64_t states_per_layer_;
  const cost::SunstoneTable* sunstone_;
  schedule::BlockMemo* schedules_;
  std::vector<Configuration> configurations_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace phaze::search
