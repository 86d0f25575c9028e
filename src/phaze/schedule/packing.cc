#include "phaze/schedule/packing.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

constexpr std::size_t kRounds = 4, kRoundsOfAntichains = 12;
// Steps become shorter where they do not help.
constexpr double kSlower = 0.5;
// Where any set that earns enough will do, so many partial sets are looked at before better rents are found.
constexpr std::uint64_t kFewSteps = 60;
// In a wide order a set that earns far too little is of little use: so many, and then more, as long as there is none.
constexpr std::uint64_t kMoreSteps = 500, kMoreStepsGrow = 10;
// The simplex method is for groups of a layer, not for a wide order covered by chains.
constexpr std::size_t kMostRows = 40;
constexpr double kTiny = 1e-12;

}  // namespace

template <std::size_t Words>
void Packing<Words>::prepare(const Block& block, std::size_t most_groups) {
  block_ = &block;
  side_by_side_.find(block, most_groups);
  shares_.resize(block.demands.size());
  for (std::size_t i = 0; i < shares_.size(); ++i)
    shares_[i] = static_cast<double>(block.demands[i]) / static_cast<double>(kCapacityUnits);
  rents_.assign(groups() * block.resources, 0);
  first_shared_.assign(block.mode_offsets.begin(), block.mode_offsets.end() - 1);
  for (std::size_t i = 0; i < block.size; ++i)
    while (first_shared_[i] < block.mode_offsets[i + 1] && block.modes[first_shared_[i]].exclusive) ++first_shared_[i];
  remains_.assign(block.modes.size(), 0);
  op_best_.assign(block.size, 0);
  op_taker_.assign(block.size, 0);
  if (!has_antichains()) heaviest_.prepare(block);
  work_ = side_by_side_.work();
}

// The bound on what a set of the group earns, and what is taken of the resources.
template <std::size_t Words>
double Packing<Words>::charge_rent(std::size_t group, std::span<const double> rates) {
  const std::size_t resources = block_->resources;
  const std::span<const double> rent = rents(group);
  const std::uint32_t begin = side_by_side_.begin(group), end = side_by_side_.end(group);
  taken_.assign(resources, 0);
  double bound = 0;
  for (const double one : rent) bound += one;
  for (std::uint32_t chain = begin; chain < end; ++chain) {
    double most = 0;
    std::size_t taker = rates.size();
    for (const std::uint32_t op : side_by_side_.chain(chain)) {
      const std::size_t first = first_shared(op), last = block_->mode_offsets[op + 1];
      work_ += last - first;
      for (std::size_t m = first; m < last; ++m) {
        if (rates[m] <= most) continue;
        const double remains = remains_of(m, rates[m], rent);
        if (remains <= most) continue;
        most = remains;
        taker = m;
      }
    }
    bound += most;
    if (taker < rates.size())
      for (std::size_t k = 0; k < resources; ++k) taken_[k] += shares_[taker * resources + k];
  }
  return bound;
}

// Of the group's modes, operators and chains, at the rents at hand.
template <std::size_t Words>
void Packing<Words>::set_remains(std::size_t group, std::span<const double> rates) {
  const std::span<const double> rent = rents(group);
  const std::uint32_t begin = side_by_side_.begin(group), end = side_by_side_.end(group);
  chain_best_.assign(end - begin, 0);
  for (std::uint32_t chain = begin; chain < end; ++chain)
    for (const std::uint32_t op : side_by_side_.chain(chain)) {
      const std::size_t first = first_shared(op), last = block_->mode_offsets[op + 1];
      work_ += last - first;
      op_best_[op] = 0;
      for (std::size_t m = first; m < last; ++m) {
        remains_[m] = remains_of(m, rates[m], rent);
        if (remains_[m] <= op_best_[op]) continue;
        op_best_[op] = remains_[m];
        op_taker_[op] = static_cast<std::uint32_t>(m);
      }
      chain_best_[chain - begin] = std::max(chain_best_[chain - begin], op_best_[op]);
    }
}

// A step along the subgradient taken_, by which the bound would fall by `wanted` if it were linear. False if there is
// no way down.
template <std::size_t Words>
bool Packing<Words>::move_rents(std::size_t group, double wanted) {
  const std::span<double> rent = rents(group);
  double length = 0;
  for (std::size_t k = 0; k < rent.size(); ++k)
    if (rent[k] > 0 || taken_[k] > 0) length += taken_[k] * taken_[k];
  if (length < kTiny) return false;
  for (std::size_t k = 0; k < rent.size(); ++k) rent[k] = std::max(0.0, rent[k] + wanted / length * taken_[k]);
  return true;
}

// Towards rents with which no set earns more than `target`. Polyak's steps; the best rents seen stay.
template <std::size_t Words>
double Packing<Words>::follow_subgradients(std::size_t group, std::span<const double> rates, double bound,
                                           double target) {
  const std::span<double> rent = rents(group);
  tried_rents_.assign(rent.begin(), rent.end());
  double best = bound, pace = 1;
  for (std::size_t round = 0; round < kRounds && best > target; ++round) {
    for (double& taken : taken_) taken -= 1;
    if (!move_rents(group, pace * (bound - target))) break;
    bound = charge_rent(group, rates);
    if (bound < best) {
      best = bound;
      std::ranges::copy(rent, tried_rents_.begin());
    } else {
      pace *= kSlower;
    }
  }
  std::ranges::copy(tried_rents_, rent.begin());
  return best;
}

template <std::size_t Words>
double Packing<Words>::most(std::size_t group, std::span<const double> rates) {
  return has_antichains() ? charge_rent(group, rates) : weigh_antichains(group, rates, 0);
}

// Rents with which the heaviest antichain, every operator weighing what remains to it, and the rent of all there is
// add up to as little as can be found, or to the target. That sum is a bound on what a set earns, and far below that of
// chains which know nothing of each other.
template <std::size_t Words>
double Packing<Words>::weigh_antichains(std::size_t group, std::span<const double> rates, double target) {
  const std::size_t resources = block_->resources;
  const std::span<double> rent = rents(group);
  double best = std::numeric_limits<double>::infinity(), pace = 1;
  antichains_.clear();
  for (std::size_t round = 0; round < kRoundsOfAntichains && best > target; ++round) {
    set_remains(group, rates);
    const std::uint64_t before = heaviest_.work();
    double bound = heaviest_.find(op_best_);
    work_ += heaviest_.work() - before;
    for (const double one : rent) bound += one;
    if (bound < best) {
      best = bound;
      tried_rents_.assign(rent.begin(), rent.end());
    } else {
      pace *= kSlower;
    }
    const OpSet<Words>& heaviest = heaviest_.members();
    if (std::ranges::find(antichains_, heaviest) == antichains_.end()) antichains_.push_back(heaviest);
    taken_.assign(resources, -1);
    heaviest.for_each([&](std::size_t op) {
      for (std::size_t k = 0; k < resources; ++k) taken_[k] += shares_[op_taker_[op] * resources + k];
    });
    if (!move_rents(group, pace * (bound - target))) break;
  }
  std::ranges::copy(tried_rents_, rent.begin());
  return best;
}

// The relaxation in which parts of modes may be taken: maximise Σ rate·x with Σ x ≤ 1 for every chain and Σ share·x ≤ 1
// for every resource. Its prices for the resources are the best rents. A row per resource and chain, a column per mode
// and row; what is in the basis at first is the slack of all rows.
template <std::size_t Words>
double Packing<Words>::solve_relaxation(std::size_t group, std::span<const double> rates, double bound) {
  const std::size_t resources = block_->resources;
  const std::uint32_t begin = side_by_side_.begin(group), end = side_by_side_.end(group);
  const std::size_t rows = resources + (end - begin);
  relaxed_.clear();
  if (rows > kMostRows) return bound;
  std::size_t columns = rows + 1;
  for (std::uint32_t chain = begin; chain < end; ++chain)
    for (const std::uint32_t op : side_by_side_.chain(chain))
      columns += block_->mode_offsets[op + 1] - first_shared(op);
  // Columns: slacks, modes, the right-hand side. The last row is the objective.
  tableau_.assign((rows + 1) * columns, 0);
  const auto at = [&](std::size_t row, std::size_t column) -> double& { return tableau_[row * columns + column]; };
  basis_.resize(rows);
  for (std::size_t r = 0; r < rows; ++r) {
    basis_[r] = static_cast<std::uint32_t>(r);
    at(r, r) = 1;
    // Differently for each, against ties that would make it go round in circles.
    at(r, columns - 1) = 1 + 1e-10 * static_cast<double>(r + 1);
  }
  std::size_t column = rows;
  for (std::uint32_t chain = begin; chain < end; ++chain)
    for (const std::uint32_t op : side_by_side_.chain(chain))
      for (std::size_t m = first_shared(op); m < block_->mode_offsets[op + 1]; ++m, ++column) {
        for (std::size_t k = 0; k < resources; ++k) at(k, column) = shares_[m * resources + k];
        at(resources + (chain - begin), column) = 1;
        at(rows, column) = -rates[m];
      }
  for (std::size_t pivots = 0; pivots < 8 * rows; ++pivots) {
    work_ += columns * 4;
    std::size_t entering = columns - 1;
    double least = -kTiny;
    for (std::size_t c = 0; c + 1 < columns; ++c)
      if (at(rows, c) < least) {
        least = at(rows, c);
        entering = c;
      }
    if (entering + 1 == columns) break;
    std::size_t leaving = rows;
    double least_ratio = 0;
    for (std::size_t r = 0; r < rows; ++r) {
      if (at(r, entering) <= 1e-11) continue;
      const double ratio = at(r, columns - 1) / at(r, entering);
      if (leaving < rows && ratio >= least_ratio) continue;
      least_ratio = ratio;
      leaving = r;
    }
    if (leaving == rows) break;
    double* const pivot_row = &at(leaving, 0);
    const double scale = 1 / pivot_row[entering];
    for (std::size_t c = 0; c < columns; ++c) pivot_row[c] *= scale;
    for (std::size_t r = 0; r <= rows; ++r) {
      double* const row = &at(r, 0);
      const double factor = row[entering];
      if (r == leaving || factor == 0) continue;
      for (std::size_t c = 0; c < columns; ++c) row[c] -= factor * pivot_row[c];
    }
    basis_[leaving] = static_cast<std::uint32_t>(entering);
  }
  relaxed_.clear();
  column = rows;
  for (std::uint32_t chain = begin; chain < end; ++chain)
    for (const std::uint32_t op : side_by_side_.chain(chain))
      for (std::uint32_t m = first_shared(op); m < block_->mode_offsets[op + 1]; ++m, ++column)
        for (std::size_t r = 0; r < rows; ++r)
          if (basis_[r] == column) relaxed_.push_back({op, m, at(r, columns - 1)});
  const std::span<double> rent = rents(group);
  tried_rents_.assign(rent.begin(), rent.end());
  for (std::size_t k = 0; k < resources; ++k) rent[k] = std::max(0.0, at(rows, k));
  const double better = charge_rent(group, rates);
  if (better <= bound) return better;
  std::ranges::copy(tried_rents_, rent.begin());
  return bound;
}

// What remains at most to the chains from there on, when only these operators may be taken.
template <std::size_t Words>
double Packing<Words>::best_of(std::size_t at, const OpSet<Words>& candidates) {
  double sum = 0;
  for (; at < order_.size(); ++at)
    for (const std::uint32_t op : by_best(order_[at])) {
      ++work_;
      if (!candidates.contains(op)) continue;
      sum += op_best_[op];
      break;
    }
  return sum;
}

template <std::size_t Words>
void Packing<Words>::search(std::size_t at, const OpSet<Words>& candidates, double earned, double potential) {
  if (earned > best_earned_) {
    best_earned_ = earned;
    best_ = chosen_;
  }
  if (at == order_.size() || cut_short_) return;
  if (std::min(earned + rate_suffix_[at], potential + best_suffix_[at]) <= best_earned_ + kTiny) return;
  if (!side_by_side_.are_antichains() && potential + best_of(at, candidates) <= best_earned_ + kTiny) return;
  if (++steps_ > most_steps_) {
    cut_short_ = true;
    return;
  }
  const std::size_t resources = block_->resources;
  for (const std::uint32_t op : by_best(order_[at])) {
    if (!candidates.contains(op)) continue;
    work_ += block_->mode_offsets[op + 1] - first_shared(op);
    for (std::uint32_t m = first_shared(op); m < block_->mode_offsets[op + 1]; ++m) {
      const double then_earned = earned + rates_[m], then = potential + remains_[m];
      if (std::min(then_earned + rate_suffix_[at + 1], then + best_suffix_[at + 1]) <= best_earned_ + kTiny) continue;
      const Units* demand = block_->demand(m);
      bool fits = true;
      for (std::size_t k = 0; k < resources; ++k) fits = fits && demand[k] <= left_[k];
      if (!fits) continue;
      for (std::size_t k = 0; k < resources; ++k) left_[k] -= demand[k];
      chosen_.push_back({op, m, 1});
      search(at + 1, candidates & side_by_side_.beside(op), then_earned, then);
      chosen_.pop_back();
      for (std::size_t k = 0; k < resources; ++k) left_[k] += demand[k];
    }
  }
  search(at + 1, candidates, earned, potential);
}

// True if all sets were looked at.
template <std::size_t Words>
bool Packing<Words>::search_group(std::size_t group, std::span<const double> rates, double floor,
                                  std::uint64_t most_steps, const std::optional<OpSet<Words>>& only) {
  const std::uint32_t begin = side_by_side_.begin(group), end = side_by_side_.end(group);
  rates_ = rates;
  set_remains(group, rates);
  chain_rate_.assign(end - begin, 0);
  OpSet<Words> candidates;
  for (std::uint32_t chain = begin; chain < end; ++chain) {
    for (const std::uint32_t op : side_by_side_.chain(chain)) {
      candidates.insert(op);
      for (std::size_t m = first_shared(op); m < block_->mode_offsets[op + 1]; ++m)
        chain_rate_[chain - begin] = std::max(chain_rate_[chain - begin], rates[m]);
    }
  }
  order_by_falling([&](std::uint32_t chain) { return chain_rate_[chain]; }, end - begin, order_);
  by_best_.clear();
  chain_begins_.assign(1, 0);
  for (std::uint32_t chain = begin; chain < end; ++chain) {
    std::ranges::copy(side_by_side_.chain(chain), std::back_inserter(by_best_));
    std::ranges::sort(std::span(by_best_).subspan(chain_begins_.back()), [&](std::uint32_t a, std::uint32_t b) {
      return op_best_[a] != op_best_[b] ? op_best_[a] > op_best_[b] : a < b;
    });
    chain_begins_.push_back(static_cast<std::uint32_t>(by_best_.size()));
  }
  best_suffix_.assign(order_.size() + 1, 0);
  rate_suffix_.assign(order_.size() + 1, 0);
  for (std::size_t i = order_.size(); i-- > 0;) {
    best_suffix_[i] = best_suffix_[i + 1] + chain_best_[order_[i]];
    rate_suffix_[i] = rate_suffix_[i + 1] + chain_rate_[order_[i]];
  }
  double rent = 0;
  for (const double one : rents(group)) rent += one;
  left_.assign(block_->resources, kCapacityUnits);
  best_.clear();
  chosen_.clear();
  best_earned_ = floor;
  steps_ = 0;
  most_steps_ = most_steps;
  cut_short_ = false;
  search(0, only.value_or(candidates), 0, rent);
  return !cut_short_;
}

template <std::size_t Words>
typename Packing<Words>::Answer Packing<Words>::price(std::size_t group, std::span<const double> rates, double floor,
                                                      std::uint64_t most_steps) {
  best_.clear();
  return has_antichains() ? price_antichain(group, rates, floor, most_steps)
                          : price_wide_order(group, rates, floor, most_steps);
}

template <std::size_t Words>
typename Packing<Words>::Answer Packing<Words>::price_antichain(std::size_t group, std::span<const double> rates,
                                                                double floor, std::uint64_t most_steps) {
  double bound = charge_rent(group, rates);
  if (bound > floor) bound = follow_subgradients(group, rates, bound, floor);
  if (bound <= floor) return {.most = bound};
  if (search_group(group, rates, floor, kFewSteps)) return {.most = best_earned_, .found = !best_.empty()};
  if (!best_.empty()) return {.most = bound, .found = true};
  bound = solve_relaxation(group, rates, bound);
  if (bound <= floor) return {.most = bound};
  if (search_group(group, rates, floor, most_steps)) return {.most = best_earned_, .found = !best_.empty()};
  if (best_.empty()) {
    double relaxed = 0;
    for (const Choice& choice : relaxed_) relaxed += choice.part * rates[choice.mode];
    if (relaxed > floor) best_ = relaxed_;
  }
  return {.most = bound, .found = !best_.empty()};
}

template <std::size_t Words>
typename Packing<Words>::Answer Packing<Words>::price_wide_order(std::size_t group, std::span<const double> rates,
                                                                 double floor, std::uint64_t most_steps) {
  double bound = charge_rent(group, rates);
  if (bound <= floor) return {.most = bound};
  if (search_group(group, rates, floor, kFewSteps)) return {.most = best_earned_, .found = !best_.empty()};
  if (!best_.empty()) return {.most = bound, .found = true};
  bound = weigh_antichains(group, rates, floor);
  if (bound <= floor) return {.most = bound};
  // What earns most is mostly a part of one of the heaviest antichains, and soon found there.
  best_earned_ = floor;
  for (const OpSet<Words>& antichain : antichains_) {
    found_ = best_;
    search_group(group, rates, best_earned_, kMoreSteps, antichain);
    if (best_.empty()) best_ = found_;
  }
  if (!best_.empty()) return {.most = bound, .found = true};
  for (std::uint64_t steps = kMoreSteps;; steps *= kMoreStepsGrow) {
    if (search_group(group, rates, floor, std::min(steps, most_steps)))
      return {.most = best_earned_, .found = !best_.empty()};
    if (!best_.empty() || steps >= most_steps) return {.most = bound, .found = !best_.empty()};
  }
}

template <std::size_t Words>
void Packing<Words>::lift(std::span<double> rates) {
  const std::size_t resources = block_->resources;
  std::vector<double> lifted(rates.size(), std::numeric_limits<double>::infinity());
  for (std::size_t group = 0; group < groups(); ++group) {
    // By how much the sum above exceeds one: nobody may claim that.
    const double beyond = std::max(0.0, charge_rent(group, rates) - 1);
    set_remains(group, rates);
    const std::span<const double> rent = rents(group);
    const std::uint32_t begin = side_by_side_.begin(group), end = side_by_side_.end(group);
    for (std::uint32_t chain = begin; chain < end; ++chain)
      for (const std::uint32_t op : side_by_side_.chain(chain))
        for (std::size_t m = first_shared(op); m < block_->mode_offsets[op + 1]; ++m) {
          double claim = chain_best_[chain - begin] - beyond;
          for (std::size_t k = 0; k < resources; ++k) claim += rent[k] * shares_[m * resources + k];
          lifted[m] = std::min(lifted[m], std::max(rates[m], claim));
        }
  }
  // Beside an exclusive mode nobody claims anything.
  for (std::size_t m = 0; m < rates.size(); ++m) rates[m] = block_->modes[m].exclusive ? 1 : lifted[m];
}

template <std::size_t Words>
void Packing<Words>::scale_rents(double factor) {
  for (double& rent : rents_) rent *= factor;
}

template class Packing<1>;
template class Packing<2>;
template class Packing<4>;

}  // namespace phaze::schedule
