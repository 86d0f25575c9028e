#include "phaze/placement/phaze2024/chain_stages.h"

#include <algorithm>

#include "phaze/placement/phaze2024/pipeline_search.h"

namespace phaze::placement::phaze2024 {
namespace {

// out[i] = min(out[i], max(load[i], next)) where the stage fits at depth k. Without branches, so that it is vectorised.
void relax(const double* load, const double* deepest, std::size_t count, double k, double next, double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const double largest = load[i] > next ? load[i] : next;
    const double fitting = deepest[i] >= k ? largest : out[i];
    out[i] = fitting < out[i] ? fitting : out[i];
  }
}

// out[i] = max(out[i], most) where the stage fits at depth k and takes no more than limit.
void count(const double* load, const double* deepest, std::size_t size, double k, double limit, double most,
           double* out) {
  for (std::size_t i = 0; i < size; ++i) {
    const double fitting = deepest[i] >= k ? most : out[i];
    const double allowed = load[i] <= limit ? fitting : out[i];
    out[i] = allowed > out[i] ? allowed : out[i];
  }
}

// The largest k <= most with fixed + (k-1) * stash <= memory; 0 if there is none.
double depth(double fixed, double stash, double memory, double most) {
  if (!(fixed <= memory)) return 0;
  double more = most - 1;
  if (fixed + more * stash <= memory) return most;
  // The quotient is at most one off, by rounding; the sum decides.
  more = std::min(more, static_cast<double>(static_cast<std::int64_t>((memory - fixed) / stash)));
  if (fixed + more * stash > memory) --more;
  if (fixed + (more + 1) * stash <= memory) ++more;
  return more + 1;
}

}  // namespace

// Sums over [i, j] for all i, carried from one j to the next.
struct ChainStages::Column {
  std::vector<double> forward, bare, parameters, activations, entering;

  explicit Column(std::size_t nodes)
      : forward(nodes), bare(nodes), parameters(nodes), activations(nodes), entering(nodes) {}

  void append(const Graph& graph, std::size_t j, std::size_t lowest) {
    const std::vector<Arc>& inputs = graph.inputs[j];
    // [j, j] begins empty: nothing entered it, nothing ran.
    forward[j] = bare[j] = parameters[j] = activations[j] = entering[j] = 0;
    if (inputs.size() > 1) {
      double slowest = 0;
      double bytes = 0;
      auto next = inputs.begin();
      for (std::size_t i = lowest; i <= j; ++i) {
        for (; next != inputs.end() && next->node < i; ++next) {
          slowest = std::max(slowest, next->seconds);
          bytes += next->bytes;
        }
        forward[i] = std::max(forward[i], slowest);
        entering[i] += bytes;
      }
    } else if (j > 0) {
      forward[j] = inputs.back().seconds;
      entering[j] = inputs.back().bytes;
    }
    for (std::size_t i = lowest; i <= j; ++i) {
      forward[i] += graph.forward[j];
      bare[i] += graph.forward[j];
      parameters[i] += graph.parameters[j];
      activations[i] += graph.activations[j];
    }
  }
};

ChainStages::ChainStages(const Instance& instance, const Graph& graph)
    : nodes_(graph.size()), recompute_(instance.recompute) {
  const double most = static_cast<double>(nodes_);
  const double copies = instance.optimizer == Optimizer::kAdam ? 3 : 2;
  seconds_.assign(nodes_ + 1, 0);
  single_from_.resize(nodes_);
  for (std::size_t j = 0; j < nodes_; ++j) {
    seconds_[j + 1] = seconds_[j] + graph.forward[j] + graph.backward[j];
    single_from_[j] = graph.split[j] ? j + 1 : (j == 0 ? 0 : single_from_[j - 1]);
  }

  // Forward passes and memory, column by column; `lowest` only moves right, for a stage that is too large stays so.
  lowest_.resize(nodes_);
  column_.resize(nodes_);
  const std::size_t expected = nodes_ * (nodes_ + 1) / 2;
  for (std::vector<double>* table : {&load_last_, &parameters_, &deepest_}) table->reserve(expected);
  std::vector<double> bare;  // F(i,j), for the recomputing pass
  if (recompute_) bare.reserve(expected);
  Column column(nodes_);
  std::size_t lowest = 0;
  for (std::size_t j = 0; j < nodes_; ++j) {
    column.append(graph, j, lowest);
    const auto fixed = [&](std::size_t i) { return copies * column.parameters[i] + column.activations[i]; };
    while (lowest <= j && !(fixed(lowest) <= instance.memory_per_device)) ++lowest;
    lowest_[j] = lowest;
    column_[j] = deepest_.size() - lowest;  // may wrap round below 0; adding i brings it back
    for (std::size_t i = lowest; i <= j; ++i) {
      const double stash = recompute_ ? column.entering[i] : column.activations[i];
      deepest_.push_back(depth(fixed(i), stash, instance.memory_per_device, most));
    }
    const auto from = static_cast<std::ptrdiff_t>(lowest);
    const auto to = static_cast<std::ptrdiff_t>(j + 1);
    parameters_.insert(parameters_.end(), column.parameters.begin() + from, column.parameters.begin() + to);
    load_last_.insert(load_last_.end(), column.forward.begin() + from, column.forward.begin() + to);
    if (recompute_) bare.insert(bare.end(), column.bare.begin() + from, column.bare.begin() + to);
  }

  // Backward passes, from the last column to the first: an edge into j crosses the end of all stages that end before j.
  if (recompute_) load_ = load_last_;
  std::vector<double> departure(nodes_, 0);
  for (std::size_t j = nodes_; j-- > 0;) {
    double backward = 0;
    double bare_backward = 0;
    for (std::size_t i = j + 1; i-- > lowest_[j];) {
      const std::size_t at = column_[j] + i;
      backward = std::max(backward, departure[i]) + graph.backward[i];
      bare_backward += graph.backward[i];
      load_last_[at] += backward;
      if (recompute_) load_[at] += std::max(bare[at] + bare_backward, backward);
    }
    for (const Arc& input : graph.inputs[j]) departure[input.node] = std::max(departure[input.node], input.seconds);
  }
}

// Whatever begins before `shortest` and ends with j takes more than cap seconds; so does one of the k-1 stages behind
// j, for all j before the first. (Differences of sums are only as exact as the sums: slack.)
template <typename Visit>
void ChainStages::columns(std::size_t k, double cap, Visit visit) const {
  const double slack = seconds_.back() * (kRounding * 16);
  const double behind = k == 1 ? 0 : static_cast<double>(k - 1) * cap;
  const auto first = std::ranges::lower_bound(seconds_, seconds_.back() - slack - behind) - seconds_.begin();
  std::size_t shortest = 0;
  for (auto j = static_cast<std::size_t>(std::max<std::ptrdiff_t>(first, 1) - 1); j + k <= nodes_; ++j) {
    while (shortest <= j && seconds_[j + 1] - seconds_[shortest] - slack > cap) ++shortest;
    const std::size_t begin = std::max(lowest_[j], shortest);
    if (begin <= j) visit(j, begin);
  }
}

void ChainStages::row(std::size_t k, double cap, const double* same, const double* fewer, double* out) const {
  const double* load = k == 1 ? load_last_.data() : loads().data();
  const double depth = static_cast<double>(k);
  columns(k, cap, [&](std::size_t j, std::size_t begin) {
    // Plane 0 counts no single stages, so it need not tell them apart.
    const std::size_t single = same == fewer ? j + 1 : std::max(begin, single_from_[j]);
    const std::size_t at = column_[j];
    if (begin < single && same[j + 1] < cap)
      relax(&load[at + begin], &deepest_[at + begin], single - begin, depth, same[j + 1], &out[begin]);
    if (single <= j && fewer[j + 1] < cap)
      relax(&load[at + single], &deepest_[at + single], j + 1 - single, depth, fewer[j + 1], &out[single]);
  });
}

void ChainStages::most_single_row(std::size_t k, double limit, const double* fewer, double* out) const {
  const double* load = k == 1 ? load_last_.data() : loads().data();
  const double depth = static_cast<double>(k);
  columns(k, limit, [&](std::size_t j, std::size_t begin) {
    if (fewer[j + 1] < 0) return;
    const std::size_t single = std::max(begin, single_from_[j]);
    const std::size_t at = column_[j];
    if (begin < single)
      count(&load[at + begin], &deepest_[at + begin], single - begin, depth, limit, fewer[j + 1], &out[begin]);
    if (single <= j)
      count(&load[at + single], &deepest_[at + single], j + 1 - single, depth, limit, fewer[j + 1] + 1, &out[single]);
  });
}

}  // namespace phaze::placement::phaze2024
