// Random forward graphs for property tests: every run with the same seed gives the same graph.
#pragma once

#include <cstdint>

#include "phaze/workload/op_graph.h"

namespace phaze::workload::testing {

// A layer of up to `most_ops` operators on an input of [rows, cols]: products with weights and with activations,
// element-wise operators with one and two operands, norms, softmax, dropout, views.
OpGraph random_layer(std::uint64_t seed, int most_ops = 14);

// reachable[i][j]: operator j lies behind operator i.
std::vector<std::vector<bool>> reachability(const OpGraph& graph);

}  // namespace phaze::workload::testing
