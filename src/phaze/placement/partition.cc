#include "phaze/placement/partition.h"

#include <algorithm>
#include <map>

namespace phaze::placement {
namespace {

constexpr double kRounding = 1 + 1e-12;

class Search {
 public:
  Search(const StageCosts& costs, double below)
      : costs_(costs),
        p_(static_cast<std::size_t>(costs.pipeline())),
        n_(costs.layers()),
        ahead_(static_cast<double>(costs.microbatches() - 1)),
        least_(costs.least_total()) {
    best_.seconds = below;
  }

  bool fits() { return p_ <= n_ && keeps(std::numeric_limits<double>::max()); }

  std::optional<Partition> run() {
    if (p_ > n_ || !keeps(limit())) return std::nullopt;
    weigh_endings();
    // The largest limit has the least Z of all: where that is not good enough, no limit is.
    const double least = try_limit(std::min(limit(), std::numeric_limits<double>::max()));
    if (least == kNever) return std::nullopt;
    least_ = std::max(least_, least);
    const std::vector<double> limits = candidate_limits();
    // The first limit that can be kept: feasibility is monotone.
    auto it = std::partition_point(limits.begin(), limits.end(), [&](double m) { return !keeps(m); });
    for (; it != limits.end() && ahead_ * *it + least_ < best_.seconds * kRounding; ++it)
      if (try_limit(*it) <= least_ * kRounding) break;
    if (best_.stages.empty()) return std::nullopt;
    return std::move(best_);
  }

 private:
  // Loads above this cannot beat the incumbent.
  double limit() const { return ahead_ > 0 ? (best_.seconds - least_) / ahead_ : kNever; }

  // Step 1. Fills first_[k].
  bool keeps(double limit) {
    first_.assign(p_ + 1, n_);
    for (std::size_t k = 1; k <= p_; ++k) {
      const auto position = static_cast<std::int64_t>(k);
      if (k == p_) {
        // An empty rest cannot come out of nonempty stages, but then the first stage is no heavier than its one layer.
        first_[k] = 0;
        const std::size_t end = std::max<std::size_t>(1, first_[k - 1]);
        return costs_.least_load(0, end, position) <= limit;
      }
      std::size_t low = 1, high = first_[k - 1];  // the least start lies in [low, high]; high itself is an empty stage
      // Neighbouring stages are of much the same length.
      const std::size_t length = k == 1 ? n_ / p_ : first_[k - 2] - first_[k - 1];
      for (std::size_t step = 1,
                       guess = high - std::clamp<std::size_t>(length, 1, std::max<std::size_t>(1, high - low));
           low < high; step *= 2) {
        if (costs_.least_load(guess, first_[k - 1], position) <= limit) {
          high = guess;
          if (guess < low + step) break;
          guess -= step;
        } else {
          low = guess + 1;
          if (guess + step >= high) break;
          guess += step;
        }
      }
      while (low < high) {
        const std::size_t middle = (low + high) / 2;
        if (costs_.least_load(middle, first_[k - 1], position) <= limit)
          high = middle;
        else
          low = middle + 1;
      }
      // Nonempty stages in front need a node each.
      first_[k] = std::max(low, p_ - k);
    }
    return false;
  }

  // Step 2. Fills last_[k], the largest start of the k-th stage from the end.
  void bound_from_front(double limit) {
    last_.assign(p_ + 1, 0);
    for (std::size_t k = p_; k > 1; --k) {
      const std::size_t begin = last_[k];
      std::size_t low = begin, high = n_;  // the largest end lies in [low, high]
      while (low < high) {
        const std::size_t middle = (low + high + 1) / 2;
        if (costs_.least_load(begin, middle, static_cast<std::int64_t>(k)) <= limit)
          low = middle;
        else
          high = middle - 1;
      }
      last_[k - 1] = std::min(low, n_ - (k - 1));
    }
  }

  // What the first stage does once per batch, by its end; Z is no less than all loads and the least of it.
  void weigh_endings() {
    bound_from_front(limit());
    endings_.assign(n_ + 1, kNever);
    double least = kNever;
    const std::size_t from = p_ == 1 ? n_ : std::max<std::size_t>(1, first_[p_ - 1]);
    const std::size_t to = p_ == 1 ? n_ : last_[p_ - 1];
    for (std::size_t end = from; end <= to; ++end) {
      endings_[end] = costs_.ending(0, end).total();
      least = std::min(least, endings_[end]);
    }
    if (least < kNever) least_ += least;
  }

  // Every load that a stage can have between what must be and what may be.
  std::vector<double> candidate_limits() {
    // With one microbatch the slowest stage is no slower than the sum, which is all that counts.
    if (ahead_ == 0) return {std::numeric_limits<double>::max()};
    const double high = limit();
    const double low = costs_.least_total() / static_cast<double>(p_) * (1 - 1e-9);
    std::vector<double> loads;
    for (const Recompute policy : costs_.policies()) {
      for (std::size_t i = 0; i < n_; ++i) {
        for (std::size_t j = first_end(i, low, policy); j <= n_; ++j) {
          const double load = costs_.load(i, j, policy);
          if (load - costs_.arrival(j) > high) break;
          if (load >= low && load <= high) loads.push_back(load);
        }
      }
    }
    std::ranges::sort(loads);
    // Equal stages at different places of the chain differ by rounding: one limit stands for them.
    std::vector<double> limits;
    for (const double load : loads) {
      if (!limits.empty() && load <= limits.back() * kRounding)
        limits.back() = load * kRounding;
      else
        limits.push_back(load * kRounding);
    }
    return limits;
  }

  // The first end at which a stage from i on could have a load of `low`: without arrivals loads only grow with the end.
  std::size_t first_end(std::size_t i, double low, Recompute policy) const {
    std::size_t a = i + 1, b = n_;
    while (a < b) {
      const std::size_t middle = (a + b) / 2;
      if (costs_.load(i, middle, policy) - costs_.arrival(middle) + costs_.largest_arrival() < low)
        a = middle + 1;
      else
        b = middle;
    }
    return a;
  }

  // The last k stages from some node on: S, Z, where the first of them ends, and which pair of the state there goes on.
  struct Pair {
    double sum = kNever;
    double total = kNever;
    std::size_t end = 0;
    std::size_t next = 0;
  };
  using State = std::vector<Pair>;  // ascending sum, descending total

  // Step 3. Returns g(limit) and keeps the partition if it is the best so far.
  double try_limit(double limit) {
    if (!keeps(limit)) return kNever;
    bound_from_front(limit);
    // No pair with a higher total leads to a better partition: the slowest stage is no faster than the mean.
    most_total_ = best_.seconds - ahead_ * costs_.least_total() / static_cast<double>(p_);
    states_.resize(p_ + 1);
    for (std::size_t k = 1; k <= p_; ++k) {
      const std::size_t from = first_[k], to = last_[k];
      if (from > to) return kNever;
      states_[k].resize(to - from + 1);
      bool any = false;
      for (std::size_t i = from; i <= to; ++i) {
        fill(i, k, limit, states_[k][i - from]);
        any = any || !states_[k][i - from].empty();
      }
      if (!any) return kNever;
    }
    const Pair* pair = &states_[p_].front().back();
    const double total = pair->total;
    double largest = 0;
    std::vector<Stage> stages;
    for (std::size_t k = p_, i = 0; k >= 1; --k) {
      const StageChoice choice = costs_.stage(i, pair->end, static_cast<std::int64_t>(k));
      largest = std::max(largest, choice.load);
      stages.push_back({{{i, pair->end}}, choice.recompute});
      i = pair->end;
      if (k > 1) pair = &states_[k - 1][i - first_[k - 1]][pair->next];
    }
    const double seconds = ahead_ * largest + total;
    if (seconds < best_.seconds) best_ = {seconds, std::move(stages)};
    return total;
  }

  void fill(std::size_t i, std::size_t k, double limit, State& state) const {
    state.clear();
    const auto position = static_cast<std::int64_t>(k);
    const std::size_t from = k == 1 ? n_ : std::max(i + 1, first_[k - 1]);
    const std::size_t to = k == 1 ? n_ : last_[k - 1];
    for (std::size_t end = from; end <= to; ++end) {
      const StageChoice choice = costs_.stage(i, end, position);
      if (choice.load > limit) {
        if (costs_.least_load(i, end, position) > limit) break;
        continue;
      }
      if (k > 1 && states_[k - 1][end - first_[k - 1]].empty()) continue;
      const double ending = k == p_ ? endings_[end] : costs_.ending(i, end).total();
      if (k == 1) {
        insert({choice.load, choice.load + ending, end, 0}, state);
        continue;
      }
      const State& rest = states_[k - 1][end - first_[k - 1]];
      for (std::size_t next = 0; next < rest.size(); ++next) {
        const double sum = choice.load + rest[next].sum;
        insert({sum, std::max(rest[next].total, sum + ending), end, next}, state);
      }
    }
  }

  void insert(const Pair& pair, State& state) const {
    if (pair.total >= most_total_) return;
    auto at = std::ranges::lower_bound(state, pair.sum, {}, &Pair::sum);
    if (at != state.begin() && std::prev(at)->total <= pair.total) return;
    if (at != state.end() && at->sum == pair.sum && at->total <= pair.total) return;
    auto worse = at;
    while (worse != state.end() && worse->total >= pair.total) ++worse;
    at = state.erase(at, worse);
    state.insert(at, pair);
  }

  const StageCosts& costs_;
  std::size_t p_, n_;
  double ahead_;
  double least_;
  double most_total_ = kNever;
  std::vector<std::size_t> first_, last_;   // by k: bounds on where the k-th stage from the end starts
  std::vector<std::vector<State>> states_;  // by k and start − first_[k]
  std::vector<double> endings_;             // by the end of the first stage
  Partition best_;
};

}  // namespace

std::optional<Partition> best_partition(const StageCosts& costs, double below) { return Search(costs, below).run(); }

bool fits(const StageCosts& costs) { return Search(costs, kNever).fits(); }

bool can_be_cut(const StageCosts& costs) {
  if (!fits(costs)) return false;
  const std::size_t n = costs.layers();
  const std::int64_t p = costs.pipeline();
  // By start: the nearest node behind it at which the last k − 1 stages can start; n + 1 where there is none.
  std::vector<std::size_t> nearest(n + 1, n), next(n + 1);
  for (std::int64_t k = 1; k <= p; ++k) {
    std::size_t found = n + 1;
    for (std::size_t i = n; i-- > 0;) {
      next[i + 1] = found;
      const std::size_t end = nearest[i];
      if (end <= n && (k == p) == (i == 0) && costs.stage(i, end, k).load < kNever) found = i;
    }
    next[0] = found;
    if (k == p) return found == 0;
    // next[i + 1] is the nearest start above i; shift so that it is asked for by i itself.
    for (std::size_t i = 0; i < n; ++i) nearest[i] = next[i + 1];
    nearest[n] = n + 1;
  }
  return false;
}

std::vector<Stage> given_stages(const Request& request, std::size_t table, std::int64_t pipeline,
                                std::int64_t interleave) {
  const LayerTable& layers = request.tables[table];
  if (request.freedom.cuts.empty())
    return interleave > 1 ? interleaved_stages(layers, pipeline, interleave) : std::vector<Stage>{};
  std::vector<Stage> stages;
  std::size_t begin = 0;
  for (const std::size_t cut : request.freedom.cuts) {
    stages.push_back({.chunks = {{begin, cut}}});
    begin = cut;
  }
  stages.push_back({.chunks = {{begin, layers.size()}}});
  return stages;
}

namespace {

// With a first stage that ends at `begin`, a batch takes at least (m − 1)·max L + max(Z_1, Z_2), Z_1 of the first stage
// and Z_2 = E + `others` of the second. A tiny first stage makes the former small; but then, where stages must be alike
// for their limit, the second is not tiny. Returns the least of max(Z_1, Z_2) − Z_1 over the ends that the second stage
// can have in a partition better than `best`; infinite where it has none.
double excess_of_second(const StageCosts& costs, std::size_t begin, double first_total, double others, double best) {
  const std::size_t n = costs.layers();
  const std::int64_t p = costs.pipeline();
  const auto ahead = static_cast<double>(costs.microbatches() - 1);
  if (ahead == 0) return 0;
  const double limit = (best - first_total) / ahead;
  const auto behind = static_cast<double>(p - 2);
  double least = kNever;
  for (std::size_t end = p == 2 ? n : begin + 1; end + static_cast<std::size_t>(p) <= n + 2; ++end) {
    if (p > 2 && costs.least_work(end, n) + (2 * behind - 1) * costs.least_arrival() > behind * limit) continue;
    if (costs.least_load(begin, end, p - 1) > limit) break;
    least = std::min(least, std::max(0.0, others + costs.ending(begin, end).total() - first_total));
    if (least == 0) break;
  }
  return least;
}

}  // namespace

double partition_bound(const StageCosts& costs, double below) {
  const std::size_t n = costs.layers();
  const std::int64_t p = costs.pipeline();
  const auto stages = static_cast<double>(p);
  const auto ahead = static_cast<double>(costs.microbatches() - 1);
  if (static_cast<std::size_t>(p) > n) return kNever;
  if (p == 1) {
    const double load = costs.stage(0, n, 1).load;
    if ((ahead + 1) * load >= below) return kNever;
    const double seconds = (ahead + 1) * load + costs.ending(0, n).total();
    if (seconds >= below) return kNever;
    return seconds;
  }
  const double a = costs.least_arrival();
  const double least = costs.least_total();
  // Wherever they stand, the heaviest layer and the last one are in a stage that some message reaches.
  const double pace = std::max(costs.heaviest_layer() + a, costs.least_load(n - 1, n, 1));
  double best = below;
  for (std::size_t end = 1; end + static_cast<std::size_t>(p) <= n + 1; ++end) {
    const double first = costs.least_load(0, end, p);
    if (ahead * std::max(first, pace) + least >= best) break;
    const double others = costs.least_work(end, n) + (2 * stages - 3) * a;
    const double slowest = std::max({first, pace, others / (stages - 1)});
    const double all = first + others;
    const double ending = costs.ending(0, end).total();
    if (ahead * slowest + all + ending >= best) continue;
    const double excess = excess_of_second(costs, end, all + ending, others, best);
    best = std::min(best, ahead * slowest + all + ending + excess);
  }
  if (best >= below) return kNever;
  return best;
}

Range repeated_layers(const LayerTable& table) {
  std::vector<std::size_t> uses(table.kinds.size(), 0);
  for (const std::uint32_t kind : table.nodes) ++uses[kind];
  Range range{0, table.size()};
  while (range.begin < range.end && uses[table.nodes[range.begin]] == 1) ++range.begin;
  while (range.end > range.begin && uses[table.nodes[range.end - 1]] == 1) --range.end;
  return range;
}

std::vector<Stage> interleaved_stages(const LayerTable& table, std::int64_t pipeline, std::int64_t interleave) {
  const auto [begin, end] = repeated_layers(table);
  const auto chunks = static_cast<std::size_t>(pipeline * interleave);
  if (begin == end || (end - begin) % chunks != 0) return {};
  const std::size_t each = (end - begin) / chunks;
  std::vector<Stage> stages(static_cast<std::size_t>(pipeline));
  for (std::size_t c = 0; c < chunks; ++c) {
    const Range range{c == 0 ? 0 : begin + c * each, c + 1 == chunks ? table.size() : begin + (c + 1) * each};
    stages[c % stages.size()].chunks.push_back(range);
  }
  return stages;
}

std::optional<Partition> interleaved_partition(const StageCosts& costs, std::vector<Stage> stages,
                                               std::int64_t interleave, double below) {
  const auto turns = static_cast<double>(interleave);
  double largest = 0, sum = 0, ending = 0;
  std::vector<double> loads;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const StageChoice choice = costs.device(stages[s].chunks, costs.pipeline() - static_cast<std::int64_t>(s));
    if (choice.load == kNever) return std::nullopt;
    stages[s].recompute = choice.recompute;
    largest = std::max(largest, choice.load);
    loads.push_back(choice.load);
  }
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double own = costs.ending(stages[s].chunks).total() - costs.could_gain(stages[s].chunks, largest - loads[s]);
    ending = std::max(ending, own - sum / turns);
    sum += loads[s];
  }
  const double seconds = static_cast<double>(costs.microbatches()) * largest + (sum - largest) / turns + ending;
  if (!(seconds < below)) return std::nullopt;
  return Partition{seconds, std::move(stages)};
}

}  // namespace phaze::placement
