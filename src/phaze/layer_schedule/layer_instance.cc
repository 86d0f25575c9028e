#include "phaze/layer_schedule/layer_instance.h"

#include <algorithm>
#include <array>
#include <variant>

#include "phaze/base/units.h"

namespace phaze::layer_schedule {
namespace {

using cost::Cores;
using workload::OpGraph;
using workload::OpId;

constexpr std::size_t kNetwork = 2;
constexpr std::size_t kHbm = 3;   // or, on a chip that runs one operator at a time,
constexpr std::size_t kChip = 3;  // the chip
using Demand = std::array<double, 4>;

// Which kinds of cores an operator needs.
struct Needs {
  bool tensor = false;
  bool vector = false;
};

Needs needs_of(const OpGraph& graph, OpId op) {
  const workload::Work& work = graph.op(op).work;
  if (std::holds_alternative<workload::Gemm>(work)) return {true, !graph.fused(op).empty()};
  if (std::holds_alternative<workload::Attention>(work)) return {true, true};
  if (std::holds_alternative<workload::VectorWork>(work)) return {false, true};
  return {};
}

class Filler {
 public:
  Filler(const OpGraph& graph, const cost::OperatorCosts& costs, const InstanceOptions& options,
         schedule::Instance& instance)
      : graph_(graph),
        costs_(costs),
        options_(options),
        instance_(instance),
        all_(costs.all_cores()),
        serial_(costs.chip().calibration.serial),
        shares_hbm_(!serial_ && options.model == ScheduleModel::kMoldable && options.share_hbm),
        bandwidth_(costs.chip().hbm_bandwidth * costs.chip().calibration.hbm),
        // Bandwidth comes last, so that the models without it have a prefix of the resources.
        capacity_{real(all_.tensor), real(all_.vector), 1, 1} {}

  void fill() {
    instance_.clear();
    instance_.resources.resize(shares_hbm_ || serial_ ? 4 : 3);
    const std::array<const char*, 4> names = {"tensor", "vector", "network", serial_ ? "chip" : "hbm"};
    for (std::size_t k = 0; k < instance_.resources.size(); ++k) {
      instance_.resources[k].name = names[k];
      instance_.resources[k].capacity = capacity_[k];
    }
    for (std::size_t i = 0; i < graph_.size(); ++i) add(OpId(i));
    for (std::size_t i = 0; i < graph_.size(); ++i)
      for (const OpId next : graph_.successors(OpId(i)))
        instance_.add_edge(schedule::OpId(i), schedule::OpId(next.index()));
  }

 private:
  void add(OpId op) {
    instance_.add_op(graph_.name(op));
    const workload::Work& work = graph_.op(op).work;
    if (workload::is_nop(work)) return instance_.add_mode(0, demand_of({}));
    if (serial_) return add_alone(op);
    if (std::holds_alternative<workload::Collective>(work)) {
      Demand demand{};
      demand[kNetwork] = 1;
      return instance_.add_mode(costs_.of(graph_, op, {}).seconds, demand_of(demand));
    }
    const Needs needs = needs_of(graph_, op);
    if (options_.model == ScheduleModel::kPhaze) {
      add_mode(op, {needs.tensor ? 1 : 0, needs.vector ? 1 : 0}, false);
      add_mode(op, {needs.tensor ? all_.tensor : 0, needs.vector ? all_.vector : 0}, true);
      return;
    }
    const std::int64_t most = needs.tensor ? all_.tensor : all_.vector;
    if (needs.tensor && needs.vector && vector_share(1) > 1) add_mode(op, {1, 1}, false);
    for (std::int64_t cores = 1;; cores = std::min(2 * cores, most)) {
      const std::int64_t vector = !needs.vector ? 0 : needs.tensor ? vector_share(cores) : cores;
      add_mode(op, {needs.tensor ? cores : 0, vector}, false);
      if (cores == most) break;
    }
  }

  void add_alone(OpId op) {
    const Needs needs = needs_of(graph_, op);
    Demand demand = {needs.tensor ? capacity_[0] : 0, needs.vector ? capacity_[1] : 0, 0, 0};
    if (std::holds_alternative<workload::Collective>(graph_.op(op).work)) demand[kNetwork] = 1;
    demand[kChip] = 1;
    instance_.add_mode(costs_.of(graph_, op, all_).seconds, demand_of(demand));
  }

  // Vector cores that go with so many tensor cores.
  std::int64_t vector_share(std::int64_t tensor) const { return ceil_divide(tensor * all_.vector, all_.tensor); }

  void add_mode(OpId op, const Cores& cores, bool alone) {
    const cost::Estimate estimate = costs_.of(graph_, op, cores);
    Demand demand = {real(cores.tensor), real(cores.vector), 0, 0};
    if (shares_hbm_ && estimate.seconds > 0)
      demand[kHbm] = std::min(1.0, estimate.hbm_bytes / (estimate.seconds * bandwidth_));
    if (alone) demand = capacity_;
    instance_.add_mode(estimate.seconds, demand_of(demand));
  }

  std::span<const double> demand_of(const Demand& demand) {
    demand_ = demand;
    return std::span<const double>(demand_).first(instance_.resources.size());
  }

  const OpGraph& graph_;
  const cost::OperatorCosts& costs_;
  InstanceOptions options_;
  schedule::Instance& instance_;
  Cores all_;
  bool serial_;
  bool shares_hbm_;
  double bandwidth_;
  Demand capacity_;
  Demand demand_{};
};

}  // namespace

void fill_instance(const OpGraph& graph, const cost::OperatorCosts& costs, const InstanceOptions& options,
                   schedule::Instance& instance) {
  Filler(graph, costs, options, instance).fill();
}

}  // namespace phaze::layer_schedule
