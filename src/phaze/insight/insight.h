// Why this chip: what its neighbours would give, how busy it is, where its area goes and what binds its layers.
//
//   search::ChipEvaluator evaluator(problem);
//   const Insight insight = explain(space, problem, chip, {0, 1}, evaluator, progress);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/hardware/area.h"
#include "phaze/hardware/design_space.h"
#include "phaze/search/chip_evaluator.h"

namespace phaze::insight {

// The chip with one parameter moved to the next value of its dimension, and whatever is tied to it.
struct Neighbour {
  std::string parameter;
  std::string from, to;  // values, as files write them
  bool allowed = true;   // within the limits of the space
  std::string limit;     // the limit it breaks
  double area_um2 = 0;
  double score = 0;  // 0: no plan
  double ratio = 0;  // to the chip's own score
};

// Fractions of the time of a schedule that a resource is held, of all its units.
struct Busy {
  double tensor = 0;
  double vector = 0;
  double hbm = 0;
  double network = 0;
};

// A pass over one of the distinct layers of a model.
struct PassInsight {
  std::string layer;
  std::int64_t repeat = 1;
  bool backward = false;
  double seconds = 0;
  std::string bound_by;    // what binds most of the time of its operators
  double bound_share = 0;  // how much of it
  Busy busy;
};

struct ModelInsight {
  std::string model;
  std::int64_t tensor_parallel = 1, microbatch = 1;
  double throughput = 0;
  // Of all devices over a whole batch: work at peak rates over the time it takes. Recomputed work does not count.
  double tensor_utilisation = 0;
  double vector_utilisation = 0;
  std::vector<PassInsight> passes;
};

struct Insight {
  hardware::Chip chip;
  double score = 0;
  hardware::Area area;
  double largest_area = 0;  // of the space; 0: no limit
  std::vector<Neighbour> neighbours;
  std::vector<ModelInsight> models;
};

// One step down and up in every dimension of the space, in its order. Those outside the limits are evaluated too: what
// would be gained is what the limit costs. The chip's own `score` is compared with what neighbours reach at least, with
// less effort than it was found with.
std::vector<Neighbour> neighbours(const hardware::DesignSpace& space, const search::Problem& problem,
                                  const hardware::Chip& chip, double score, const std::vector<std::size_t>& models,
                                  search::ChipEvaluator& evaluator, Progress& progress);

// What binds the layers of a graph on a chip.
std::vector<PassInsight> passes(const workload::LayerGraph& graph, const cost::OperatorCosts& costs,
                                const layer_schedule::InstanceOptions& schedule, std::uint64_t states_per_layer);

Insight explain(const hardware::DesignSpace& space, const search::Problem& problem, const hardware::Chip& chip,
                const std::vector<std::size_t>& models, search::ChipEvaluator& evaluator, Progress& progress);

}  // namespace phaze::insight
