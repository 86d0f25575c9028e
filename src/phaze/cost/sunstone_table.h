// Sunstone's least cycles of products on all arrays of a design space, each product mapped once for all of them.
//
// A mapper spends most of its time on what chips share (sunstone.h), and keeps megabytes per array shape. So the first
// question about a product is answered for every array at once, and the mapper is let go: some 10 µs and eight bytes
// for each array and product.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "phaze/cost/sunstone.h"
#include "phaze/hardware/chip.h"

namespace phaze::cost {

class SunstoneTable {
 public:
  // For these chips, with one tensor core at work or all of them.
  explicit SunstoneTable(const std::vector<hardware::Chip>& chips);
  ~SunstoneTable();

  // N rows, contraction C, K columns, on so many cores of the chip. Nothing where that is none of the arrays. May be
  // asked from many threads.
  std::optional<double> least_cycles(std::int64_t n, std::int64_t c, std::int64_t k, const hardware::Chip& chip,
                                     std::int64_t cores) const;

 private:
  using Array = std::array<std::int64_t, 4>;    // cores, rows, cols, words of the global buffer
  using Product = std::array<std::int64_t, 3>;  // N, C, K
  struct Row;

  Row& row(const Product& product) const;

  std::map<Array, std::size_t> arrays_;  // to their place in a row
  mutable std::mutex mutex_;
  mutable std::map<Product, std::unique_ptr<Row>> rows_;
};

}  // namespace phaze::cost
