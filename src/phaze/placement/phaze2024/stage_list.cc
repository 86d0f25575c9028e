#include "phaze/placement/phaze2024/stage_list.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "phaze/placement/phaze2024/pipeline_search.h"

namespace phaze::placement::phaze2024 {
namespace {

// Measures stages one after the other; keeps its buffers.
class Measure {
 public:
  Measure(const Instance& instance, const Graph& graph)
      : graph_(graph),
        recompute_(instance.recompute),
        copies_(instance.optimizer == Optimizer::kAdam ? 3 : 2),
        inside_(graph.size(), 0),
        ready_(graph.size(), 0) {}

  // `nodes` in topological order.
  StageList::Entry operator()(const std::vector<std::uint32_t>& nodes) {
    for (const std::uint32_t node : nodes) inside_[node] = 1;
    StageList::Entry entry{.single = true};
    double activations = 0;
    double entering = 0;
    double bare = 0;
    for (const std::uint32_t node : nodes) {
      entry.parameters += graph_.parameters[node];
      activations += graph_.activations[node];
      bare += graph_.forward[node];
      entry.single = entry.single && !graph_.split[node];
      for (const Arc& input : graph_.inputs[node])
        if (inside_[input.node] == 0) entering += input.bytes;
    }
    entry.fixed_memory = copies_ * entry.parameters + activations;
    entry.stash = recompute_ ? entering : activations;
    const double forward = pass(nodes.begin(), nodes.end(), graph_.inputs, graph_.forward);
    const double backward = pass(nodes.rbegin(), nodes.rend(), graph_.outputs, graph_.backward);
    entry.load_last = forward + backward;
    entry.load = recompute_ ? forward + finish(bare) : entry.load_last;
    for (const std::uint32_t node : nodes) inside_[node] = 0;
    return entry;
  }

 private:
  template <typename Iterator>
  double pass(Iterator begin, Iterator end, const std::vector<std::vector<Arc>>& needs,
              const std::vector<double>& seconds) {
    queue_.clear();
    for (auto node = begin; node != end; ++node) {
      double ready = 0;
      for (const Arc& need : needs[*node])
        ready = std::max(ready, inside_[need.node] == 0 ? need.seconds : ready_[need.node]);
      ready_[*node] = ready;
      queue_.emplace_back(ready, seconds[*node]);
    }
    // Stable, so that what is ready at once runs, and is added up, in topological order.
    constexpr auto kReady = &std::pair<double, double>::first;
    if (!std::ranges::is_sorted(queue_, {}, kReady)) std::ranges::stable_sort(queue_, {}, kReady);
    return finish(0);
  }

  // The end of the pass that `queue_` holds, if the devices are free from `now` on.
  double finish(double now) const {
    for (const auto& [ready, seconds] : queue_) now = std::max(now, ready) + seconds;
    return now;
  }

  const Graph& graph_;
  const bool recompute_;
  const double copies_;
  std::vector<char> inside_;
  std::vector<double> ready_;
  std::vector<std::pair<double, double>> queue_;
};

// A downset takes four times the bytes of a stage, and when everything fits there are many more stages.
std::size_t downset_limit(std::size_t stage_limit) {
  return std::min(stage_limit, std::max(std::size_t{1} << 18U, stage_limit / 16));
}

}  // namespace

StageList::StageList(const Instance& instance, const Graph& graph, double memory, std::size_t stage_limit,
                     Progress& progress)
    : nodes_(graph.size()), words_((graph.size() + 63) / 64), memory_(memory) {
  if (find_downsets(graph, downset_limit(stage_limit)) && find_stages(instance, graph, stage_limit, progress)) return;
  if (stopped_) return;
  complete_ = false;
  keep_prefixes(stage_limit);
  find_stages(instance, graph, std::numeric_limits<std::size_t>::max(), progress);
}

// Breadth first, so that downsets are found by size and the full one last. False if there are too many.
bool StageList::find_downsets(const Graph& graph, std::size_t limit) {
  downsets_.assign(words_, 0);
  growths_.assign(1, {});
  const auto key = [&](const std::vector<Word>& words) {
    return std::string(reinterpret_cast<const char*>(words.data()), words.size() * sizeof(Word));
  };
  std::unordered_map<std::string, std::uint32_t> known;
  std::vector<Word> words(words_, 0);
  known.emplace(key(words), 0);
  for (std::uint32_t state = 0; state < growths_.size(); ++state)
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      if (holds(state, node)) continue;
      const auto& inputs = graph.inputs[node];
      if (!std::ranges::all_of(inputs, [&](const Arc& input) { return holds(state, input.node); })) continue;
      const auto first = downsets_.begin() + static_cast<std::ptrdiff_t>(state * words_);
      words.assign(first, first + static_cast<std::ptrdiff_t>(words_));
      words[node / 64] |= Word{1} << (node % 64);
      const auto [found, added] = known.emplace(key(words), static_cast<std::uint32_t>(growths_.size()));
      if (added) {
        if (growths_.size() >= limit) return false;
        downsets_.insert(downsets_.end(), words.begin(), words.end());
        growths_.emplace_back();
      }
      growths_[state].push_back(found->second);
    }
  return true;
}

// p prefixes beside the empty one make p(p+1)/2 stages; the whole is always among them.
void StageList::keep_prefixes(std::size_t stage_limit) {
  std::size_t prefixes = 1;
  while (prefixes < nodes_ && (prefixes + 1) * (prefixes + 2) / 2 <= stage_limit) ++prefixes;
  downsets_.assign((prefixes + 1) * words_, 0);
  growths_.assign(prefixes + 1, {});
  for (std::size_t state = 0; state <= prefixes; ++state) {
    for (std::size_t node = 0; node < nodes_ * state / prefixes; ++node)
      downsets_[state * words_ + node / 64] |= Word{1} << (node % 64);
    if (state < prefixes) growths_[state] = {static_cast<std::uint32_t>(state + 1)};
  }
}

// From each downset grows node by node to all larger ones. A stage that does not fit has no larger one that does. False
// if there are too many, or if asked to stop.
bool StageList::find_stages(const Instance& instance, const Graph& graph, std::size_t limit, Progress& progress) {
  Measure measure(instance, graph);
  const std::size_t count = growths_.size();
  entries_.clear();
  begin_.assign(1, 0);
  std::vector<std::uint32_t> reached_from(count, std::numeric_limits<std::uint32_t>::max());
  std::vector<std::uint32_t> open;
  for (std::uint32_t state = 0; state < count; ++state) {
    if (!progress.advance("stages", state, static_cast<std::int64_t>(count))) {
      stopped_ = true;
      return false;
    }
    open.assign(1, state);
    while (!open.empty()) {
      const std::uint32_t from = open.back();
      open.pop_back();
      for (const std::uint32_t to : growths_[from]) {
        if (reached_from[to] == state) continue;
        reached_from[to] = state;
        Entry entry = measure(nodes_between(state, to));
        if (!entry.fits(1, memory_)) continue;
        if (entries_.size() >= limit) return false;
        entry.to = to;
        entries_.push_back(entry);
        open.push_back(to);
      }
    }
    begin_.push_back(entries_.size());
  }
  return true;
}

std::vector<std::uint32_t> StageList::nodes_between(std::uint32_t from, std::uint32_t to) const {
  std::vector<std::uint32_t> nodes;
  for (std::size_t w = 0; w < words_; ++w)
    for (Word left = downsets_[to * words_ + w] & ~downsets_[from * words_ + w]; left != 0; left &= left - 1)
      nodes.push_back(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(__builtin_ctzll(left))));
  return nodes;
}

void StageList::row(std::size_t k, double cap, const double* same, const double* fewer, double* out) const {
  for (std::size_t state = 0; state < states(); ++state)
    for (std::size_t at = begin_[state]; at < begin_[state + 1]; ++at) {
      const Entry& entry = entries_[at];
      const double rest = entry.single ? fewer[entry.to] : same[entry.to];
      const double largest = std::max(k == 1 ? entry.load_last : entry.load, rest);
      if (largest < std::min(cap, out[state]) && entry.fits(k, memory_)) out[state] = largest;
    }
}

void StageList::most_single_row(std::size_t k, double limit, const double* fewer, double* out) const {
  for (std::size_t state = 0; state < states(); ++state)
    for (std::size_t at = begin_[state]; at < begin_[state + 1]; ++at) {
      const Entry& entry = entries_[at];
      const double most = fewer[entry.to] + (entry.single ? 1 : 0);
      if (most > out[state] && (k == 1 ? entry.load_last : entry.load) <= limit && entry.fits(k, memory_))
        out[state] = most;
    }
}

}  // namespace phaze::placement::phaze2024
