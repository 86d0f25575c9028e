#include "phaze/schedule/ilp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/milp.h"
#include "phaze/schedule/solve.h"

namespace phaze::schedule {
namespace {

using Term = Milp::Term;

// The horizon in the units of the program. Large enough that the engine's tolerances (1e-9) are small beside every
// duration that matters, small enough that big-M rows keep their digits.
constexpr double kHorizon = 1000;
// Claims of the engine are compared with this relative tolerance.
constexpr double kAgreement = 1e-6;
// With more sets of operators to look after than this, a resource is modelled as a flow.
constexpr std::size_t kMostCrowds = 4000;
// A budget of this many nodes is no limit.
constexpr std::uint64_t kMostNodes = 1'000'000'000;

// The program over one instance, with what is needed to read an answer.
class Formulation {
 public:
  Formulation(const Instance& instance, double horizon)
      : instance_(instance), scale_(kHorizon / horizon), makespan_(program_.add_continuous(0, kHorizon, 1)) {
    const std::size_t n = instance.size();
    close_order();
    find_exclusive_modes();
    set_heads_and_tails();
    for (std::size_t i = 0; i < n; ++i) {
      starts_.push_back(program_.add_continuous(heads_[i], std::max(heads_[i], kHorizon - tails_[i])));
      modes_.emplace_back();
      std::vector<Term> one;
      for (std::size_t m = 0; m < instance.mode_count(OpId(i)); ++m) {
        modes_[i].push_back(program_.add_binary(exclusive_[i][m] ? time(i, m) : 0));
        one.push_back({modes_[i][m], 1});
      }
      program_.equal(one, 1);
    }
    add_order();
    add_collisions();
    for (std::size_t k = 0; k < instance.resources.size(); ++k) {
      add_flow(k);
      add_work(k);
    }
    // No answer worse than the schedule at hand is of use.
    std::vector<Term> total = {{makespan_, 1}};
    for (std::size_t i = 0; i < n; ++i) append_exclusive(total, i, 1);
    program_.at_most(total, kHorizon * (1 + kAgreement));
  }

  // Makespan ≥ what the chosen modes earn. `rates[i][m]` is earned per second.
  void add_rates(const std::vector<std::vector<double>>& rates) {
    std::vector<Term> row = {{makespan_, 1}};
    for (std::size_t i = 0; i < instance_.size(); ++i)
      for (std::size_t m = 0; m < modes_[i].size(); ++m)
        row.push_back({modes_[i][m], (exclusive_[i][m] ? time(i, m) : 0) - time(i, m) * rates[i][m]});
    program_.at_least(row, -1e-9 * kHorizon);
  }

  const Milp& program() const { return program_; }
  double seconds(double value) const { return value / scale_; }

  // Modes, and the operators in an order in which the serial scheme rebuilds the schedule.
  void read(const std::vector<double>& values, std::vector<std::size_t>& modes, std::vector<std::size_t>& order) const {
    const std::size_t n = instance_.size();
    modes.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t m = 1; m < modes_[i].size(); ++m)
        if (values[static_cast<std::size_t>(modes_[i][m])] > values[static_cast<std::size_t>(modes_[i][modes[i]])])
          modes[i] = m;
    // From compressed time to time: what lies behind a barrier starts later by the barrier's duration. Where the order
    // does not say, an operator lies half way through it more clearly before or behind a barrier than at its ends.
    const auto start = [&](std::size_t i) { return values[static_cast<std::size_t>(starts_[i])]; };
    const auto is_barrier = [&](std::size_t i) { return exclusive_[i][modes[i]]; };
    const auto middle = [&](std::size_t i) { return start(i) + (is_barrier(i) ? 0 : time(i, modes[i]) / 2); };
    const auto is_behind = [&](std::size_t i, std::size_t barrier) {
      return incomparable(i, barrier) ? start(barrier) < middle(i) : static_cast<bool>(before_[barrier][i]);
    };
    std::vector<double> begins(n);
    for (std::size_t i = 0; i < n; ++i) {
      begins[i] = start(i);
      for (std::size_t barrier = 0; barrier < n; ++barrier)
        if (is_barrier(barrier) && barrier != i && is_behind(i, barrier)) begins[i] += time(barrier, modes[barrier]);
    }
    order.resize(n);
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return begins[i]; });
  }

 private:
  double time(std::size_t op, std::size_t mode) const { return instance_.duration(OpId(op), mode) * scale_; }
  double share(std::size_t op, std::size_t mode, std::size_t k) const {
    const double capacity = instance_.resources[k].capacity;
    if (capacity <= 0 || instance_.duration(OpId(op), mode) <= 0) return 0;
    return instance_.demand(OpId(op), mode)[k] / capacity;
  }
  bool incomparable(std::size_t a, std::size_t b) const { return !before_[a][b] && !before_[b][a]; }
  bool collide(std::size_t a, std::size_t m, std::size_t b, std::size_t other) const {
    for (std::size_t k = 0; k < instance_.resources.size(); ++k)
      if (share(a, m, k) > 0 && share(b, other, k) > 0 && share(a, m, k) + share(b, other, k) > 1 + kCapacityTolerance)
        return true;
    return false;
  }

  void close_order() {
    const std::size_t n = instance_.size();
    before_.assign(n, std::vector<bool>(n));
    for (const Edge& edge : instance_.edges) before_[edge.from.index()][edge.to.index()] = true;
    for (std::size_t via = 0; via < n; ++via)
      for (std::size_t a = 0; a < n; ++a)
        if (before_[a][via])
          for (std::size_t b = 0; b < n; ++b)
            if (before_[via][b]) before_[a][b] = true;
  }

  void find_exclusive_modes() {
    const std::size_t n = instance_.size();
    exclusive_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t m = 0; m < instance_.mode_count(OpId(i)); ++m) {
        bool exclusive = instance_.duration(OpId(i), m) > 0;
        for (std::size_t j = 0; j < n && exclusive; ++j)
          if (j != i && incomparable(i, j))
            for (std::size_t other = 0; other < instance_.mode_count(OpId(j)) && exclusive; ++other)
              exclusive = collide(i, m, j, other);
        exclusive_[i].push_back(exclusive);
      }
  }

  // Longest paths before and after each operator on the compressed axis.
  void set_heads_and_tails() {
    const std::size_t n = instance_.size();
    shortest_.assign(n, kHorizon);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t m = 0; m < exclusive_[i].size(); ++m)
        shortest_[i] = std::min(shortest_[i], exclusive_[i][m] ? 0 : time(i, m));
    heads_.assign(n, 0);
    tails_.assign(n, 0);
    for (std::size_t i = 0; i < n; ++i) topological_.push_back(i);
    std::ranges::stable_sort(topological_, [&](std::size_t a, std::size_t b) {
      return std::ranges::count(before_[a], true) > std::ranges::count(before_[b], true);
    });
    for (const std::size_t i : topological_)
      for (std::size_t j = 0; j < n; ++j)
        if (before_[i][j]) heads_[j] = std::max(heads_[j], heads_[i] + shortest_[i]);
    for (std::size_t at = n; at-- > 0;)
      for (std::size_t j = 0; j < n; ++j)
        if (before_[topological_[at]][j])
          tails_[topological_[at]] = std::max(tails_[topological_[at]], shortest_[j] + tails_[j]);
  }

  // factor · d_i
  void append_duration(std::vector<Term>& row, std::size_t op, double factor) const {
    for (std::size_t m = 0; m < modes_[op].size(); ++m)
      if (!exclusive_[op][m]) row.push_back({modes_[op][m], factor * time(op, m)});
  }
  void append_exclusive(std::vector<Term>& row, std::size_t op, double factor) const {
    for (std::size_t m = 0; m < modes_[op].size(); ++m)
      if (exclusive_[op][m]) row.push_back({modes_[op][m], factor * time(op, m)});
  }

  void add_order() {
    const std::size_t n = instance_.size();
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<Term> end = {{makespan_, 1}, {starts_[i], -1}};
      append_duration(end, i, -1);
      program_.at_least(end, tails_[i]);
      for (std::size_t j = 0; j < n; ++j) {
        bool direct = before_[i][j];
        for (std::size_t via = 0; via < n && direct; ++via) direct = !(before_[i][via] && before_[via][j]);
        if (!direct) continue;
        std::vector<Term> row = {{starts_[j], 1}, {starts_[i], -1}};
        append_duration(row, i, -1);
        program_.at_least(row, 0);
      }
    }
  }

  // The binary "i finishes before j starts", made when first asked for.
  int first(std::size_t i, std::size_t j) {
    int& column = ordering_[i * instance_.size() + j];
    if (column < 0) {
      column = program_.add_binary();
      std::vector<Term> row = {{starts_[j], 1}, {starts_[i], -1}};
      append_duration(row, i, -1);
      const double most = kHorizon - tails_[i] - heads_[j];
      row.push_back({column, -most});
      program_.at_least(row, -most);
      if (ordering_[j * instance_.size() + i] >= 0)
        program_.at_most(std::array{Term{column, 1}, Term{ordering_[j * instance_.size() + i], 1}}, 1);
    }
    return column;
  }

  void add_collisions() {
    const std::size_t n = instance_.size();
    ordering_.assign(n * n, -1);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j || !incomparable(i, j)) continue;
        for (std::size_t m = 0; m < modes_[i].size(); ++m) {
          std::vector<Term> row = {{modes_[i][m], 1}};
          for (std::size_t other = 0; other < modes_[j].size(); ++other)
            if (collide(i, m, j, other) && !(exclusive_[i][m] && exclusive_[j][other]))
              row.push_back({modes_[j][other], 1});
          if (row.size() == 1) continue;
          row.push_back({first(i, j), -1});
          row.push_back({first(j, i), -1});
          program_.at_most(row, 1);
        }
      }
  }

  // Exclusive modes run off the axis and take no part in the flow.
  double flowing(std::size_t op, std::size_t mode, std::size_t k) const {
    return exclusive_[op][mode] ? 0 : share(op, mode, k);
  }

  // Intervals that overlap pairwise have a moment in common, so a capacity holds if it holds for every set of operators
  // no two of which are ordered. One row per set of three or more that could be too much; false if there are too many.
  bool add_crowds(std::size_t k, const std::vector<double>& most) {
    std::vector<std::vector<std::size_t>> crowds;
    std::vector<std::size_t> members;
    const auto grow = [&](const auto& self, std::size_t from, double demand) -> bool {
      if (members.size() >= 3 && demand > 1 + kCapacityTolerance) {
        if (crowds.size() == kMostCrowds) return false;
        crowds.push_back(members);
      }
      for (std::size_t i = from; i < instance_.size(); ++i) {
        if (most[i] == 0) continue;
        bool beside_all = true;
        for (const std::size_t other : members) beside_all = beside_all && incomparable(i, other);
        if (!beside_all) continue;
        members.push_back(i);
        const bool go_on = self(self, i + 1, demand + most[i]);
        members.pop_back();
        if (!go_on) return false;
      }
      return true;
    };
    if (!grow(grow, 0, 0)) return false;
    for (const auto& crowd : crowds) {
      double excess = -1;
      std::vector<Term> row;
      for (const std::size_t i : crowd) {
        excess += most[i];
        for (std::size_t m = 0; m < modes_[i].size(); ++m)
          if (flowing(i, m, k) > 0) row.push_back({modes_[i][m], flowing(i, m, k)});
      }
      for (std::size_t a = 0; a < crowd.size(); ++a)
        for (std::size_t b = a + 1; b < crowd.size(); ++b) {
          row.push_back({first(crowd[a], crowd[b]), -excess});
          row.push_back({first(crowd[b], crowd[a]), -excess});
        }
      program_.at_most(row, 1 + kCapacityTolerance);
    }
    return true;
  }

  void add_flow(std::size_t k) {
    const std::size_t n = instance_.size();
    std::vector<double> most(n, 0);
    double together = 0;
    bool all_collide = true;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t m = 0; m < modes_[i].size(); ++m) {
        most[i] = std::max(most[i], flowing(i, m, k));
        all_collide = all_collide && (flowing(i, m, k) == 0 || flowing(i, m, k) > 0.5 * (1 + kCapacityTolerance));
      }
      together += most[i];
    }
    if (all_collide || together <= 1 + kCapacityTolerance) return;
    if (add_crowds(k, most)) return;
    std::vector<std::vector<Term>> in(n), out(n);
    std::vector<Term> source;
    for (std::size_t i = 0; i < n; ++i) {
      if (most[i] == 0) continue;
      const int from_source = program_.add_continuous(0, most[i]);
      source.push_back({from_source, 1});
      in[i].push_back({from_source, 1});
      for (std::size_t j = 0; j < n; ++j) {
        if (i == j || most[j] == 0 || before_[j][i]) continue;
        const double limit = std::min(most[i], most[j]);
        const int flow = program_.add_continuous(0, limit);
        out[i].push_back({flow, 1});
        in[j].push_back({flow, 1});
        if (!before_[i][j]) program_.at_most(std::array{Term{flow, 1}, Term{first(i, j), -limit}}, 0);
      }
    }
    program_.at_most(source, 1 + kCapacityTolerance);
    for (std::size_t i = 0; i < n; ++i) {
      if (most[i] == 0) continue;
      for (std::size_t m = 0; m < modes_[i].size(); ++m) {
        if (flowing(i, m, k) == 0) continue;
        in[i].push_back({modes_[i][m], -flowing(i, m, k)});
        out[i].push_back({modes_[i][m], -flowing(i, m, k)});
      }
      program_.equal(in[i], 0);
      program_.at_most(out[i], 0);  // the rest goes back to the source
    }
  }

  void add_work(std::size_t k) {
    std::vector<Term> row = {{makespan_, 1}};
    for (std::size_t i = 0; i < instance_.size(); ++i)
      for (std::size_t m = 0; m < modes_[i].size(); ++m)
        if (flowing(i, m, k) > 0) row.push_back({modes_[i][m], -time(i, m) * flowing(i, m, k)});
    if (row.size() > 1) program_.at_least(row, 0);
  }

  const Instance& instance_;
  double scale_;
  Milp program_;
  std::vector<std::vector<bool>> before_, exclusive_;
  std::vector<double> shortest_, heads_, tails_;
  std::vector<std::size_t> topological_;
  int makespan_ = 0;
  std::vector<int> starts_;
  std::vector<std::vector<int>> modes_;
  std::vector<int> ordering_;
};

// Places operators in `order`, each when its predecessors have finished and it fits; predecessors are placed first
// whatever the order says.
Schedule rebuild(const Instance& instance, const std::vector<std::size_t>& modes,
                 const std::vector<std::size_t>& order) {
  const std::size_t n = instance.size();
  Schedule schedule{.ops = std::vector<Placement>(n)};
  std::vector<bool> placed(n);
  const auto fits = [&](std::size_t op, double start) {
    const double finish = start + instance.duration(OpId(op), modes[op]);
    for (std::size_t at = 0; at <= n; ++at) {
      const double moment = at == n ? start : schedule.ops[at].start;
      if (at < n && (!placed[at] || moment <= start || moment >= finish)) continue;
      for (std::size_t k = 0; k < instance.resources.size(); ++k) {
        double held = instance.demand(OpId(op), modes[op])[k];
        for (std::size_t j = 0; j < n; ++j)
          if (placed[j] && schedule.ops[j].start <= moment && schedule.ops[j].finish > moment)
            held += instance.demand(OpId(j), modes[j])[k];
        if (held > instance.resources[k].capacity * (1 + kCapacityTolerance)) return false;
      }
    }
    return true;
  };
  for (std::size_t round = 0; round < n; ++round) {
    std::size_t op = n;
    double earliest = 0;
    for (const std::size_t candidate : order) {
      if (placed[candidate]) continue;
      bool ready = true;
      earliest = 0;
      for (const Edge& edge : instance.edges) {
        if (edge.to.index() != candidate) continue;
        ready = ready && placed[edge.from.index()];
        earliest = std::max(earliest, schedule.ops[edge.from.index()].finish);
      }
      if (!ready) continue;
      op = candidate;
      break;
    }
    const double duration = instance.duration(OpId(op), modes[op]);
    double start = Milp::kInfinity;
    if (duration <= 0 || fits(op, earliest)) start = earliest;
    for (std::size_t j = 0; j < n; ++j)
      if (placed[j] && schedule.ops[j].finish > earliest && schedule.ops[j].finish < start &&
          fits(op, schedule.ops[j].finish))
        start = schedule.ops[j].finish;
    placed[op] = true;
    schedule.ops[op] = {.mode = static_cast<std::uint32_t>(modes[op]), .start = start, .finish = start + duration};
    schedule.makespan = std::max(schedule.makespan, start + duration);
  }
  return schedule;
}

// Lists and cheap bounds of the exact engine: a schedule to beat, and a bound that the answer must respect.
struct Start {
  Schedule schedule;
  double bound = 0;
  std::vector<std::vector<double>> rates;  // per operator and mode of the instance
};

template <std::size_t Words>
double antichain_rates(const Block& block, Stop& stop, Start& start) {
  AntichainBound<Words> antichains;
  const double bound = antichains.solve(block, {}, static_cast<double>(kSerialTicks) * 2, stop);
  antichains.lift();
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
      start.rates[block.original[i]][block.modes[m].original] = antichains.rates()[m];
  return bound;
}

Start make_start(const Instance& instance, bool with_rates, Stop& stop) {
  Start start;
  Decomposition decomposition;
  decomposition.split(instance);
  start.bound = decomposition.seconds_alone();
  // What stands alone earns all of its time, in any mode; modes that blocks leave out earn nothing, which is valid.
  for (std::size_t i = 0; i < instance.size(); ++i) start.rates.emplace_back(instance.mode_count(OpId(i)), 1.0);
  std::vector<BlockSchedule> schedules;
  ListScheduler lists;
  SimpleBounds bounds;
  for (const Block& block : decomposition.blocks()) {
    Ticks bound = bounds.compute(block);
    lists.run(block, bound, schedules.emplace_back());
    for (const std::uint32_t op : block.original) std::ranges::fill(start.rates[op], 0);
    double antichains = 0;
    if (with_rates && block.words == 1)
      antichains = antichain_rates<1>(block, stop, start);
    else if (with_rates && block.words == 2)
      antichains = antichain_rates<2>(block, stop, start);
    else if (with_rates && block.words <= 4)
      antichains = antichain_rates<4>(block, stop, start);
    // The cut says no more than this bound, which is known even if the engine does not get as far as its first LP.
    bound = std::max(bound, whole_ticks(antichains));
    start.bound += static_cast<double>(bound) * decomposition.seconds_per_tick();
  }
  decomposition.assemble(schedules, start.schedule);
  return start;
}

}  // namespace

Solution solve_ilp(const Instance& instance, const IlpOptions& options, double gap, Stop& stop) {
  Start start = make_start(instance, options.antichain_cut, stop);
  Solution solution;
  solution.schedule = std::move(start.schedule);
  if (options.known != nullptr && options.known->makespan < solution.schedule.makespan)
    solution.schedule = *options.known;
  if (options.own_bounds) solution.lower_bound = std::min(start.bound * (1 - 1e-12), solution.schedule.makespan);
  const double horizon = solution.schedule.makespan;
  const auto closed = [&](double up_to) {
    return solution.lower_bound >= solution.schedule.makespan * (1 - std::max(up_to, kTimeTolerance));
  };
  if (horizon > 0 && !closed(gap) && !stop.reached()) {
    Formulation formulation(instance, horizon);
    if (options.antichain_cut) formulation.add_rates(start.rates);
    // What the engine claims agrees with its schedule that well; what is left is to be no more than was asked for.
    Milp::Limits limits{.gap = std::max(0.0, gap - 2 * kAgreement)};
    limits.stopped = [&stop] { return stop.reached(); };
    limits.seconds = std::min(stop.seconds_left(), Milp::kInfinity);
    if (stop.work_left() < kMostNodes) limits.nodes = static_cast<std::int64_t>(stop.work_left());
    const Milp::Answer answer = formulation.program().minimise(limits);
    solution.statistics.milp_nodes = answer.nodes;
    stop.spend(answer.nodes);
    // An engine that finds no schedule at all, though one is known, proves nothing: it may not even have solved an LP.
    if (answer.found) {
      std::vector<std::size_t> modes, order;
      formulation.read(answer.values, modes, order);
      Schedule found = rebuild(instance, modes, order);
      const double claimed = formulation.seconds(answer.objective);
      // An engine that may leave a gap says "optimal" once it has come that close, and forgets its bound.
      const bool close = answer.proven_optimal && limits.gap > 0;
      const double bound = close ? std::min(formulation.seconds(answer.bound), claimed * (1 - limits.gap))
                                 : formulation.seconds(answer.bound);
      const bool agrees = std::abs(found.makespan - claimed) <= kAgreement * claimed;
      if (found.makespan < solution.schedule.makespan) solution.schedule = std::move(found);
      // A bound above a valid schedule is wrong, and then so may be the rest of what the engine says.
      const bool sane = bound <= solution.schedule.makespan * (1 + kAgreement);
      if (sane) solution.lower_bound = std::max(solution.lower_bound, std::min(bound, solution.schedule.makespan));
      if (sane && agrees && answer.proven_optimal && !close && claimed <= solution.schedule.makespan * (1 + kAgreement))
        solution.lower_bound = solution.schedule.makespan;
    }
  }
  if (closed(0)) {
    solution.lower_bound = solution.schedule.makespan;
    solution.proof = Proof::kOptimal;
  }
  check(evaluate(instance, solution.schedule).valid(), "the ILP engine returns valid schedules");
  return solution;
}

}  // namespace phaze::schedule
