#include "phaze/hardware/design_space.h"

#include <algorithm>

#include "phaze/hardware/area.h"
#include "phaze/hardware/least_buffers.h"
#include "phaze/hardware/power.h"

namespace phaze::hardware {
namespace {

const Parameter* parameter(std::string_view name) {
  const auto found = find_parameter(name);
  check(static_cast<bool>(found), "a parameter of that name");
  return *found;
}

std::vector<double> powers_of_two_down(int from, int to, double unit) {
  std::vector<double> values;
  for (int exponent = from; exponent >= to; --exponent)
    values.push_back(unit * static_cast<double>(std::int64_t{1} << exponent));
  return values;
}

void apply(const DesignSpace& space, Chip& chip, std::size_t dimension, std::size_t value) {
  space.set(chip, space.dimensions[dimension], space.dimensions[dimension].values[value]);
}

// Above the limits, below them, or kept. Area and power never shrink when a parameter grows, so along one dimension
// with ascending values the three come in the order low, kept, high. Sharing out by a single core breaks that order
// only at the value 1 of a core count, its least, so that this value is looked at apart (count_row).
enum class Side : std::uint8_t { kLow, kKept, kHigh };

Side side(const DesignSpace& space, const Chip& chip) {
  const LeastBuffers buffers = least_buffers(chip);
  if (chip.global_buffer < buffers.global) return Side::kLow;
  // Either end would do: along a dimension that can change this, order_of() lets no side be guessed.
  if (chip.tensor_core_buffer() < buffers.core) return Side::kHigh;
  const Limits& limits = space.limits;
  if (limits.max_tdp_watts && thermal_design_power(chip).total > *limits.max_tdp_watts) return Side::kHigh;
  if (!limits.max_area_um2) return Side::kKept;
  const double area = hardware::area(chip, limits.area_model).total;
  if (area > *limits.max_area_um2) return Side::kHigh;
  const bool single = chip.tensor_cores.count == 1 || chip.vector_cores.count == 1;
  const double least = single ? 0 : limits.min_area_share * *limits.max_area_um2;
  return area < least ? Side::kLow : Side::kKept;
}

// How the innermost dimension may be searched; looked up once, because it can have a million values.
enum class Order : std::uint8_t { kAscending, kDescending, kMixed };

// Core buffers that grow with their array hold it; others, or those of kernels with tiles, may not.
bool core_may_fall_short(const DesignSpace& space) {
  const Parameter* buffer = parameter("core_buffer");
  return space.base.core_buffer > Bytes(0) || space.base.calibration.tile_rows > 0 ||
         std::ranges::find(space.dimensions, buffer, &Dimension::parameter) != space.dimensions.end() ||
         std::ranges::find(space.ties, buffer, &Tie::parameter) != space.ties.end();
}

// Whether a dimension, or what is tied to it, changes core buffers or what they must hold.
bool changes_cores(const DesignSpace& space, const Dimension& dimension) {
  const auto of_cores = [](const Parameter* changed) {
    return changed == parameter("rows") || changed == parameter("cols") || changed == parameter("core_buffer");
  };
  return of_cores(dimension.parameter) || std::ranges::any_of(space.ties, [&](const Tie& tie) {
           return tie.equals == dimension.parameter && of_cores(tie.parameter);
         });
}

Order order_of(const DesignSpace& space, const Dimension& dimension) {
  const std::vector<double>& values = dimension.values;
  if (core_may_fall_short(space) && changes_cores(space, dimension)) return Order::kMixed;
  if (std::ranges::is_sorted(values)) return Order::kAscending;
  return std::ranges::is_sorted(values, std::greater<>()) ? Order::kDescending : Order::kMixed;
}

// How many values of the innermost dimension are kept, by bisection where they are monotone.
std::int64_t count_row(const DesignSpace& space, Chip& chip, Order order) {
  const std::vector<double>& values = space.dimensions.back().values;
  const std::size_t n = values.size();
  // In ascending order of value, if there is one.
  const auto place = [&](std::size_t i) { return order == Order::kDescending ? n - 1 - i : i; };
  const auto side_at = [&](std::size_t i) {
    apply(space, chip, space.dimensions.size() - 1, place(i));
    return side(space, chip);
  };
  std::int64_t kept = 0;
  std::size_t alone = 0;
  while (alone < n && (order == Order::kMixed || values[place(alone)] == 1))
    kept += side_at(alone++) == Side::kKept ? 1 : 0;
  // The first of the others at which `past` holds.
  const auto first = [&](const auto& past) {
    std::size_t low = alone, high = n;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      if (past(side_at(middle)))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  const std::size_t from = first([](Side s) { return s != Side::kLow; });
  const std::size_t to = first([](Side s) { return s == Side::kHigh; });
  return kept + static_cast<std::int64_t>(to - std::min(from, to));
}

// Moves the chip to every choice of values of the dimensions from this one on, the innermost left out, and does `row`
// there until it returns false.
template <typename Row>
bool for_each_row(const DesignSpace& space, Chip& chip, std::size_t dimension, const Row& row) {
  if (dimension + 1 == space.dimensions.size()) return row();
  for (std::size_t i = 0; i < space.dimensions[dimension].values.size(); ++i) {
    apply(space, chip, dimension, i);
    if (!for_each_row(space, chip, dimension + 1, row)) return false;
  }
  return true;
}

// Points that were looked at, a row at a time.
class Passed {
 public:
  Passed(const DesignSpace& space, Progress& progress)
      : row_(static_cast<std::int64_t>(space.dimensions.back().values.size())),
        total_(space.points()),
        progress_(progress) {}
  // False when the work should stop.
  bool one_more_row() { return progress_.advance("points", done_ = saturating_add(done_, row_), total_); }

 private:
  std::int64_t row_, total_, done_ = 0;
  Progress& progress_;
};

}  // namespace

std::int64_t DesignSpace::points() const {
  std::int64_t product = 1;
  for (const Dimension& dimension : dimensions)
    product = saturating_multiply(product, static_cast<std::int64_t>(dimension.values.size()));
  return product;
}

void DesignSpace::set(Chip& chip, const Dimension& dimension, double value) const {
  dimension.parameter->set(chip, value);
  for (const Tie& tie : ties)
    if (tie.equals == dimension.parameter) tie.parameter->set(chip, value);
}

bool DesignSpace::keeps(const Chip& chip) const { return side(*this, chip) == Side::kKept; }

std::optional<std::int64_t> DesignSpace::count_kept(Progress& progress) const {
  Chip chip = base;
  if (dimensions.empty()) return keeps(chip) ? 1 : 0;
  const Order order = order_of(*this, dimensions.back());
  std::int64_t kept = 0;
  Passed passed(*this, progress);
  const bool all = for_each_row(*this, chip, 0, [&] {
    kept = saturating_add(kept, count_row(*this, chip, order));
    return passed.one_more_row();
  });
  if (!all) return std::nullopt;
  return kept;
}

std::int64_t DesignSpace::count_kept() const {
  NoProgress silent;
  return *count_kept(silent);
}

void DesignSpace::for_each_kept(const std::function<bool(const Chip&)>& visit, Progress& progress) const {
  Chip chip = base;
  if (dimensions.empty()) {
    if (keeps(chip)) visit(chip);
    return;
  }
  Passed passed(*this, progress);
  for_each_row(*this, chip, 0, [&] {
    for (std::size_t i = 0; i < dimensions.back().values.size(); ++i) {
      apply(*this, chip, dimensions.size() - 1, i);
      if (keeps(chip) && !visit(chip)) return false;
    }
    return passed.one_more_row();
  });
}

void DesignSpace::for_each_kept(const std::function<bool(const Chip&)>& visit) const {
  NoProgress silent;
  for_each_kept(visit, silent);
}

DesignSpace phaze_space() {
  DesignSpace space;
  space.name = "phaze";
  constexpr double kMiB = 1048576;
  space.dimensions = {{parameter("tensor_cores"), powers_of_two_down(12, 0, 1)},
                      {parameter("vector_cores"), powers_of_two_down(12, 0, 1)},
                      {parameter("rows"), powers_of_two_down(8, 1, 1)},
                      {parameter("cols"), powers_of_two_down(8, 1, 1)},
                      {parameter("glb"), powers_of_two_down(7, 1, kMiB)}};
  space.ties = {{parameter("lanes"), parameter("rows")}};
  // The budget is the area of the TPUv4-like chip, which is the default chip.
  space.limits = {.max_area_um2 = area_phaze22(Chip{}).total, .min_area_share = 0.3};
  return space;
}

}  // namespace phaze::hardware
