#include "phaze/schedule/antichain.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "phaze/base/hash.h"

namespace phaze::schedule {
namespace {

// Prices are good enough at first, and at last, when no set earns more than this a tick. In the end what the bound
// lacks for it is less than what schedules may differ by (kTimeTolerance).
constexpr double kRoughly = 1 + 1e-5, kExactly = 1 + 2e-10;
// A search for a set looks at most at this many partial sets, in an antichain or in a whole wide order.
constexpr std::uint64_t kMostSteps = 1000, kMostStepsOfWide = 50'000;
// So many modes that are looked at cost a unit of the budget, as does a pivot.
constexpr std::uint64_t kModesPerUnit = 512, kStepsPerUnit = 64;
// The part of the budget that the bound may take, and the most units with any: a few tenths of a second.
constexpr std::uint64_t kPartOfBudget = 4, kMostUnits = 100'000;
constexpr double kTiny = 1e-10;
constexpr double kUnknown = std::numeric_limits<double>::infinity();
// Prices follow the basis pivot by pivot, and are computed anew after so many, before rounding errors add up.
constexpr std::uint64_t kPivotsToFollow = 16;
// What is less than nothing: in ticks a tick, and in ticks beyond what rounding leaves.
constexpr double kNegative = 1e-12, kNoise = 100;

}  // namespace

template <std::size_t Words>
void AntichainBound<Words>::begin(const Block& block) {
  packing_.prepare(block);
  const std::size_t n = size_ = block.size;
  pivots_ = 0;
  bound_ = 0;
  entries_.clear();
  column_offsets_.assign(1, 0);
  // The first basis: every operator alone in its fastest mode.
  inverse_.assign(n * n, 0);
  level_.assign(n, 0);
  basis_.resize(n);
  in_basis_.clear();
  for (std::uint32_t i = 0; i < n; ++i) {
    basis_[i] = {.column = i};
    entries_.push_back({i, 1 / static_cast<double>(block.fastest[i])});
    end_column();
    in_basis_[i] = 1;
    inverse_[i * n + i] = static_cast<double>(block.fastest[i]);
    // A little more than the whole of each operator, differently for each: ties between basic solutions would make the
    // simplex go round in circles. Prices are a worth whatever the right-hand sides are.
    const double nudge = 1e-9 * static_cast<double>(mix(i) >> 11U) * 0x1p-53;
    level_[i] = static_cast<double>(block.fastest[i]) * (1 + nudge);
  }
  worth_.assign(n, 0);
  direction_.assign(n, 0);
  of_basis_.assign(n, 0);
  prices_.assign(n, 0);
}

template <std::size_t Words>
void AntichainBound<Words>::end_column() {
  column_offsets_.push_back(static_cast<std::uint32_t>(entries_.size()));
  in_basis_.push_back(0);
}

template <std::size_t Words>
double AntichainBound<Words>::earned(std::size_t column, std::span<const double> prices) const {
  double sum = 0;
  for (std::uint32_t e = column_offsets_[column]; e < column_offsets_[column + 1]; ++e)
    sum += prices[entries_[e].op] * entries_[e].part;
  return sum;
}

// Sets of the basis earn one, and what is done too much of is worth nothing. The inverse has gathered rounding errors:
// what sets of the basis fall short of one is made up for.
template <std::size_t Words>
void AntichainBound<Words>::set_prices() {
  std::ranges::fill(of_basis_, 0);
  const auto add_row = [&](std::size_t r, double factor) {
    const double* row = inverse_.data() + r * size_;
    for (std::size_t c = 0; c < size_; ++c) of_basis_[c] += factor * row[c];
  };
  for (std::size_t r = 0; r < size_; ++r)
    if (!basis_[r].slack) add_row(r, 1);
  missing_.resize(size_);
  for (std::size_t r = 0; r < size_; ++r)
    missing_[r] =
        basis_[r].slack ? of_basis_[basis_[r].column] * basis_[r].scale : 1 - earned(basis_[r].column, of_basis_);
  for (std::size_t r = 0; r < size_; ++r) add_row(r, missing_[r]);
}

template <std::size_t Words>
void AntichainBound<Words>::clamp_prices() {
  for (std::size_t i = 0; i < size_; ++i) prices_[i] = std::max(0.0, of_basis_[i]);
}

template <std::size_t Words>
void AntichainBound<Words>::set_rates(const Block& block) {
  rates_.resize(block.modes.size());
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
      rates_[m] = prices_[i] / static_cast<double>(block.modes[m].duration);
}

// What an operator earns at most when it runs alone.
template <std::size_t Words>
double AntichainBound<Words>::most_alone(const Block& block) const {
  double most = 0;
  for (std::size_t i = 0; i < size_; ++i) most = std::max(most, prices_[i] / static_cast<double>(block.fastest[i]));
  return most;
}

// Worth cannot be negative: more of an operator may be done than is needed.
template <std::size_t Words>
bool AntichainBound<Words>::pivot_if_negative(const Block& block) {
  std::size_t negative = size_;
  double least = -kNegative;
  for (std::size_t i = 0; i < size_; ++i) {
    const double rate = of_basis_[i] / static_cast<double>(block.fastest[i]);
    if (rate >= least || of_basis_[i] >= -kNoise) continue;
    least = rate;
    negative = i;
  }
  if (negative == size_) return false;
  // Scaled like the other columns, so that rounding errors stay small beside one.
  const double scale = -1 / static_cast<double>(block.fastest[negative]);
  for (std::size_t r = 0; r < size_; ++r) direction_[r] = inverse_[r * size_ + negative] * scale;
  return pivot({.column = static_cast<std::uint32_t>(negative), .slack = true, .scale = -scale}, least);
}

// What runs changes at starts and finishes.
template <std::size_t Words>
void AntichainBound<Words>::add_columns_of(const Block& block, const BlockSchedule& schedule) {
  const auto finish = [&](const BlockPlacement& placed) { return placed.start + block.modes[placed.mode].duration; };
  const auto add_column_at = [&](Ticks now) {
    for (std::uint32_t i = 0; i < size_; ++i) {
      const BlockPlacement& placed = schedule.ops[i];
      if (placed.start <= now && now < finish(placed))
        entries_.push_back({i, 1 / static_cast<double>(block.modes[placed.mode].duration)});
    }
    end_column();
  };
  for (const BlockPlacement& placed : schedule.ops) {
    add_column_at(placed.start);
    add_column_at(finish(placed));
  }
}

template <std::size_t Words>
void AntichainBound<Words>::add_best_column(const Block& block) {
  for (const auto& choice : packing_.best())
    entries_.push_back({choice.op, choice.part / static_cast<double>(block.modes[choice.mode].duration)});
  end_column();
}

template <std::size_t Words>
std::size_t AntichainBound<Words>::best_column(double floor) const {
  std::size_t best = columns();
  double most = floor;
  for (std::size_t column = 0; column < columns(); ++column) {
    if (in_basis_[column] != 0) continue;
    const double earns = earned(column, prices_);
    if (earns <= most) continue;
    most = earns;
    best = column;
  }
  return best;
}

template <std::size_t Words>
bool AntichainBound<Words>::enter(std::size_t column) {
  for (std::size_t r = 0; r < size_; ++r) {
    double sum = 0;
    for (std::uint32_t e = column_offsets_[column]; e < column_offsets_[column + 1]; ++e)
      sum += inverse_[r * size_ + entries_[e].op] * entries_[e].part;
    direction_[r] = sum;
  }
  return pivot({.column = static_cast<std::uint32_t>(column)}, 1 - earned(column, of_basis_));
}

// Brings the column of which direction_ is the product with the inverse into the basis. False if rounding errors leave
// no row for it: the LP itself is bounded. By the prices so far the column earns too little by `shortfall`.
template <std::size_t Words>
bool AntichainBound<Words>::pivot(const Basic& entering, double shortfall) {
  const std::size_t n = size_;
  std::size_t leaving = n;
  double least = 0;
  for (std::size_t r = 0; r < n; ++r) {
    if (direction_[r] <= kTiny) continue;
    const double ratio = level_[r] / direction_[r];
    if (leaving == n || ratio < least - kTiny || (ratio < least + kTiny && direction_[r] > direction_[leaving])) {
      least = std::min(leaving == n ? ratio : least, ratio);
      leaving = r;
    }
  }
  if (leaving == n) return false;
  const double step = std::max(0.0, level_[leaving] / direction_[leaving]);
  const double scale = 1 / direction_[leaving];
  double* row = inverse_.data() + leaving * n;
  for (std::size_t c = 0; c < n; ++c) row[c] *= scale;
  for (std::size_t r = 0; r < n; ++r) {
    if (r == leaving || direction_[r] == 0) continue;
    level_[r] = std::max(0.0, level_[r] - step * direction_[r]);
    double* other = inverse_.data() + r * n;
    for (std::size_t c = 0; c < n; ++c) other[c] -= direction_[r] * row[c];
  }
  level_[leaving] = step;
  if (!basis_[leaving].slack) in_basis_[basis_[leaving].column] = 0;
  if (!entering.slack) in_basis_[entering.column] = 1;
  basis_[leaving] = entering;
  if (++pivots_ % kPivotsToFollow == 0)
    set_prices();
  else
    for (std::size_t c = 0; c < n; ++c) of_basis_[c] += shortfall * row[c];
  return true;
}

template <std::size_t Words>
void AntichainBound<Words>::take_worth(double earned) {
  const double divisor = std::max(1.0, earned) * (1 + 1e-12);
  const double total = std::accumulate(prices_.begin(), prices_.end(), 0.0) / divisor;
  if (total <= bound_) return;
  bound_ = total;
  for (std::size_t i = 0; i < size_; ++i) worth_[i] = prices_[i] / divisor;
}

template <std::size_t Words>
double AntichainBound<Words>::solve(const Block& block, const BlockSchedule& schedule, double enough, Stop& stop) {
  begin(block);
  add_columns_of(block, schedule);
  const std::uint64_t most_pivots = (packing_.has_antichains() ? 40 : 150) * size_ + 200;
  const std::uint64_t budget = std::min(stop.work_left() / kPartOfBudget, kMostUnits);
  std::uint64_t spent = 0;
  const auto spend = [&] {
    const std::uint64_t now = pivots_ + packing_.work() / kModesPerUnit;
    const bool goes_on = stop.spend(now - spent) && now <= budget && pivots_ < most_pivots;
    spent = now;
    return goes_on;
  };
  double floor = kRoughly;
  std::size_t group = 0;   // the next to be asked
  std::size_t silent = 0;  // groups in a row that had no set, since the prices changed
  // What no set of a group earns more than at the prices at hand, as far as it has been asked.
  most_of_group_.assign(packing_.groups(), kUnknown);
  set_prices();
  clamp_prices();
  set_rates(block);
  double most_earned = most_alone(block);
  while (spend()) {
    const std::size_t column = silent == 0 ? best_column(floor) : columns();
    typename Packing<Words>::Answer answer;
    if (column == columns() && most_of_group_[group] <= floor) {
      answer.most = most_of_group_[group];
    } else if (column == columns()) {
      const std::uint64_t most_steps = packing_.has_antichains() ? kMostSteps : kMostStepsOfWide;
      answer = packing_.price(group, rates_, floor, std::min(most_steps, (budget - spent) * kStepsPerUnit));
      if (!packing_.has_antichains()) take_worth(std::max(most_alone(block), answer.most));
      most_of_group_[group] = answer.most;
      if (answer.found) add_best_column(block);
    }
    if (column < columns()) {
      if (!enter(column)) break;
      while (pivot_if_negative(block) && spend()) {
      }
      clamp_prices();
      set_rates(block);
      std::ranges::fill(most_of_group_, kUnknown);
      silent = 0;
      most_earned = most_alone(block);
      continue;
    }
    most_earned = std::max(most_earned, answer.most);
    group = (group + 1) % packing_.groups();
    if (++silent < packing_.groups()) continue;
    take_worth(most_earned);
    // A search that was cut short will be again.
    if (floor == kExactly || most_earned > floor || bound_ >= enough) break;
    floor = kExactly;
    silent = 0;
    most_earned = most_alone(block);
  }
  if (silent < packing_.groups() && bound_ < enough) {
    for (std::size_t g = 0; g < packing_.groups(); ++g) most_earned = std::max(most_earned, packing_.most(g, rates_));
    take_worth(most_earned);
  }
  const double total = std::accumulate(prices_.begin(), prices_.end(), 0.0);
  if (total > 0) packing_.scale_rents(bound_ / total);
  prices_ = worth_;
  set_rates(block);
  return bound_;
}

template class AntichainBound<1>;
template class AntichainBound<2>;
template class AntichainBound<4>;

}  // namespace phaze::schedule
