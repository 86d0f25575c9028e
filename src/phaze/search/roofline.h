// Least times of layers that need no mapping and no schedule: what the work of a pass takes at the peak rates of a
// chip.
//
// A pass takes at least
//   - the longest path through its operators, each at least max(multiply-accumulates / peak, vector cycles / lanes,
//     compulsory bytes / HBM bandwidth, communication), all cores its own;
//   - the whole of its multiply-accumulates at peak, of its vector cycles on all lanes, of its bytes at full bandwidth,
//     of its communication on the one network: each is a resource that no schedule uses more than all of.
// With operator costs, the products on a path take what their best mapping on all cores takes; more cores never make a
// product slower, so that no mode is faster. Everything else about an operator was counted once, when the profile was
// made; a pass then costs about a nanosecond per operator and bound.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "phaze/cost/op_cost.h"
#include "phaze/hardware/network.h"
#include "phaze/workload/layer_graph.h"

namespace phaze::search {

// Work per second of a whole chip.
struct Rates {
  double macs = 0;
  double vector_cycles = 0;
  double bytes = 0;
  double start_seconds = 0;
  auto operator<=>(const Rates&) const = default;
};
Rates rates_of(const hardware::Chip& chip);

class PassProfile {
 public:
  // `kernels`: the chips run kernels of plain instructions (a GPU), which fuse and count otherwise.
  PassProfile(const workload::OpGraph& graph, const hardware::Network& network, bool kernels);

  // Seconds that the pass takes at least. `costs`, if given, prices the products. `scratch` is overwritten.
  double least_seconds(const Rates& rates, const cost::OperatorCosts* costs, std::vector<double>& scratch) const;

 private:
  struct OpWork {
    double macs = 0;
    double vector_cycles = 0;
    double bytes = 0;
    double communication = 0;  // seconds
    bool timed = false;        // takes its start, too
    bool mapped = false;       // has a cost that depends on a mapping
  };

  const workload::OpGraph* graph_;
  std::vector<OpWork> ops_;
  double macs_ = 0, vector_cycles_ = 0, bytes_ = 0, communication_ = 0;
};

}  // namespace phaze::search
