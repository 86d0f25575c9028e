// The GEMM model behind the 2024 estimates (Sunstone), with the exact minimum over its whole mapping space.
//
// It is here to compare with the literature, not to be believed: core-buffer bandwidth is one number for all cores
// together, tiles must divide the problem, nothing is filled or drained, capacities in bytes are used as words, one
// core buffer is granted to each of three tensors, and DRAM bandwidth is the same for every chip.
//
// A problem of N rows, contraction C and K columns is cut from the inside out, one factor per dimension and level: a
// register tile p; spread over the MAC array, u = p·a; a core-buffer tile q; spread over the cores, v = q·b; a
// global-buffer tile g; the whole. Inputs are re-used along K, weights along N, outputs along C. At each of the three
// boundaries one tensor is stationary and re-used over the tile outside the boundary, the others over the tile inside
// it. Latency is the largest of the array's cycles and of the words over each boundary divided by its bandwidth.
//
// What makes the exact minimum cheap: with q fixed, the inside (p, a, first stationary tensor) and the outside (b, g,
// the other two) share nothing but the product of their parallelism. The inside is a small front of (parallelism,
// words) per q, built over the lattice of divisors; the outside collapses to one number per v, because latency is a
// maximum. Fronts depend on the array's shape alone and the numbers per v on the global buffer alone, so one mapper
// serves a whole design space.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "phaze/cost/estimate.h"
#include "phaze/hardware/chip.h"

namespace phaze::cost {

// In words, as the original uses them.
struct SunstoneCore {
  std::int64_t cores = 1;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  std::int64_t global_buffer_words = 0;
};

// One mapping that reaches the least latency, with the words it moves over the boundaries of core buffers, global
// buffer and DRAM. Extents are of N, C, K.
struct SunstoneMapping {
  using Extents = std::array<std::int64_t, 3>;
  bool feasible = false;
  double cycles = 0;
  Extents array = {1, 1, 1};                   // spread over the multiply-accumulate units
  Extents inside = {1, 1, 1};                  // registers times array
  Extents core = {1, 1, 1};                    // core buffer
  Extents cores = {1, 1, 1};                   // spread over the cores
  Extents global = {1, 1, 1};                  // global buffer
  std::array<std::size_t, 3> stationary = {};  // dimension along which the tensor that stays is re-used
  std::array<double, 3> reads = {};
  std::array<double, 3> writes = {};
  Bound bound_by = Bound::kNothing;
};

std::string describe(const SunstoneMapping& mapping);

// Energy by the figures of the 2024 tool chain at 22 nm: 16-bit words, DRAM at 8 pJ per bit.
double sunstone_joules(const SunstoneMapping& mapping, double macs, const hardware::Chip& chip);

class SunstoneMapper {
 public:
  SunstoneMapper(std::int64_t n, std::int64_t c, std::int64_t k);

  SunstoneMapper(SunstoneMapper&&) noexcept;
  SunstoneMapper& operator=(SunstoneMapper&&) noexcept;
  ~SunstoneMapper();

  // The least latency in cycles. Positive infinity if nothing fits, which needs a global buffer of less than three
  // words.
  double least_cycles(const SunstoneCore& core);

  // A mapping with that latency, found by looking for tiles none of whose terms exceeds it. For people, not for
  // searches.
  SunstoneMapping least_mapping(const SunstoneCore& core);

 private:
  static constexpr std::size_t kDims = 3;  // N, C, K
  using Point = std::uint32_t;             // a triple of divisors

  // A choice that is better with more gain, less cost and less extra.
  struct Option {
    double gain = 0;
    double cost = 0;
    double extra = 0;
  };
  // The undominated options of each point.
  class Fronts;

  // What one array shape offers: the points whose tiles fit the core buffer, in order of the least cycles of the first
  // boundary, and per point and stationary tensor the options of (parallelism, words read of the other tensors, words
  // of outputs written).
  struct Inside;
  // What one global buffer offers: per point v the least of the larger of the two outer boundaries' cycles, and the
  // least over all multiples of the point.
  struct Outside;

  const Inside& inside(std::int64_t rows, std::int64_t cols);
  const Outside& outside(std::int64_t words);
  const std::vector<Point>& core_spreads(std::int64_t cores);
  double finish(Point q, std::span<const Point> spreads, const Inside& options, const Outside& outer,
                double best) const;

  double size(Point point, std::size_t dim) const { return sizes_[dim][point]; }
  double volume(Point point) const { return sizes_[0][point] * sizes_[1][point] * sizes_[2][point]; }
  std::size_t points() const { return sizes_[0].size(); }
  std::size_t coordinate(Point point, std::size_t dim) const { return coordinates_[dim][point]; }
  // The point whose sizes are the products of two points' sizes, or points() if they do not divide the whole.
  Point times(Point a, Point b) const;
  double first_cycles(Point q, std::size_t stationary, const Option& option) const;
  double third_cycles(Point g) const;
  // Factor triples that a grid of x by y units can hold, each dimension's factor shared out over both sides.
  std::vector<Point> spreads(std::int64_t x, std::int64_t y) const;

  std::array<std::int64_t, kDims> whole_;
  double macs_, outputs_;
  std::array<std::vector<std::int64_t>, kDims> divisors_;
  std::array<std::vector<double>, kDims> sizes_;               // of each point
  std::array<std::vector<std::uint16_t>, kDims> coordinates_;  // of each point
  std::array<std::size_t, kDims> stride_{};
  std::array<std::vector<std::vector<std::int32_t>>, kDims> product_;  // index of the product of two divisors, or -1
  std::vector<std::vector<Point>> below_, above_;                      // the points one prime below and above each
  std::map<std::pair<std::int64_t, std::int64_t>, std::unique_ptr<Inside>> inside_;
  std::map<std::int64_t, std::unique_ptr<Outside>> outside_;
  std::map<std::int64_t, std::vector<Point>> core_spreads_;
};

}  // namespace phaze::cost
