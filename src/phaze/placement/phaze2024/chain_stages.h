// The stages of a chain: all intervals of its nodes, with their loads and depths in tables.
//
// In a chain each node has an edge from the one before it; further edges may skip ahead. A stage is an interval
// [first, last], a state the number of nodes placed. The rules, node by node, are recurrences in the interval:
//
//   forward(i,j)  = max(forward(i,j-1), arrival(i,j)) + f_j,   arrival(i,j)   = slowest edge into j from before i
//   backward(i,j) = max(backward(i+1,j), departure(i,j)) + b_i, departure(i,j) = slowest edge out of i to beyond j
//
// for node j starts when node j-1 ended (there is that edge) and its inputs from outside are there. The recomputing
// backward pass starts after the bare forward pass F(i,j) = f_i + ... + f_j. A pass that is delayed at the start to F
// is max(F + B(i,j), backward(i,j)), with B the bare sum: unrolled, backward(i,j) is the maximum of B(i,j) and of
// departure(v,j) + B(i,v) over v; starting at F only replaces the first term by F + B(i,j).
//
// All tables are made in O(n^2 + n * edges), each entry in O(1) from its neighbours, adding in the order in which the
// rules add, so that sums are the same to the last bit as those of the node-by-node definition (the recomputing pass:
// but for one rounding). Intervals that fit into no device at any depth are left out: with `lowest` the first i that
// fits, column j holds i = lowest..j.
//
// A row of the search is then n loops without branches over a column.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/placement/phaze2024/graph.h"
#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

class ChainStages {
 public:
  // graph.is_chain()
  ChainStages(const Instance& instance, const Graph& graph);

  std::size_t states() const { return nodes_ + 1; }
  void row(std::size_t k, double cap, const double* same, const double* fewer, double* out) const;

  void most_single_row(std::size_t k, double limit, const double* fewer, double* out) const;

  template <typename Visit>
  void each(std::size_t state, std::size_t k, Visit visit) const {
    for (std::size_t last = state; last < nodes_ && state >= lowest_[last]; ++last) {
      const std::size_t at = column_[last] + state;
      if (deepest_[at] < static_cast<double>(k)) continue;
      visit(static_cast<std::uint32_t>(last + 1), k == 1 ? load_last_[at] : loads()[at], is_single(state, last),
            parameters_[at]);
    }
  }

 private:
  struct Column;  // what is known of [i, j] for one j and all i

  const std::vector<double>& loads() const { return recompute_ ? load_ : load_last_; }
  // The columns j that can matter in a row, with the least i that can: calls f(j, i) where i <= j.
  template <typename Visit>
  void columns(std::size_t k, double cap, Visit visit) const;
  bool is_single(std::size_t first, std::size_t last) const { return first >= single_from_[last]; }

  std::size_t nodes_ = 0;
  bool recompute_ = false;
  std::vector<std::size_t> lowest_;       // by j: the least i for which [i, j] fits into a device
  std::vector<std::size_t> column_;       // by j: where [0, j] would be in the tables
  std::vector<std::size_t> single_from_;  // by j: the least i for which [i, j] holds no tensor-parallel node
  std::vector<double> seconds_;           // bare forward and backward seconds of all nodes before
  // By interval: load as the last stage, load as any other if that recomputes, bytes of parameters, and the largest k
  // such that it fits as the k-th stage from the end (a double, so that the row compares without converting).
  std::vector<double> load_last_, load_, parameters_, deepest_;
};

}  // namespace phaze::placement::phaze2024
