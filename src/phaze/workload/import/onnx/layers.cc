#include "phaze/workload/import/onnx/layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "phaze/base/hash.h"

namespace phaze::workload::onnx {
namespace {

constexpr std::size_t kLongestPeriod = 4096;
// Work bounds for files made to be slow; real ones stay far below.
constexpr std::size_t kMostComparisons = 500'000'000;
constexpr std::size_t kMostCrossingChecks = 50'000'000;

bool is_index(std::string_view text) {
  return !text.empty() && text.size() <= 6 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "lm_head" from "lm_head.weight".
std::string module_of(std::string_view parameter) {
  const auto dot = parameter.rfind('.');
  return std::string(dot == std::string_view::npos ? parameter : parameter.substr(0, dot));
}

struct Hint {
  std::string layer;    // a numbered one
  std::string outside;  // the module of a weight that no layer owns
  std::string module;   // the path in the node's name, where it has one
};

Hint hint_for(const ValueGraph& values, const Lowered& lowered, OpId id) {
  Hint hint;
  const std::string& path = values[lowered.origin[id.index()]].name;
  hint.layer = layer_prefix(path);
  if (path.starts_with('/') && path.rfind('/') > 0) hint.module = path.substr(1, path.rfind('/') - 1);
  for (const TensorId input : lowered.graph.inputs(id)) {
    const ValueId parameter = lowered.parameters[input.index()];
    if (!parameter.valid()) continue;
    const std::string& name = values[parameter].name;
    if (const std::string prefix = layer_prefix(name); !prefix.empty())
      hint.layer = prefix;
    else if (name.find('.') != std::string::npos)
      hint.outside = module_of(name);
  }
  return hint;
}

// Stages as they are met; an operator never stands before one that feeds it.
class StageBuilder {
 public:
  explicit StageBuilder(const OpGraph& graph) : graph_(graph) {
    stages_.names = {"embedding"};
    stages_.stage_of_op.resize(graph.size());
  }

  std::size_t latest_input(OpId id) const {
    std::size_t latest = 0;
    for (const OpId before : graph_.predecessors(id)) latest = std::max(latest, stages_.stage_of_op[before.index()]);
    return latest;
  }

  void assign(OpId id, const std::string& name) {
    const auto [found, fresh] = known_.try_emplace(name, stages_.names.size());
    if (fresh) stages_.names.push_back(name);
    stages_.stage_of_op[id.index()] = std::max(found->second, latest_input(id));
  }
  void follow(OpId id) { stages_.stage_of_op[id.index()] = latest_input(id); }

  Stages finish() { return std::move(stages_); }

 private:
  const OpGraph& graph_;
  Stages stages_;
  std::map<std::string, std::size_t> known_;
};

Stages by_names(const OpGraph& graph, const std::vector<Hint>& hints) {
  StageBuilder builder(graph);
  std::size_t last_numbered = 0;
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (!hints[i].layer.empty()) last_numbered = i;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    const std::size_t latest = builder.latest_input(id);
    // Behind the last layer a node's path alone tells that it is the head; between layers, sums of the parent module
    // are theirs.
    const std::string& outside = hints[i].outside.empty() && i > last_numbered ? hints[i].module : hints[i].outside;
    if (!hints[i].layer.empty() && !is_nop(graph.op(id).work))
      builder.assign(id, hints[i].layer);
    else if (!outside.empty() && latest > 0)
      builder.assign(id, fmt::format("after {} {}", latest, outside));
    else
      builder.follow(id);
  }
  return builder.finish();
}

// Consecutive stages outside the numbered layers are one: "ln_f" and "lm_head" are the head.
void merge_outside(const OpGraph& graph, Stages& stages) {
  const auto is_outside = [&](std::size_t stage) { return stages.names[stage].starts_with("after "); };
  std::vector<std::size_t> target(stages.names.size());
  for (std::size_t i = 0; i < target.size(); ++i) target[i] = i;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const std::size_t mine = stages.stage_of_op[i];
    if (!is_outside(mine)) continue;
    std::set<std::size_t> feeding;
    for (const OpId before : graph.predecessors(OpId(i)))
      if (stages.stage_of_op[before.index()] != mine) feeding.insert(stages.stage_of_op[before.index()]);
    if (!feeding.empty() && is_outside(*feeding.rbegin()) && target[mine] == mine)
      target[mine] = target[*feeding.rbegin()];
  }
  for (std::size_t& stage : stages.stage_of_op) stage = target[stage];
}

// Drops empty stages, renumbers, and gives the stages outside the layers readable names.
void tidy(Stages& stages) {
  std::vector<std::size_t> used(stages.names.size(), 0);
  for (const std::size_t stage : stages.stage_of_op) used[stage] = 1;
  std::vector<std::string> names;
  std::vector<std::size_t> renumbered(used.size());
  for (std::size_t i = 0; i < used.size(); ++i) {
    renumbered[i] = names.size();
    if (used[i] != 0) names.push_back(stages.names[i]);
  }
  for (std::size_t& stage : stages.stage_of_op) stage = renumbered[stage];
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].starts_with("after ")) continue;
    const std::string module = names[i].substr(names[i].find(' ', 6) + 1);
    names[i] = i + 1 == names.size() ? "head" : module;
  }
  if (names.size() == 1) names[0] = "model";  // no layers were found: all is one
  stages.names = std::move(names);
}

std::uint64_t signature(const OpGraph& graph, OpId id) {
  std::uint64_t h = hash_words(hash(graph.op(id).work), {static_cast<std::uint64_t>(graph.op(id).type)});
  for (const TensorId input : graph.inputs(id))
    h = hash_words(h, {static_cast<std::uint64_t>(graph.tensor(input).role == TensorRole::kParameter),
                       static_cast<std::uint64_t>(graph.tensor(input).elements)});
  return h;
}

// Bytes made before `cut` (in trunk order) and read at or after it.
Bytes crossing(const OpGraph& graph, const std::vector<std::size_t>& rank_of_op, std::size_t cut) {
  Bytes sum;
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId(i));
    if (!tensor.producer.valid() || rank_of_op[tensor.producer.index()] >= cut) continue;
    const auto readers = graph.consumers(TensorId(i));
    if (std::ranges::any_of(
            readers, [&](OpId reader) { return rank_of_op[reader.index()] >= cut && !is_nop(graph.op(reader).work); }))
      sum += tensor.bytes();
  }
  return sum;
}

Stages by_structure(const OpGraph& graph) {
  std::vector<OpId> trunk;
  std::vector<std::size_t> rank_of_op(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    rank_of_op[i] = trunk.size();
    if (!is_nop(graph.op(OpId(i)).work)) trunk.emplace_back(i);
  }
  std::vector<std::uint64_t> signatures;
  signatures.reserve(trunk.size());
  for (const OpId id : trunk) signatures.push_back(signature(graph, id));

  // The longest repetition, then again in what lies before and behind it (an encoder and a decoder are two stacks).
  std::vector<Repetition> stacks;
  std::vector<std::pair<std::size_t, std::size_t>> open = {{0, trunk.size()}};
  while (!open.empty()) {
    const auto [from, to] = open.back();
    open.pop_back();
    Repetition found = longest_repetition(std::span(signatures).subspan(from, to - from));
    if (found.count < 2 || found.period < 4) continue;
    found.start += from;
    // A shift within the period keeps all copies but the last: take the one where the least crosses.
    const std::size_t slack = std::min(found.period, to - (found.start + found.period * found.count) + 1);
    std::size_t best = found.start;
    Bytes least = crossing(graph, rank_of_op, best);
    for (std::size_t shift = 1; shift < std::min(slack, kMostCrossingChecks / graph.tensor_count()); ++shift) {
      const Bytes bytes = crossing(graph, rank_of_op, found.start + shift);
      if (bytes >= least) continue;
      least = bytes;
      best = found.start + shift;
    }
    found.start = best;
    stacks.push_back(found);
    open.emplace_back(from, found.start);
    open.emplace_back(found.start + found.period * found.count, to);
  }
  std::ranges::sort(stacks, {}, &Repetition::start);
  StageBuilder builder(graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    const std::size_t rank = rank_of_op[i];
    if (is_nop(graph.op(id).work)) {
      builder.follow(id);
      continue;
    }
    std::string name;
    for (std::size_t s = 0; s < stacks.size(); ++s) {
      const Repetition& stack = stacks[s];
      if (rank < stack.start) break;
      const std::size_t layer = (rank - stack.start) / stack.period;
      name = layer < stack.count ? fmt::format("stack{}.{}", s, layer)
                                 : fmt::format("after {} {}", s, s + 1 == stacks.size() ? "head" : "between");
    }
    if (name.empty())
      builder.follow(id);
    else
      builder.assign(id, name);
  }
  return builder.finish();
}

}  // namespace

std::string layer_prefix(std::string_view path) {
  std::size_t from = 0;
  std::size_t parts = 0;
  for (std::size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size() && path[i] != '.' && path[i] != '/') continue;
    const std::string_view part = path.substr(from, i - from);
    if (parts > 0 && is_index(part)) {
      std::string prefix(path.substr(0, i));
      std::ranges::replace(prefix, '/', '.');
      return prefix.starts_with('.') ? prefix.substr(1) : prefix;
    }
    if (!part.empty()) ++parts;
    from = i + 1;
  }
  return "";
}

// For each period, runs of equal entries one period apart; the run that covers most wins, the shortest period among
// equals.
Repetition longest_repetition(std::span<const std::uint64_t> signatures) {
  Repetition best;
  std::size_t covered = 0;
  const std::size_t n = signatures.size();
  const std::size_t longest = std::min({n / 2, kLongestPeriod, kMostComparisons / std::max<std::size_t>(n, 1)});
  for (std::size_t period = 1; period <= longest; ++period) {
    std::size_t run = 0;
    for (std::size_t i = 0; i + period < n; ++i) {
      run = signatures[i] == signatures[i + period] ? run + 1 : 0;
      const std::size_t copies = run / period + 1;
      if (copies < 2 || copies * period <= covered) continue;
      covered = copies * period;
      best = {.start = i + 1 - run, .period = period, .count = copies};
    }
  }
  return best;
}

Stages find_layers(const ValueGraph& values, const Lowered& lowered) {
  std::vector<Hint> hints;
  std::set<std::string> numbered;
  for (std::size_t i = 0; i < lowered.graph.size(); ++i) {
    hints.push_back(hint_for(values, lowered, OpId(i)));
    if (!hints.back().layer.empty()) numbered.insert(hints.back().layer);
  }
  Stages stages = numbered.size() >= 2 ? by_names(lowered.graph, hints) : by_structure(lowered.graph);
  // One numbered layer may be one that is used many times, which structure shows; if it does not, the name holds.
  if (numbered.size() == 1 && stages.names.size() == 1) stages = by_names(lowered.graph, hints);
  merge_outside(lowered.graph, stages);
  tidy(stages);
  return stages;
}

}  // namespace phaze::workload::onnx
