// Instance: operators with modes, resources with capacities, and an order. What the schedulers solve.
//
// Operator i runs once, without a break, in one of its modes; mode m takes p_im seconds and holds r_imk of resource k
// from its start to just before its finish. Operator j starts no earlier than its predecessors finish. At no moment is
// more held of a resource than there is. Wanted: the least time at which all is finished.
//
// Everything is a number in a flat vector, so that one instance can be refilled millions of times without allocating:
//
//   Instance instance;
//   instance.resources = {{"tc", 8}, {"hbm", 1}};
//   const OpId x = instance.add_op("x");
//   instance.add_mode(1.5e-3, std::array{1.0, 0.35});
//   const OpId y = instance.add_op("y");
//   instance.add_mode(2.0e-3, std::array{8.0, 0.20});
//   instance.add_edge(x, y);
//
// The two models of DESIGN are both plain instances. `phaze` (2024): a one-core mode, and an all-core mode that demands
// the whole capacity of every resource and so tolerates nothing beside it. `moldable`: modes of 1, 2, 4, … cores, a
// share of the HBM bandwidth, collectives on a network of their own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/ids.h"
#include "phaze/base/result.h"

namespace phaze::schedule {

using OpId = Id<struct ScheduledOpTag>;

// Demands are real numbers (0.35 of a bandwidth), and sums of them are rounded: three thirds may come out a little
// above one. A set of operators fits a resource when its demands add up to at most capacity · (1 + kCapacityTolerance).
// The validator and the oracles of the tests use exactly this; block.h explains why the solvers agree with it.
inline constexpr double kCapacityTolerance = 1e-9;

// Makespans that differ by less than this fraction count as equal: a schedule is optimal when no other is better by
// more.
inline constexpr double kTimeTolerance = 1e-9;

struct Resource {
  std::string name;
  double capacity = 0;

  bool operator==(const Resource&) const = default;
};

struct Edge {
  OpId from, to;

  bool operator==(const Edge&) const = default;
};

struct Instance {
  std::vector<Resource> resources;
  std::vector<std::string> names;               // of operators; for people
  std::vector<std::uint32_t> mode_offsets{0U};  // operator i has modes mode_offsets[i] .. mode_offsets[i + 1]
  std::vector<double> durations;                // of all modes, in seconds
  std::vector<double> demands;                  // of all modes, one number per resource
  std::vector<Edge> edges;

  std::size_t size() const { return mode_offsets.size() - 1; }
  std::size_t mode_count(OpId op) const { return mode_offsets[op.index() + 1] - mode_offsets[op.index()]; }
  double duration(OpId op, std::size_t mode) const { return durations[mode_offsets[op.index()] + mode]; }
  std::span<const double> demand(OpId op, std::size_t mode) const {
    return std::span<const double>(demands).subspan((mode_offsets[op.index()] + mode) * resources.size(),
                                                    resources.size());
  }
  std::string_view name(OpId op) const { return names[op.index()]; }

  OpId add_op(std::string_view name);
  // A mode of the operator added last. `demand` has a number for every resource.
  void add_mode(double duration, std::span<const double> demand);
  void add_edge(OpId from, OpId to) { edges.push_back({from, to}); }
  // No operators and edges; resources and memory stay.
  void clear();

  bool operator==(const Instance&) const = default;
};

// Capacities, durations and demands are amounts (amount.h), every operator with a mode, every demand within capacity,
// edges between known operators and without a cycle. The place of an error names the operator. What solve() is given
// must pass this.
Status validate(const Instance& instance);

// When and how each operator runs.
struct Placement {
  std::uint32_t mode = 0;
  double start = 0;   // seconds
  double finish = 0;  // start + duration of the mode

  bool operator==(const Placement&) const = default;
};

struct Schedule {
  std::vector<Placement> ops;  // by OpId
  double makespan = 0;         // seconds

  bool operator==(const Schedule&) const = default;
};

}  // namespace phaze::schedule
