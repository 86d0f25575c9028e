#include "phaze/cost/sunstone.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "phaze/base/check.h"

namespace phaze::cost {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Dimensions, and the dimension along which each tensor is re-used: weights along N, outputs along C, inputs along K.
constexpr std::size_t kN = 0;
constexpr std::size_t kC = 1;
constexpr std::size_t kK = 2;

// Words per cycle: core buffers of all cores together, global buffer, DRAM.
constexpr double kCoreBandwidth = 64;
constexpr double kGlobalBandwidth = 256;
constexpr double kDramBandwidth = 128;
constexpr double kRegisterWords = 32;

std::vector<std::int64_t> divisors_of(std::int64_t n) {
  std::vector<std::int64_t> small, large;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    small.push_back(d);
    if (d * d != n) large.push_back(n / d);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

// Whether sizes can be written as products r·c with Πr ≤ x and Πc ≤ y.
bool fits_grid(const std::array<std::int64_t, 3>& sizes, std::int64_t x, std::int64_t y) {
  for (std::int64_t r0 = 1; r0 <= std::min(sizes[0], x); ++r0) {
    if (sizes[0] % r0 != 0 || sizes[0] / r0 > y) continue;
    for (std::int64_t r1 = 1; r1 <= std::min(sizes[1], x / r0); ++r1) {
      if (sizes[1] % r1 != 0) continue;
      const std::int64_t left_x = x / (r0 * r1);
      const std::int64_t left_y = y / (sizes[0] / r0 * (sizes[1] / r1));
      if (left_x == 0 || left_y == 0) continue;
      for (std::int64_t r2 = std::min(sizes[2], left_x); r2 >= 1; --r2)
        if (sizes[2] % r2 == 0 && sizes[2] / r2 <= left_y) return true;
    }
  }
  return false;
}

}  // namespace

// Fronts are merged from those of neighbouring points: gather what they offer, sort, keep what is not dominated.
class SunstoneMapper::Fronts {
 public:
  explicit Fronts(std::size_t count) : from_(count, 0), to_(count, 0) {}

  std::span<const Option> of(std::size_t i) const { return std::span(options_).subspan(from_[i], to_[i] - from_[i]); }

  void gather(const Option& option) { gathered_.push_back(option); }
  void gather(std::span<const Option> options) { gathered_.insert(gathered_.end(), options.begin(), options.end()); }
  // Stores what was gathered as the front of `i`.
  void store(std::size_t i) {
    std::ranges::sort(gathered_, [](const Option& a, const Option& b) {
      return a.gain != b.gain ? a.gain > b.gain : a.cost < b.cost;
    });
    from_[i] = to_[i] = static_cast<std::uint32_t>(options_.size());
    for (const Option& option : gathered_) {
      if (std::ranges::any_of(
              of(i), [&](const Option& kept) { return kept.cost <= option.cost && kept.extra <= option.extra; }))
        continue;
      options_.push_back(option);
      ++to_[i];
    }
    gathered_.clear();
  }

 private:
  std::vector<Option> options_, gathered_;
  std::vector<std::uint32_t> from_, to_;
};

struct SunstoneMapper::Inside {
  std::vector<std::pair<double, Point>> order;  // least cycles of the first boundary, point
  Fronts fronts;
};

struct SunstoneMapper::Outside {
  std::vector<double> cycles, cycles_above;
};

SunstoneMapper::SunstoneMapper(SunstoneMapper&&) noexcept = default;
SunstoneMapper& SunstoneMapper::operator=(SunstoneMapper&&) noexcept = default;
SunstoneMapper::~SunstoneMapper() = default;

SunstoneMapper::SunstoneMapper(std::int64_t n, std::int64_t c, std::int64_t k)
    : whole_{n, c, k},
      macs_(static_cast<double>(n) * static_cast<double>(c) * static_cast<double>(k)),
      outputs_(static_cast<double>(n) * static_cast<double>(k)) {
  check(n > 0 && c > 0 && k > 0, "a product of positive sizes");
  std::array<std::vector<std::vector<std::size_t>>, kDims> prime_steps;  // from each divisor to those one prime above
  for (std::size_t d = 0; d < kDims; ++d) {
    divisors_[d] = divisors_of(whole_[d]);
    const auto& list = divisors_[d];
    prime_steps[d].resize(list.size());
    product_[d].assign(list.size(), std::vector<std::int32_t>(list.size(), -1));
    for (std::size_t i = 0; i < list.size(); ++i)
      for (std::size_t j = 0; j < list.size(); ++j) {
        if (whole_[d] / list[i] % list[j] != 0) continue;
        const auto found = std::ranges::lower_bound(list, list[i] * list[j]) - list.begin();
        product_[d][i][j] = static_cast<std::int32_t>(found);
        if (is_prime(list[j])) prime_steps[d][i].push_back(static_cast<std::size_t>(found));
      }
  }
  stride_ = {divisors_[kC].size() * divisors_[kK].size(), divisors_[kK].size(), 1};
  const std::size_t count = stride_[kN] * divisors_[kN].size();
  below_.resize(count);
  above_.resize(count);
  for (std::size_t d = 0; d < kDims; ++d) {
    sizes_[d].resize(count);
    coordinates_[d].resize(count);
  }
  for (std::size_t point = 0; point < count; ++point)
    for (std::size_t d = 0; d < kDims; ++d) {
      const std::size_t i = point / stride_[d] % divisors_[d].size();
      coordinates_[d][point] = static_cast<std::uint16_t>(i);
      sizes_[d][point] = static_cast<double>(divisors_[d][i]);
      for (const std::size_t next : prime_steps[d][i]) {
        const std::size_t target = point + (next - i) * stride_[d];
        above_[point].push_back(static_cast<Point>(target));
        below_[target].push_back(static_cast<Point>(point));
      }
    }
}

SunstoneMapper::Point SunstoneMapper::times(Point a, Point b) const {
  std::size_t result = 0;
  for (std::size_t d = 0; d < kDims; ++d) {
    const std::int32_t made = product_[d][coordinate(a, d)][coordinate(b, d)];
    if (made < 0) return static_cast<Point>(points());
    result += static_cast<std::size_t>(made) * stride_[d];
  }
  return static_cast<Point>(result);
}

std::vector<SunstoneMapper::Point> SunstoneMapper::spreads(std::int64_t x, std::int64_t y) const {
  std::vector<Point> list;
  for (Point point = 0; point < points(); ++point) {
    if (volume(point) > static_cast<double>(x * y)) continue;
    std::array<std::int64_t, kDims> sizes{};
    for (std::size_t d = 0; d < kDims; ++d) sizes[d] = divisors_[d][coordinate(point, d)];
    if (fits_grid(sizes, x, y)) list.push_back(point);
  }
  return list;
}

double SunstoneMapper::first_cycles(Point q, std::size_t stationary, const Option& option) const {
  const double resident = macs_ / size(q, stationary);
  const double writes = stationary == kC ? resident : option.extra;
  return std::max(option.cost + resident - outputs_, writes) / kCoreBandwidth;
}

double SunstoneMapper::third_cycles(Point g) const {
  double least = kInfinite;
  for (std::size_t stationary = 0; stationary < kDims; ++stationary) {
    std::array<double, kDims> moved{};
    for (std::size_t d = 0; d < kDims; ++d)
      moved[d] = macs_ / (d == stationary ? static_cast<double>(whole_[d]) : size(g, d));
    least = std::min(least, std::max(moved[kN] + moved[kC] + moved[kK] - outputs_, moved[kC]) / kDramBandwidth);
  }
  return least;
}

// Options of q: those of its divisors, and for u = q itself the widest array factor a of u = p·a.
const SunstoneMapper::Inside& SunstoneMapper::inside(std::int64_t rows, std::int64_t cols) {
  auto& entry = inside_[std::minmax(rows, cols)];
  if (entry) return *entry;
  std::vector<Point> registers;
  for (Point p = 0; p < points(); ++p) {
    const double words = size(p, kN) * size(p, kC) + size(p, kC) * size(p, kK) + size(p, kN) * size(p, kK);
    if (words <= kRegisterWords) registers.push_back(p);
  }
  std::vector<double> widest(points(), 0);
  for (const Point a : spreads(rows, cols))
    for (const Point p : registers)
      if (const Point u = times(a, p); u < points()) widest[u] = std::max(widest[u], volume(a));

  entry = std::make_unique<Inside>(Inside{.order = {}, .fronts = Fronts(points() * kDims)});
  Fronts& fronts = entry->fronts;
  // Writes matter only where reads of the other two tensors can be fewer than the results.
  const bool writes_may_bind =
      macs_ / static_cast<double>(whole_[kN]) + macs_ / static_cast<double>(whole_[kK]) < outputs_;
  const double buffer = static_cast<double>(std::max<std::int64_t>(1024, 16 * rows * cols));
  for (Point q = 0; q < points(); ++q) {
    const double n = size(q, kN), c = size(q, kC), k = size(q, kK);
    if (n * c > buffer || c * k > buffer || n * k > buffer) continue;
    double least = kInfinite;
    for (std::size_t stationary = 0; stationary < kDims; ++stationary) {
      for (const Point below : below_[q]) fronts.gather(fronts.of(below * kDims + stationary));
      if (widest[q] > 0) {
        Option own{.gain = widest[q]};
        for (std::size_t d = 0; d < kDims; ++d)
          if (d != stationary) own.cost += macs_ / size(q, d);
        if (writes_may_bind && stationary != kC) own.extra = macs_ / size(q, kC);
        fronts.gather(own);
      }
      fronts.store(q * kDims + stationary);
      for (const Option& option : fronts.of(q * kDims + stationary))
        least = std::min(least, first_cycles(q, stationary, option));
    }
    entry->order.emplace_back(least, q);
  }
  std::ranges::sort(entry->order);
  return *entry;
}

// For each v the best g above it. The third boundary depends on g alone; the second on v, on which tensor is
// stationary, and on g only in that tensor's dimension. So per stationary tensor options of (cycles of the third
// boundary, words of the stationary tensor over the second) are handed down from multiples to divisors.
const SunstoneMapper::Outside& SunstoneMapper::outside(std::int64_t words) {
  auto& entry = outside_[words];
  if (entry) return *entry;
  entry = std::make_unique<Outside>();
  entry->cycles.assign(points(), kInfinite);
  entry->cycles_above.assign(points(), kInfinite);
  Fronts fronts(points() * kDims);
  for (std::size_t i = points(); i-- > 0;) {
    const auto v = static_cast<Point>(i);
    const double n = size(v, kN), c = size(v, kC), k = size(v, kK);
    if (n * c + c * k + n * k > static_cast<double>(words)) continue;
    const double third = third_cycles(v);
    double& least = entry->cycles[v];
    for (std::size_t stationary = 0; stationary < kDims; ++stationary) {
      for (const Point above : above_[v]) fronts.gather(fronts.of(above * kDims + stationary));
      fronts.gather({.gain = -third, .cost = macs_ / size(v, stationary)});
      fronts.store(v * kDims + stationary);
      double others = -outputs_;
      for (std::size_t d = 0; d < kDims; ++d)
        if (d != stationary) others += macs_ / size(v, d);
      for (const Option& option : fronts.of(v * kDims + stationary)) {
        const double writes = stationary == kC ? option.cost : macs_ / size(v, kC);
        least = std::min(least, std::max(std::max(others + option.cost, writes) / kGlobalBandwidth, -option.gain));
      }
    }
    entry->cycles_above[v] = least;
    for (const Point above : above_[v])
      entry->cycles_above[v] = std::min(entry->cycles_above[v], entry->cycles_above[above]);
  }
  return *entry;
}

const std::vector<SunstoneMapper::Point>& SunstoneMapper::core_spreads(std::int64_t cores) {
  const auto [found, fresh] = core_spreads_.try_emplace(cores);
  if (fresh) {
    const auto x = std::int64_t{1} << static_cast<int>(std::ceil(std::log2(static_cast<double>(cores)) / 2));
    found->second = spreads(x, cores / x);
  }
  return found->second;
}

double SunstoneMapper::least_cycles(const SunstoneCore& core) {
  const Inside& options = inside(core.rows, core.cols);
  const Outside& outer = outside(core.global_buffer_words);
  const std::span<const Point> spread = core_spreads(core.cores);
  const double floor = macs_ / static_cast<double>(core.rows * core.cols * core.cores);
  // The tile with the least bound first; then whatever could still beat it. Tiles come in the order of their first
  // boundary, so both sweeps end early.
  double least_bound = kInfinite;
  Point first = 0;
  for (const auto& [cycles, q] : options.order) {
    if (cycles >= least_bound) break;
    const double bound = std::max(cycles, outer.cycles_above[q]);
    if (bound >= least_bound) continue;
    least_bound = bound;
    first = q;
  }
  if (least_bound == kInfinite) return kInfinite;
  double best = finish(first, spread, options, outer, kInfinite);
  for (const auto& [cycles, q] : options.order) {
    if (cycles >= best || best <= std::max(floor, least_bound)) break;
    if (outer.cycles_above[q] < best) best = finish(q, spread, options, outer, best);
  }
  return best;
}

// The best combination for one q that beats `best`: every spread over the cores with the best option inside.
double SunstoneMapper::finish(Point q, std::span<const Point> spread, const Inside& options, const Outside& outer,
                              double best) const {
  for (const Point b : spread) {
    const Point v = times(q, b);
    if (v >= points() || outer.cycles[v] >= best) continue;
    const double cores = volume(b);
    for (std::size_t stationary = 0; stationary < kDims; ++stationary)
      for (const Option& option : options.fronts.of(q * kDims + stationary))
        best = std::min(
            best, std::max({macs_ / (option.gain * cores), first_cycles(q, stationary, option), outer.cycles[v]}));
  }
  return best;
}

}  // namespace phaze::cost
