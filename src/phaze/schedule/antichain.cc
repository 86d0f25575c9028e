#include "phaze/schedule/antichain.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace phaze::schedule {
namespace {

// A search for the best set looks at most at this many partial sets: a few where any good one will do, more where a
// proof that there is none is wanted.
constexpr std::uint64_t kFewSteps = 500;
constexpr std::uint64_t kLiftSteps = 60;
constexpr std::uint64_t kMostStepsOfLargeBlocks = 50'000;
// A whole solve() looks at most at this many, a millisecond of small blocks and a fraction of a second of large ones;
// wide blocks of many modes have no end of them.
constexpr std::uint64_t kMostStepsAltogether = 30'000;
constexpr std::uint64_t kMostStepsAltogetherOfLargeBlocks = 2'000'000;
// With a small budget the search that follows makes more of the time: so many steps for each unit of it.
constexpr std::uint64_t kStepsPerUnit = 4;
constexpr std::size_t kRentRounds = 8;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Prices are good enough when no set earns more than this a tick.
constexpr double kEnough = 1 + 1e-7;
constexpr double kTiny = 1e-10;

}  // namespace

template <std::size_t Words>
void AntichainBound<Words>::cover_by_chains(const Block& block) {
  const std::size_t n = block.size;
  beside_.assign(n, {});
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!block.precedes(j, i)) {
        beside_[i].insert(j);
        beside_[j].insert(i);
      }
  // Greedily: an operator goes to the chain whose end stands latest among those that precede it.
  std::vector<std::uint32_t>& chain_of = chain_members_;
  chain_of.assign(n, 0);
  std::size_t chains = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t best = chains;
    bool open_taken = false;
    for (std::size_t j = i; j-- > 0 && !open_taken;) {
      if (!block.precedes(j, i)) continue;
      bool last = true;
      for (std::size_t later = j + 1; later < i && last; ++later) last = chain_of[later] != chain_of[j];
      if (last) {
        best = chain_of[j];
        open_taken = true;
      }
    }
    if (!open_taken) ++chains;
    chain_of[i] = static_cast<std::uint32_t>(best);
  }
  chain_offsets_.assign(chains + 1, 0);
  for (std::size_t i = 0; i < n; ++i) ++chain_offsets_[chain_of[i] + 1];
  std::partial_sum(chain_offsets_.begin(), chain_offsets_.end(), chain_offsets_.begin());
  std::vector<std::uint32_t> members(n);
  std::vector<std::uint32_t> next(chain_offsets_.begin(), chain_offsets_.end() - 1);
  for (std::size_t i = 0; i < n; ++i) members[next[chain_of[i]]++] = static_cast<std::uint32_t>(i);
  chain_members_ = std::move(members);
}

template <std::size_t Words>
void AntichainBound<Words>::set_shares(const Block& block) {
  shares_.resize(block.demands.size());
  for (std::size_t i = 0; i < shares_.size(); ++i)
    shares_[i] = static_cast<double>(block.demands[i]) / static_cast<double>(kCapacityUnits);
  rents_.assign(block.resources, 0);
}

template <std::size_t Words>
void AntichainBound<Words>::set_rates(const Block& block) {
  rates_.resize(block.modes.size());
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
      rates_[m] = prices_[i] / static_cast<double>(block.modes[m].duration);
}

// The most that chains from `chain` on can still earn. One operator each gives the sum of the chains' best rates. If
// modes pay rent for what they hold, at any prices, they earn what they pay, at most the rent of all that is left, and
// what remains to them (Lagrange).
template <std::size_t Words>
double AntichainBound<Words>::still(const Block& block, std::size_t chain) const {
  double rent = after_rent_[chain];
  for (std::size_t k = 0; k < block.resources; ++k)
    rent += rents_[k] * static_cast<double>(left_[k]) / static_cast<double>(kCapacityUnits);
  return std::min(rent, suffix_[chain]);
}

// Sets after_rent_ for the present rents and returns the bound on everything. `taken_` becomes what the chains would
// hold if each took what pays best.
template <std::size_t Words>
double AntichainBound<Words>::charge_rent(const Block& block, const OpSet<Words>& candidates) {
  const std::size_t chains = chain_offsets_.size() - 1;
  const std::size_t resources = block.resources;
  after_rent_.assign(chains + 1, 0);
  taken_.assign(resources, 0);
  for (std::size_t c = chains; c-- > 0;) {
    double most = 0;
    std::size_t taker = block.modes.size();
    for (std::uint32_t at = chain_offsets_[c]; at < chain_offsets_[c + 1]; ++at) {
      const std::uint32_t op = chain_members_[at];
      if (!candidates.contains(op) || best_rate_[op] <= most) continue;
      for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
        if (rates_[m] <= most) continue;
        double remains = rates_[m];
        for (std::size_t k = 0; k < resources; ++k) remains -= rents_[k] * shares_[m * resources + k];
        if (remains <= most) continue;
        most = remains;
        taker = m;
      }
    }
    after_rent_[c] = after_rent_[c + 1] + most;
    if (taker < block.modes.size())
      for (std::size_t k = 0; k < resources; ++k) taken_[k] += shares_[taker * resources + k];
  }
  double bound = after_rent_[0];
  for (std::size_t k = 0; k < resources; ++k)
    bound += rents_[k] * static_cast<double>(left_[k]) / static_cast<double>(kCapacityUnits);
  return bound;
}

// Looks for rents that make the bound low, by subgradients from the rents of the last search.
template <std::size_t Words>
void AntichainBound<Words>::settle_rents(const Block& block, const OpSet<Words>& candidates, double target,
                                         std::size_t rounds) {
  double bound = charge_rent(block, candidates);
  best_rents_ = rents_;
  double best = bound;
  double pace = 1;
  for (std::size_t round = 0; round < rounds && best > target; ++round) {
    double length = 0;
    for (std::size_t k = 0; k < block.resources; ++k) {
      taken_[k] -= static_cast<double>(left_[k]) / static_cast<double>(kCapacityUnits);
      if (rents_[k] > 0 || taken_[k] > 0) length += taken_[k] * taken_[k];
    }
    if (length < kTiny) break;
    const double step = pace * (bound - target) / length;
    for (std::size_t k = 0; k < block.resources; ++k) rents_[k] = std::max(0.0, rents_[k] + step * taken_[k]);
    bound = charge_rent(block, candidates);
    if (bound < best) {
      best = bound;
      best_rents_ = rents_;
    } else {
      pace *= 0.6;
    }
  }
  rents_ = best_rents_;
  charge_rent(block, candidates);
}

template <std::size_t Words>
void AntichainBound<Words>::search(const Block& block, std::size_t chain, const OpSet<Words>& candidates,
                                   double earned) {
  if (earned > best_earned_) {
    best_earned_ = earned;
    best_ = chosen_;
  }
  if (chain + 1 == suffix_.size() || cut_short_ || best_earned_ >= ceiling_) return;
  if (earned + still(block, chain) <= best_earned_ + kTiny) return;
  if (++steps_ > most_steps_) {
    cut_short_ = true;
    return;
  }
  const double behind = suffix_[chain + 1];
  for (std::uint32_t at = chain_offsets_[chain]; at < chain_offsets_[chain + 1]; ++at) {
    const std::uint32_t op = chain_members_[at];
    if (!candidates.contains(op) || earned + best_rate_[op] + behind <= best_earned_ + kTiny) continue;
    for (std::uint32_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
      if (earned + rates_[m] + behind <= best_earned_ + kTiny) continue;
      const Units* demand = block.demand(m);
      bool fits = true;
      for (std::size_t k = 0; k < block.resources && fits; ++k) fits = demand[k] <= left_[k];
      if (!fits) continue;
      for (std::size_t k = 0; k < block.resources; ++k) left_[k] -= demand[k];
      chosen_.push_back({op, m});
      search(block, chain + 1, candidates & beside_[op], earned + rates_[m]);
      chosen_.pop_back();
      for (std::size_t k = 0; k < block.resources; ++k) left_[k] += demand[k];
    }
  }
  search(block, chain + 1, candidates, earned);
}

template <std::size_t Words>
double AntichainBound<Words>::price(const Block& block, const OpSet<Words>& candidates, double floor, double ceiling,
                                    std::uint64_t most_steps, std::size_t rent_rounds) {
  const std::size_t chains = chain_offsets_.size() - 1;
  best_rate_.assign(block.size, 0);
  suffix_.assign(chains + 1, 0);
  for (std::size_t c = chains; c-- > 0;) {
    double most = 0;
    for (std::uint32_t at = chain_offsets_[c]; at < chain_offsets_[c + 1]; ++at) {
      const std::uint32_t op = chain_members_[at];
      if (!candidates.contains(op)) continue;
      for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m) {
        if (rates_[m] <= best_rate_[op]) continue;
        bool fits = true;
        for (std::size_t k = 0; k < block.resources && fits; ++k) fits = block.demand(m)[k] <= left_[k];
        if (fits) best_rate_[op] = rates_[m];
      }
      most = std::max(most, best_rate_[op]);
    }
    suffix_[c] = suffix_[c + 1] + most;
  }
  settle_rents(block, candidates, floor, rent_rounds);
  best_.clear();
  chosen_.clear();
  best_earned_ = floor;
  ceiling_ = ceiling;
  steps_ = 0;
  most_steps_ = most_steps;
  cut_short_ = false;
  const double most = still(block, 0);
  if (most <= floor) return floor;
  search(block, 0, candidates, 0);
  return cut_short_ ? most : best_earned_;
}

// Brings column_ (in the rows' space, direction_ = inverse · column_) into the basis.
template <std::size_t Words>
void AntichainBound<Words>::pivot(std::size_t entering_cost, std::size_t n) {
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
  check(leaving < n, "the antichain LP is bounded");
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
  cost_[leaving] = static_cast<double>(entering_cost);
  ++pivots_;
}

template <std::size_t Words>
double AntichainBound<Words>::solve(const Block& block, double enough, Stop& stop) {
  const std::size_t n = block.size;
  pivots_ = 0;
  cover_by_chains(block);
  set_shares(block);
  // The first basis: every operator alone in its fastest mode.
  inverse_.assign(n * n, 0);
  level_.assign(n, 0);
  cost_.assign(n, 1);
  for (std::size_t i = 0; i < n; ++i) {
    inverse_[i * n + i] = static_cast<double>(block.fastest[i]);
    // A little more than the whole of each operator, differently for each: ties between basic solutions would make the
    // simplex go round in circles. Prices are a worth whatever the right-hand sides are.
    const double nudge = 1e-7 * static_cast<double>(mix(i) >> 11U) * 0x1p-53;
    level_[i] = static_cast<double>(block.fastest[i]) * (1 + nudge);
  }
  OpSet<Words> all;
  for (std::size_t i = 0; i < n; ++i) all.insert(i);
  double best = 0;
  worth_.assign(n, 0);
  direction_.assign(n, 0);
  prices_.assign(n, 0);
  const std::uint64_t most_pivots = 40 * n + 200;
  const std::uint64_t most_altogether =
      Words > 1 ? kMostStepsAltogetherOfLargeBlocks
                : kStepsPerUnit * std::min(stop.work_left(), kMostStepsAltogether / kStepsPerUnit);
  std::uint64_t altogether = 0;
  for (std::uint64_t round = 0; round < most_pivots; ++round) {
    std::ranges::fill(prices_, 0);
    for (std::size_t r = 0; r < n; ++r)
      if (cost_[r] != 0)
        for (std::size_t c = 0; c < n; ++c) prices_[c] += inverse_[r * n + c];
    std::size_t negative = n;
    double most_negative = -1e-9 * static_cast<double>(kSerialTicks);
    for (std::size_t i = 0; i < n; ++i)
      if (prices_[i] < most_negative) {
        most_negative = prices_[i];
        negative = i;
      }
    if (negative < n) {
      // Worth cannot be negative: more of this operator may be done than is needed. Scaled like the other columns, so
      // that rounding errors stay small beside one.
      const double scale = -1 / static_cast<double>(block.fastest[negative]);
      for (std::size_t r = 0; r < n; ++r) direction_[r] = inverse_[r * n + negative] * scale;
      pivot(0, n);
      continue;
    }
    for (double& price : prices_) price = std::max(0.0, price);
    set_rates(block);
    left_.assign(block.resources, kCapacityUnits);
    // Any set that earns more than one a tick will do for a pivot; only when there is none the prices are a worth.
    double earned = price(block, all, kEnough, kInfinity, kFewSteps, kRentRounds);
    if (best_.empty() && cut_short_)
      earned = price(block, all, kEnough, kInfinity, Words > 1 ? kMostStepsOfLargeBlocks : kFewSteps,
                     Words > 1 ? 10 * kRentRounds : 2 * kRentRounds);
    altogether += steps_;
    const bool last =
        best_.empty() || !stop.spend(1 + steps_ / 256) || round + 1 == most_pivots || altogether > most_altogether;
    const double total = std::accumulate(prices_.begin(), prices_.end(), 0.0);
    const double divisor = std::max(1.0, earned) * (1 + 1e-12);
    if (total / divisor > best) {
      best = total / divisor;
      for (std::size_t i = 0; i < n; ++i) worth_[i] = prices_[i] / divisor;
    }
    if (last || best >= enough) break;
    for (std::size_t r = 0; r < n; ++r) {
      double sum = 0;
      for (const Choice& choice : best_)
        sum += inverse_[r * n + choice.op] / static_cast<double>(block.modes[choice.mode].duration);
      direction_[r] = sum;
    }
    pivot(1, n);
  }
  prices_ = worth_;
  set_rates(block);
  return best;
}

template <std::size_t Words>
bool AntichainBound<Words>::lift(const Block& block, Stop& stop) {
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      left_.assign(block.resources, kCapacityUnits);
      for (std::size_t k = 0; k < block.resources; ++k) left_[k] -= block.demand(m)[k];
      // Company that leaves nothing ends the search at once.
      const double company = price(block, beside_[i], 0, 1 - rates_[m] - 1e-9, kLiftSteps, 0);
      rates_[m] = std::max(rates_[m], 1 - company - 1e-12);
      if (!stop.spend(1 + steps_ / 256)) return false;
    }
  return true;
}

template class AntichainBound<1>;
template class AntichainBound<2>;
template class AntichainBound<4>;

}  // namespace phaze::schedule
