// How fast one model can be trained on one chip: bounds that tighten step by step (level.h), down to the best plan.
//
// ChipSearch keeps the configurations of one chip in a queue, the least time per batch first. To tighten the bound, the
// first configuration goes up a level and back into the queue; when the first one is at kSchedules, it is the best of
// all.
//
// Schedules that are not proven optimal leave a gap between the plan and its bound. Where that gap matters, the search
// is done again with more effort, for which the layer scheduler may take longer (model_profile.h). Most plans are then
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
#include "phaze/layer_times/study.h"
#include "phaze/placement/solve.h"
#include "phaze/search/joint_goals.h"
#include "phaze/search/level.h"
#include "phaze/search/model_profile.h"

namespace phaze::search {

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

  // Begins again with this effort, where the search has ended with no more of it and a schedule is not proven. What was
  // found stays until there is something better. With the same effort as before it makes sense only for another
  // `enough`: standing() says what was not reached.
  void deepen(std::uint32_t effort);
  bool proven() const;
  Standing standing() const;

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
  void end(double enough);
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
  double failed_;       // seconds that the bound did not reach with this effort
  double floor_;        // configurations that left the queue because they take `enough` take at least this

  Level level_ = Level::kRoofline;
  double least_seconds_ = 0;
  bool infeasible_ = false;
  std::optional<Evaluation> evaluation_;
};

}  // namespace phaze::search
