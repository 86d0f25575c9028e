// How fast one model can be trained on one chip: bounds that tighten step by step, down to the best plan.
//
// A configuration is a width, a microbatch and a choice of sequence parallelism: one graph of the workload. Each has a
// least time per batch, at one of five levels:
//
//   kRoofline    layers at their rooflines (roofline.h), placed as placement_bound.h says
//   kPlaced      layers at their rooflines, with the exact placement: pipeline, gradients, optimizer and memory
//   kOperators   the same with products priced by their best mapping on all cores
//   kBounds      the same with the simple bounds on the layers' schedules: every mode of every operator is priced
//   kSchedules   the same with the schedules themselves: the answer
//
// A level never lowers a bound: layer times grow from level to level, and the time of a placement grows with those of
// its layers. A longer pass hides more communication, but never more than it adds; in interleaved pipelines it may, and
// what it could gain there is taken off bounds (Training::least_times). Whether a plan fits the memory does not depend
// on times at all, so a configuration without a plan at kPlaced has none.
//
// The first two levels know of a chip only its peak rates, and chips by the hundred share those: RooflineBounds holds
// them for all.
//
// ChipSearch keeps the configurations of one chip in a queue, the least time first. To tighten the bound, the first
// configuration goes up a level and back into the queue; when the first one is at kSchedules, it is the best of all.
//
// Schedules that are not proven optimal leave a gap between the plan and its bound. Where that gap matters, the search
// is done again with more effort: at effort e the layer scheduler may take kEffort^e times as long. Most plans are then
// known to be too slow to matter, and only their bounds are not. So the first question is whether the bounds can be
// raised as far as it takes, which is a fraction of the way to the schedules at hand (LayerPricer::bound). The best
// schedules are looked for only where that shows a plan that may be fast enough after all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/bytes.h"
#include "phaze/cost/memo.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/layer_times.h"
#include "phaze/layer_times/request.h"
#include "phaze/layer_times/study.h"
#include "phaze/placement/solve.h"
#include "phaze/search/placed.h"
#include "phaze/search/placement_bound.h"
#include "phaze/search/roofline.h"
#include "phaze/search/roofline_bounds.h"

namespace phaze::search {

enum class Level : std::uint8_t { kRoofline, kPlaced, kOperators, kBounds, kSchedules };
inline constexpr std::size_t kLevels = 5;
const char* to_string(Level level);

// What of a model all chips share. The workload must outlive it.
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

// How much longer a layer scheduler may take with each step of effort.
inline constexpr std::uint64_t kEffort = 64;

// The best plan found at kSchedules.
struct Evaluation {
  double seconds = 0;        // per batch
  double least_seconds = 0;  // below it where a schedule is not proven optimal
  std::size_t configuration = 0;
  placement::Strategy strategy;  // of the one table of the configuration
  double peak_memory = 0;        // bytes on the fullest device
  std::uint32_t effort = 0;      // that its schedules took
  bool operator==(const Evaluation&) const = default;
};

void put(ByteWriter& writer, const std::optional<Evaluation>& evaluation);
std::optional<Evaluation> get_evaluation(ByteReader& reader);

class ChipSearch {
 public:
  // Everything given must outlive it. The chip's HBM is the largest capacity to be considered.
  ChipSearch(const ModelProfile& profile, const hardware::Cluster& cluster, cost::Memo& memo);

  // How far it has come, as bytes from which another process can go on to the same end. Nothing where they are damaged.
  std::string save() const;
  static std::optional<ChipSearch> restore(const ModelProfile& profile, const hardware::Cluster& cluster,
                                           cost::Memo& memo, std::string_view saved);

  // Goes on until the bound is at `level` or better, or reaches `enough` seconds: slower plans are of no interest.
  void refine(Level level, double enough);

  // Begins again with this effort, where the search has ended with less of it and a schedule is not proven. What was
  // found stays until there is something better.
  void deepen(std::uint32_t effort);
  bool proven() const;
  std::uint32_t effort() const { return effort_; }

  Level level() const { return level_; }
  double least_seconds() const { return least_seconds_; }  // no plan is faster; infinite where there is none
  bool infeasible() const { return infeasible_; }
  // Once the search has ended at kSchedules, with whatever effort.
  const std::optional<Evaluation>& evaluation() const { return evaluation_; }

  // Plans of the configuration that won, with the request behind them.
  struct Planned {
    placement::Request request;
    placement::Solution solution;
    std::optional<layer_times::StudyPlan> study;  // instead of the solution, under the 2024 profile
    std::uint64_t states_per_layer = 0;           // that its layers were scheduled with
  };
  Planned plans(std::size_t keep) const;

 private:
  struct Entry {
    double seconds = 0;
    std::uint32_t configuration = 0;
    Level level = Level::kRoofline;
  };
  static bool later(const Entry& a, const Entry& b);
  bool raise(const Entry& entry, double best, double enough);
  bool refute(const Entry& entry, double enough);
  bool put_back(Entry entry, Level level, double seconds, double horizon, double limit);
  bool settle(std::size_t configuration, layer_times::LayerPricer::Tables tables, double best, double limit);
  Placed place_least(std::size_t configuration, placement::LayerTable least_times, double below) const;
  Placed place(std::size_t configuration, placement::LayerTable times, double below) const;
  Placed solve(const placement::Request& request, double below) const;
  void end();
  void begin_again();
  void fill_queue();
  cost::OperatorCosts costs() const;

  const ModelProfile* profile_;
  const hardware::Cluster* cluster_;
  cost::Memo* memo_;
  std::shared_ptr<RooflineBounds> rooflines_;
  bool begun_ = false;           // before, nothing but rooflines is known, and the queue is not filled
  std::vector<Entry> queue_;     // a heap
  std::vector<Entry> unproven_;  // at kSchedules, with bounds below their plans
  std::optional<Evaluation> best_;
  double least_best_;  // least_seconds over all configurations at kSchedules
  std::uint32_t effort_ = 0;
  bool again_ = false;  // with more effort, after an evaluation
  double floor_;        // configurations that left the queue because they take `enough` take at least this

  Level level_ = Level::kRoofline;
  double least_seconds_ = 0;
  bool infeasible_ = false;
  std::optional<Evaluation> evaluation_;
};

}  // namespace phaze::search
