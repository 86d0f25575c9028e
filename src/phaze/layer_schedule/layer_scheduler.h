// How long a layer takes on a chip: the makespan of its best schedule, with a bound.
#pragma once

#include <cstdint>

#include "phaze/layer_schedule/layer_instance.h"
#include "phaze/schedule/solve.h"

namespace phaze::layer_schedule {

struct LayerTime {
  double seconds = 0;
  double lower_bound = 0;  // equal to seconds where the schedule is proven optimal
  bool proven = true;
};

// Keeps its memory from layer to layer; one per thread.
class LayerScheduler {
 public:
  explicit LayerScheduler(InstanceOptions options = {}, std::uint64_t states_per_layer = 500,
                          schedule::Engine engine = schedule::Engine::kExact, schedule::BlockMemo* memo = nullptr,
                          double gap = 0)
      : options_(options), states_(states_per_layer), engine_(engine), gap_(gap), solver_(memo, gap) {}

  enum class Collectives : std::uint8_t { kTimed, kFree };

  // On a chip whose operators are kernels that run one after another, their sum.
  LayerTime time(const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                 Collectives collectives = Collectives::kTimed);

  // Only far enough to tell whether a schedule is shorter than `goal` seconds.
  LayerTime bound(const workload::OpGraph& graph, const cost::OperatorCosts& costs, double goal);

  // The instance and solution behind the last answer that needed a schedule.
  const schedule::Instance& instance() const { return instance_; }
  const schedule::Solution& solution() const { return *solution_; }

 private:
  InstanceOptions options_;
  std::uint64_t states_;
  schedule::Engine engine_;
  double gap_;
  schedule::Instance instance_;
  schedule::Solver solver_;
  schedule::Solution ilp_solution_;
  const schedule::Solution* solution_ = nullptr;
};

}  // namespace phaze::layer_schedule
