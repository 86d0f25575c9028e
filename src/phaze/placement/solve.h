// The best plan of a request.
//
// Best first. Groups of strategies (strategies.h) wait in a queue in the order of a bound: from their work alone at
// first; when one comes to the front, from the costs that all of the group exceed, by a bound on its partitions
// (partition_bound), and then by the best of them (partition.h); then it is divided, until a single strategy comes to
// the front and is solved exactly over ZeRO levels and orders. When the bound at the front reaches the worst of the
// `keep` best so far, nothing that is left can be among them. Nothing is sampled, and the statistics account for every
// strategy.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/placement/evaluate.h"
#include "phaze/placement/plan.h"
#include "phaze/placement/training.h"

namespace phaze::placement {

struct Options {
  std::size_t keep = 8;     // how many strategies, the best first; each with its best ZeRO level, order and cuts
  bool exhaustive = false;  // solve all, whatever their bounds: the same answer
  // Only plans that take less than this many seconds are wanted; without one the answer is "infeasible".
  double below = std::numeric_limits<double>::infinity();
};

enum class Termination : std::uint8_t { kOptimal, kInfeasible, kStopped };

struct Statistics {
  std::int64_t strategies = 0;
  std::int64_t solved = 0;  // of them; the rest was pruned by its bound
};

struct Ranked {
  Plan plan;
  Evaluation evaluation;  // by the checker
};

struct Solution {
  Termination termination = Termination::kInfeasible;
  std::vector<Ranked> plans;  // the best first
  Statistics statistics;
};

// `request` must pass validate().
Solution solve(const Request& request, const Options& options, Progress& progress);

// Whether any plan fits. Memory alone decides that, whatever the times of the layers.
bool has_plan(const Request& request);

// Why nothing fits, and the smallest change that would lift it.
struct Shortage {
  std::string reason;
  double sufficient_memory = 0;         // per device with the devices given; 0: none would do
  std::int64_t sufficient_devices = 0;  // with the memory given; 0: none up to 2^20 would do
};
Shortage explain(const Request& request);

}  // namespace phaze::placement
