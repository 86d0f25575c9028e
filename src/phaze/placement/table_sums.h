// A layer table made ready for questions about any range of its layers, in constant time: sums from prefix sums,
// largest values from a table over powers of two.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "phaze/placement/layers.h"

namespace phaze::placement {

// The largest value of any range of a sequence.
class RangeMax {
 public:
  RangeMax() = default;
  explicit RangeMax(std::vector<double> values);
  // 0 for an empty range.
  double over(std::size_t begin, std::size_t end) const;

 private:
  std::vector<std::vector<double>> levels_;  // levels_[l][i]: the largest of 2^l values from i on
};

class TableSums {
 public:
  explicit TableSums(const LayerTable& table);

  const LayerTable& table() const { return *table_; }
  std::size_t size() const { return table_->size(); }

  double forward(std::size_t begin, std::size_t end) const { return forward_[end] - forward_[begin]; }
  double backward(std::size_t begin, std::size_t end) const { return backward_[end] - backward_[begin]; }
  double recompute(std::size_t policy, std::size_t begin, std::size_t end) const {
    return recompute_[policy][end] - recompute_[policy][begin];
  }
  double saved(std::size_t policy, std::size_t begin, std::size_t end) const {
    return saved_[policy][end] - saved_[policy][begin];
  }
  // What of one layer's activations is not kept and stands in memory while the layer runs again.
  double rerun(std::size_t policy, std::size_t begin, std::size_t end) const { return rerun_[policy].over(begin, end); }
  // A stage without the first node holds a copy of what its layers share with that node.
  double parameters(std::size_t begin, std::size_t end) const {
    const double own = parameters_[end] - parameters_[begin];
    return begin == 0 || !any_tied_ ? own : own + tied_.over(begin, end);
  }
  double largest_layer_parameters(std::size_t begin, std::size_t end) const {
    return layer_parameters_.over(begin, end);
  }
  double tied(std::size_t begin, std::size_t end) const { return any_tied_ ? tied_.over(begin, end) : 0; }

  double heaviest_layer() const { return heaviest_; }  // forward and backward
  double total() const { return forward_.back() + backward_.back(); }

 private:
  const LayerTable* table_;
  std::vector<double> forward_, backward_, parameters_;
  std::array<std::vector<double>, 3> recompute_, saved_;
  std::array<RangeMax, 3> rerun_;
  RangeMax tied_, layer_parameters_;
  bool any_tied_ = false;
  double heaviest_ = 0;
};

}  // namespace phaze::placement
