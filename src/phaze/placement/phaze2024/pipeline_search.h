// The best pipeline at one tensor-parallel width: how many stages, where to cut, how many replicas.
//
// THE PROBLEM. Stages are steps between states: a state is what has been placed so far, from nothing (state 0) to
// everything (the last). A plan is a path of s steps, together with a data-parallel degree d, and takes
//
//   T = L * (ceil(b/d) + s - 1) + r(d) * P,     r(d) = 4 (d-1) / (d * bandwidth),
//
// with L the largest load of its stages, b the microbatches, P the parameters of its first stage. A stage without
// tensor-parallel layers runs on a single device, any other on t; with u single stages the path takes t(s-u) + u
// devices, of which there are floor(D/d). Whether a stage fits, and whether it recomputes, depends on how many stages
// are left, itself included: k. The released tool fills a table over (state, devices, k). Here devices are no
// dimension, and the time does not grow with them.
//
// THE METHOD.
// 1. Degrees. If ceil(b/d) = ceil(b/d') and d < d', then d is no worse: r grows with d, floor(D/d) falls. So only the
//    least d for each value of ceil(b/d) is tried: at most 2*sqrt(b) of them, whatever D is.
// 2. Rows. Let H[u][k][i] be the least largest load over paths of exactly k stages from state i to the end of which at
//    least u are single. Then
//      H[u][k][i] = min over stages i -> j that fit as k-th from the end of  max(load(i,j), H[max(u - single(i,j),
//      0)][k-1][j]),
//    with H[0][0][end] = 0 and all other H[u][0][.] infinite. (Induction on k: a path of k stages with at least u
//    single ones is a first stage and a path of k-1 with at least u, less one if the first is single; a maximum is
//    monotone in the rest.) "At least" instead of "exactly" is enough, for more single stages only free devices, and it
//    makes plane u = 0 the problem without a limit on devices.
// 3. First stage. s stages on floor(D/d) devices need u(s,d) = max(0, ceil((t*s - floor(D/d)) / (t-1))) single stages
// or
//    more. So the best T for (s, d) is the minimum over first stages 0 -> j that fit as s-th from the end of
//      max(load(0,j), H[u(s,d) - single(0,j)][s-1][j]) * (ceil(b/d) + s - 1) + r(d) * P(0,j).
//    Only first stages that are not beaten in both load and parameters count; that front serves all d at once.
// 4. Planes by need. H[u] grows with u, so a value from plane u is a lower bound for every pair (s, d) that needs more.
//    Plane 0 is made first; pairs that need u > 0 wait with their bound, and plane u+1 is made only while a waiting
//    pair could still win. When devices are plenty, or all layers are alike, plane 0 is all there is.
// 5. Stop early. A stage's load is at least the seconds of its nodes, so L >= max(heaviest node, total / s). With the
//    fewest rounds any d allows at s, this bounds T for every s; rows end when no larger s can beat the best so far.
//    For the same reason a row may leave out loads of `cap` or more, where cap * (rounds + s - 1) would already be no
//    better.
//
// 6. Sieve. A waiting pair wins only with loads below limit(s,d) = (best - r(d) * least P) / (ceil(b/d) + s - 1). The
// most
//    single stages among k stages from i with such loads follow the same recurrence as rows, with a sum instead of a
//    maximum; a pair that needs more than there are leaves. One pass under one limit answers for all s at once, so now
//    and then a few passes spare many planes.
//
// So the result is the optimum: steps 1 and 3 lose no value, 2 is exact, 4 to 6 drop only what cannot be strictly
// better than a plan that is at hand. Work: a row is one pass over the stages, there are at most n rows per plane.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "phaze/base/check.h"
#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Room for rounding wherever a bound decides what is left out.
inline constexpr double kRounding = 1e-12;

struct Degree {
  std::int64_t data_parallel = 1;
  std::int64_t devices = 1;  // of one pipeline
  double rounds = 1;         // microbatches that one pipeline works through
  double reduce = 0;         // seconds of all-reduce per byte of parameters
};

// Those of step 1, by ascending degree.
std::vector<Degree> data_parallel_degrees(const Instance& instance);

// What holds at one width whatever the stages are, for the bounds of steps 4 and 5.
struct Work {
  // Seconds of the passes over all nodes, over the heaviest, and over those of any single stage at most.
  struct Sum {
    double total = 0;
    double heaviest = 0;
    double single = 0;
  };
  std::int64_t width = 1;
  std::size_t nodes = 0;
  std::vector<std::size_t> most_single;  // [s]: single stages among s, at most; 0 if they save nothing
  bool recompute = false;
  Sum plain;                 // each node once forward, once backward
  Sum recomputing;           // twice forward
  std::vector<double> cuts;  // [c]: seconds of transfers that c cuts add to all loads together, at least

  // At least so large is the largest load L of s stages of which `single` or more are single. All stages together carry
  // all nodes and pay for s - 1 cuts, so total + cuts <= s L. And a single stage carries no more than sum.single, nor
  // than L, so total <= (s - single) L + single * sum.single. With recompute the last stage passes forward only once,
  // so it carries less than its share of `recomputing`, but less by no more than L.
  double least_load(std::size_t s, std::size_t single) const;
  // Of a pipeline of s stages.
  std::int64_t fewest_devices(std::size_t s) const;
  // u(s,d) of step 3, for degrees that have fewest_devices(s).
  std::size_t needed_single(std::size_t s, const Degree& degree) const;
};

// Step 5: what any plan of s stages, or of s and more, takes at least.
struct Bounds {
  std::size_t most_stages = 0;
  std::vector<std::size_t> usable;  // by s: how many degrees, of the least, leave enough devices
  std::vector<double> slots;        // by s: fewest rounds + s - 1
  std::vector<double> slots_from;   // the least of slots for s and more
  std::vector<double> time_from;    // seconds per batch for s and more

  Bounds(const Work& work, std::span<const Degree> degrees);
  double least_time() const { return time_from[1]; }
};

struct SearchStatistics {
  std::int64_t rows = 0;    // H[u][k]
  std::int64_t planes = 0;  // u
};

struct Pipeline {
  double time = kInfinite;
  std::int64_t data_parallel = 1;
  std::vector<std::uint32_t> states;  // after each stage; the last is "everything placed"
};

// Stages is what the chain and the general solver differ in:
//   std::size_t states() const;            state 0 is "nothing placed", the last "everything"
//   void row(k, cap, same, fewer, out)     H[u][k] from H[u][k-1] and H[max(u-1,0)][k-1]; values of cap or more may be
//                                          larger than they are
//   void most_single_row(k, limit, fewer, out)   the same for step 6
//   void each(state, k, f)                 f(to, load, single, parameters) for stages that fit as k-th from the end
template <typename Stages>
class PipelineSearch {
 public:
  PipelineSearch(const Stages& stages, const Work& work, const Bounds& bounds, std::span<const Degree> degrees)
      : stages_(stages), work_(work), bounds_(bounds), degrees_(degrees) {}

  // The best pipeline that takes less than `incumbent` seconds, if there is one.
  std::optional<Pipeline> run(double incumbent) {
    best_.time = incumbent;
    make_plane();
    for (std::size_t s = 1; s <= bounds_.most_stages; ++s) {
      if (bounds_.time_from[s] >= best_.time) break;
      make_front(s, 0);
      offer_all(s);
      if (s < bounds_.most_stages) make_row(0, s, best_.time / bounds_.slots_from[s + 1] * (1 + kRounding));
    }
    for (std::size_t plane = 1; drop_beaten(); ++plane) {
      if (plane % kSieveEvery == 1) sieve(plane);
      if (!drop_beaten()) break;
      make_plane();
      // A load matters for the pairs that wait, and only for those with more stages than its row.
      std::vector<double> caps(waiting_.back().stages + 1, 0);
      for (const Waiting& pair : waiting_) caps[pair.stages] = std::max(caps[pair.stages], limit_of(pair));
      for (std::size_t s = caps.size() - 1; s-- > 0;) caps[s] = std::max(caps[s], caps[s + 1]);
      std::size_t row = 0;
      for (std::size_t first = 0, last = 0; first < waiting_.size(); first = last) {
        const std::size_t s = waiting_[first].stages;
        while (last < waiting_.size() && waiting_[last].stages == s) ++last;
        for (; row + 1 < s; ++row) make_row(plane, row + 1, caps[row + 2]);
        make_front(s, plane);
        for (std::size_t i = first; i < last; ++i) {
          Waiting& pair = waiting_[i];
          pair.bound = offer(s, *pair.degree, pair.needs <= plane, plane);
          if (pair.needs <= plane) pair.bound = kInfinite;
        }
      }
    }
    if (!found_) return std::nullopt;
    follow();
    return best_;
  }

  const SearchStatistics& statistics() const { return statistics_; }

 private:
  struct First {
    double parameters = 0;
    double load = 0;  // the largest of the whole path
    std::uint32_t to = 0;
    bool single = false;
  };
  struct Waiting {
    std::size_t stages = 0;
    const Degree* degree = nullptr;
    std::size_t needs = 0;        // single stages
    double least_parameters = 0;  // of a first stage with which it could win
    double bound = 0;
  };
  using Rows = std::vector<std::vector<double>>;
  static constexpr std::size_t kSieveGroups = 6;
  static constexpr std::size_t kSieveEvery = 8;  // planes

  void make_plane() {
    planes_.emplace_back().emplace_back(stages_.states(), kInfinite);
    if (planes_.size() == 1) planes_[0][0].back() = 0;
    ++statistics_.planes;
  }

  void make_row(std::size_t plane, std::size_t k, double cap) {
    Rows& rows = planes_[plane];
    check(rows.size() == k, "rows are made in order");
    rows.emplace_back(stages_.states(), kInfinite);
    stages_.row(k, cap, rows[k - 1].data(), planes_[plane == 0 ? 0 : plane - 1][k - 1].data(), rows[k].data());
    ++statistics_.rows;
  }

  double rest(std::size_t plane, bool single, std::size_t k, std::uint32_t state) const {
    return planes_[plane - (single && plane > 0 ? 1 : 0)][k][state];
  }

  void make_front(std::size_t s, std::size_t plane) {
    front_.clear();
    stages_.each(0, s, [&](std::uint32_t to, double load, bool single, double parameters) {
      const double largest = std::max(load, rest(plane, single, s - 1, to));
      if (largest * bounds_.slots[s] < best_.time) front_.push_back({parameters, largest, to, single});
    });
    const auto lighter = [](const First& a, const First& b) {
      return a.parameters != b.parameters ? a.parameters < b.parameters : a.load < b.load;
    };
    if (!std::ranges::is_sorted(front_, lighter)) std::ranges::sort(front_, lighter);
    std::size_t kept = 0;
    for (const First& first : front_)
      if (kept == 0 || first.load < front_[kept - 1].load) front_[kept++] = first;
    front_.resize(kept);
  }

  // The least time for (s, degree) over the front, and the new best if it may be one.
  double offer(std::size_t s, const Degree& degree, bool enough_single, std::size_t plane) {
    const double slots = degree.rounds + static_cast<double>(s) - 1;
    double least = kInfinite;
    for (const First& first : front_) {
      const double time = first.load * slots + degree.reduce * first.parameters;
      least = std::min(least, time);
      if (!enough_single || time >= best_.time) continue;
      best_.time = time;
      best_.data_parallel = degree.data_parallel;
      first_ = first;
      stages_of_best_ = s;
      plane_of_best_ = plane;
      found_ = true;
    }
    return least;
  }

  void offer_all(std::size_t s) {
    if (front_.empty()) return;
    const double least_load = front_.back().load;
    const double least_parameters = front_.front().parameters;
    for (std::size_t i = bounds_.usable[s]; i-- > 0;) {
      const Degree& degree = degrees_[i];
      const double slots = degree.rounds + static_cast<double>(s) - 1;
      if (least_load * slots + degree.reduce * least_parameters >= best_.time) continue;
      const std::size_t needs = work_.needed_single(s, degree);
      if (needs > 0 && work_.least_load(s, needs) * slots + degree.reduce * least_parameters >= best_.time) continue;
      const double bound = offer(s, degree, needs == 0, 0);
      if (needs > 0 && bound < best_.time) waiting_.push_back({s, &degree, needs, least_parameters, bound});
    }
  }

  // With loads of this or more, the pair takes no less than the best.
  double limit_of(const Waiting& pair) const {
    const double slots = pair.degree->rounds + static_cast<double>(pair.stages) - 1;
    return (best_.time - pair.degree->reduce * pair.least_parameters) / slots * (1 + kRounding);
  }

  // Step 6. Groups of pairs share one limit, the largest of theirs, so a pair that stays may still be hopeless; one
  // that leaves is.
  void sieve(std::size_t plane) {
    std::vector<std::pair<double, Waiting*>> by_limit;
    std::size_t most_needed = 0;
    for (Waiting& pair : waiting_) {
      by_limit.emplace_back(limit_of(pair), &pair);
      most_needed = std::max(most_needed, pair.needs);
    }
    if (most_needed < plane + kSieveGroups) return;  // the planes that are left are not more work
    std::ranges::sort(by_limit);
    const std::size_t size = (by_limit.size() + kSieveGroups - 1) / kSieveGroups;
    for (std::size_t first = 0; first < by_limit.size(); first += size) {
      const auto group = std::span(by_limit).subspan(first, std::min(size, by_limit.size() - first));
      std::size_t deepest = 0;
      for (const auto& [limit, pair] : group) deepest = std::max(deepest, pair->stages);
      const std::vector<double> most = most_single_under(group.back().first, deepest);
      for (const auto& [limit, pair] : group)
        if (most[pair->stages] < static_cast<double>(pair->needs)) pair->bound = kInfinite;
    }
  }

  // By s: how many of s stages, all with loads of `limit` at most, can be single; below zero if there are no such
  // stages.
  std::vector<double> most_single_under(double limit, std::size_t deepest) {
    std::vector<double> most(deepest + 1, -kInfinite);
    std::vector<double> fewer(stages_.states(), -kInfinite), row;
    fewer.back() = 0;
    for (std::size_t k = 1; k <= deepest; ++k) {
      row.assign(stages_.states(), -kInfinite);
      stages_.most_single_row(k, limit, fewer.data(), row.data());
      most[k] = row.front();
      fewer.swap(row);
      ++statistics_.rows;
    }
    return most;
  }

  // Whether pairs are left that could still win.
  bool drop_beaten() {
    std::erase_if(waiting_, [&](const Waiting& pair) { return pair.bound >= best_.time; });
    return !waiting_.empty();
  }

  // The path behind the best value: from each state a stage that keeps the promise of its row.
  void follow() {
    best_.states = {first_.to};
    std::size_t plane = plane_of_best_ - (first_.single && plane_of_best_ > 0 ? 1 : 0);
    for (std::size_t k = stages_of_best_ - 1; k > 0; --k) {
      double least = kInfinite;
      std::uint32_t next = 0;
      bool single = false;
      stages_.each(best_.states.back(), k, [&](std::uint32_t to, double load, bool is_single, double) {
        const double largest = std::max(load, rest(plane, is_single, k - 1, to));
        if (largest >= least) return;
        least = largest;
        next = to;
        single = is_single;
      });
      check(least <= first_.load, "a stage keeps the promise of its row");
      best_.states.push_back(next);
      if (single && plane > 0) --plane;
    }
  }

  const Stages& stages_;
  const Work& work_;
  const Bounds& bounds_;
  const std::span<const Degree> degrees_;

  std::vector<Rows> planes_;  // H[u][k][state]
  std::vector<First> front_;
  std::vector<Waiting> waiting_;  // by ascending number of stages
  Pipeline best_;
  First first_;
  std::size_t stages_of_best_ = 0;
  std::size_t plane_of_best_ = 0;
  bool found_ = false;
  SearchStatistics statistics_;
};

}  // namespace phaze::placement::phaze2024
