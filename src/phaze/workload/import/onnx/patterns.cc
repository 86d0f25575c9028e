#include "phaze/workload/import/onnx/patterns.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace phaze::workload::onnx {
namespace {

class Recogniser {
 public:
  explicit Recogniser(ValueGraph& graph) : graph_(graph), readers_(graph.consumers()) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const GraphNodeId id(i);
      const GraphNode& node = graph_[id];
      if (node.removed) continue;
      if (node.op == "SplitToSequence")
        split_parts(id);
      else if (node.op == "ReduceMean")
        norm(id);
      else if (node.op == "Erf" || node.op == "Tanh")
        gelu(id);
      else if (node.op == "Sigmoid")
        silu(id);
      else if (node.op == "Concat")
        rotary(id);
      else if (node.op == "MatMul")
        bias(id);
    }
  }

 private:
  // ---- walking ----

  bool is_number(ValueId id) const {
    return id.valid() && graph_[id].kind == ValueKind::kConstant && graph_[id].elements() == 1;
  }
  std::optional<double> number(ValueId id) const {
    if (!is_number(id) || !graph_[id].data) return std::nullopt;
    return graph_[id].data->front();
  }
  bool is_parameter(ValueId id) const { return id.valid() && graph_[id].kind == ValueKind::kParameter; }

  // The only node that reads a value, if it is of that kind.
  GraphNodeId only_reader(ValueId id, std::string_view op = {}) const {
    const auto& readers = readers_[id.index()];
    if (readers.size() != 1 || graph_[id].graph_output) return {};
    return op.empty() || graph_[readers[0]].op == op ? readers[0] : GraphNodeId::none();
  }

  GraphNodeId maker(ValueId id, std::string_view op) const {
    const GraphNode* node = graph_.maker(id, op);
    return node == nullptr ? GraphNodeId::none() : graph_[id].producer;
  }

  // Before any casts and identities.
  ValueId before_casts(ValueId id) const {
    for (;;) {
      const GraphNode* node = graph_.maker(id);
      if (node == nullptr || (node->op != "Cast" && node->op != "Identity" && node->op != "CastLike")) return id;
      id = node->inputs[0];
    }
  }

  // The other operand of a two-operand node.
  static ValueId other(const GraphNode& node, ValueId one) { return node.inputs[node.inputs[0] == one ? 1 : 0]; }
  static ValueId out(const GraphNode& node) { return node.outputs[0]; }

  // Follows casts forward as long as nothing else reads the value; `passed` collects them.
  ValueId after_casts(ValueId id, std::set<GraphNodeId>& passed) const {
    for (;;) {
      const GraphNodeId next = only_reader(id, "Cast");
      if (!next.valid()) return id;
      passed.insert(next);
      id = out(graph_[next]);
    }
  }

  // ---- replacing ----

  // One node in place of `group`, standing where the last of them stood. Refused (false) if anything outside the group
  // reads what the group made inside.
  bool replace(const std::set<GraphNodeId>& group, std::string_view op, const std::vector<ValueId>& inputs,
               ValueId result) {
    for (const GraphNodeId member : group)
      for (const ValueId made : graph_[member].outputs) {
        if (!made.valid() || made == result) continue;
        if (graph_[made].graph_output) return false;
        for (const GraphNodeId reader : readers_[made.index()])
          if (!group.contains(reader)) return false;
      }
    const GraphNodeId keep = graph_[result].producer;
    GraphNode made{.name = graph_[keep].name,
                   .op = std::string(op),
                   .domain = std::string(kPhazeDomain),
                   .inputs = inputs,
                   .outputs = {result}};
    for (const GraphNodeId member : group) graph_[member].removed = true;
    graph_[keep] = std::move(made);
    for (const ValueId input : inputs) {
      auto& readers = readers_[input.index()];
      std::erase_if(readers, [&](GraphNodeId reader) { return group.contains(reader); });
      readers.push_back(keep);
    }
    return true;
  }

  // ---- patterns ----

  void split_parts(GraphNodeId id) {
    const GraphNode& node = graph_[id];
    const auto readers = readers_[out(node).index()];
    if (readers.empty()) return;
    std::vector<ValueId> parts;
    for (const GraphNodeId reader : readers) {
      if (graph_[reader].op != "SequenceAt") return;
      parts.push_back(out(graph_[reader]));
    }
    GraphNode made{.name = node.name,
                   .op = std::string(kSplitParts),
                   .domain = std::string(kPhazeDomain),
                   .inputs = {node.inputs[0]},
                   .outputs = parts};
    for (const GraphNodeId reader : readers) graph_[reader].removed = true;
    for (const ValueId part : parts) graph_[part].producer = id;
    graph_[id] = std::move(made);
  }

  // mean(x²) ... x/√(·+ε) · weight: root-mean-square norm; with x = y − mean(y), and a bias at the end, layer norm.
  void norm(GraphNodeId mean) {
    std::set<GraphNodeId> group = {mean};
    const ValueId squared = graph_[mean].inputs[0];
    const GraphNodeId square = maker(squared, "Pow").valid() ? maker(squared, "Pow") : maker(squared, "Mul");
    if (!square.valid()) return;
    const GraphNode& squaring = graph_[square];
    if (squaring.op == "Pow" && number(squaring.inputs[1]) != 2.0) return;
    if (squaring.op == "Mul" && squaring.inputs[0] != squaring.inputs[1]) return;
    group.insert(square);
    const ValueId base = before_casts(squaring.inputs[0]);

    const GraphNodeId shift = only_reader(out(graph_[mean]), "Add");
    if (!shift.valid() || !is_number(other(graph_[shift], out(graph_[mean])))) return;
    const GraphNodeId root = only_reader(out(graph_[shift]), "Sqrt");
    if (!root.valid()) return;
    group.insert({shift, root});
    ValueId scale = out(graph_[root]);
    if (const GraphNodeId inverse = only_reader(scale, "Reciprocal"); inverse.valid()) {
      group.insert(inverse);
      scale = out(graph_[inverse]);
    } else if (const GraphNodeId one_over = only_reader(scale, "Div");
               one_over.valid() && number(graph_[one_over].inputs[0]) == 1.0) {
      group.insert(one_over);
      scale = out(graph_[one_over]);
    }
    const GraphNodeId apply = only_reader(scale);
    if (!apply.valid() || (graph_[apply].op != "Mul" && graph_[apply].op != "Div")) return;
    const ValueId scaled = other(graph_[apply], scale);
    if (before_casts(scaled) != base) return;
    group.insert(apply);
    collect_casts(squaring.inputs[0], group);
    collect_casts(scaled, group);

    ValueId x = base;
    bool centred = false;
    if (const GraphNodeId centre = maker(base, "Sub"); centre.valid()) {
      const GraphNode& subtraction = graph_[centre];
      const GraphNodeId inner_mean = maker(subtraction.inputs[1], "ReduceMean");
      if (inner_mean.valid() && before_casts(graph_[inner_mean].inputs[0]) == before_casts(subtraction.inputs[0])) {
        centred = true;
        group.insert({centre, inner_mean});
        collect_casts(subtraction.inputs[0], group);
        collect_casts(graph_[inner_mean].inputs[0], group);
        x = before_casts(subtraction.inputs[0]);
      }
    }
    finish_norm(centred ? kLayerNorm : kRmsNorm, x, out(graph_[apply]), group);
  }

  // Casts between a value and its source belong to the norm when nothing else reads them.
  void collect_casts(ValueId id, std::set<GraphNodeId>& group) const {
    for (;;) {
      const GraphNode* node = graph_.maker(id, "Cast");
      if (node == nullptr) return;
      group.insert(graph_[id].producer);
      id = node->inputs[0];
    }
  }

  // · weight, then + bias, each optional, with casts between.
  void finish_norm(std::string_view op, ValueId x, ValueId result, std::set<GraphNodeId> group) {
    std::vector<ValueId> inputs = {x};
    for (const std::string_view step : {"Mul", "Add"}) {
      std::set<GraphNodeId> passed;
      const ValueId value = after_casts(result, passed);
      const GraphNodeId next = only_reader(value, step);
      if (!next.valid() || !is_parameter(other(graph_[next], value))) break;
      inputs.push_back(other(graph_[next], value));
      group.insert(next);
      group.merge(passed);
      result = out(graph_[next]);
      if (op == kRmsNorm) break;
    }
    std::set<GraphNodeId> passed;
    if (inputs.size() == 1) {
      result = after_casts(result, passed);
      group.merge(passed);
    }
    // Casts that others read too stay outside.
    std::erase_if(group, [&](GraphNodeId member) {
      if (graph_[member].op != "Cast") return false;
      return std::ranges::any_of(readers_[out(graph_[member]).index()],
                                 [&](GraphNodeId reader) { return !group.contains(reader); }) &&
             out(graph_[member]) != result;
    });
    replace(group, op, inputs, result);
  }

  // x · ½ · (1 + erf(x/√2)) and x · ½ · (1 + tanh(√(2/π)·(x + 0.0447·x³))), in any association.
  void gelu(GraphNodeId id) {
    std::set<GraphNodeId> group = {id};
    const GraphNodeId plus_one = only_reader(out(graph_[id]), "Add");
    if (!plus_one.valid() || number(other(graph_[plus_one], out(graph_[id]))) != 1.0) return;
    group.insert(plus_one);
    ValueId gate = out(graph_[plus_one]);
    GraphNodeId multiply = only_reader(gate, "Mul");
    if (!multiply.valid()) return;
    if (is_number(other(graph_[multiply], gate))) {  // ½·(1 + ...) first
      group.insert(multiply);
      gate = out(graph_[multiply]);
      multiply = only_reader(gate, "Mul");
      if (!multiply.valid()) return;
    }
    group.insert(multiply);
    ValueId x = other(graph_[multiply], gate);
    if (const GraphNodeId half = maker(x, "Mul"); half.valid()) {  // (½·x) · (1 + ...)
      const GraphNode& halving = graph_[half];
      for (const std::size_t i : {0U, 1U})
        if (is_number(halving.inputs[i])) {
          group.insert(half);
          x = halving.inputs[1 - i];
          break;
        }
    }
    if (!collect_up_to(graph_[id].inputs[0], x, group)) return;
    ValueId result = out(graph_[multiply]);
    if (const GraphNodeId half = only_reader(result, "Mul");
        half.valid() && is_number(other(graph_[half], result)) && group.size() < 12) {
      if (number(other(graph_[half], result)) == 0.5) {
        group.insert(half);
        result = out(graph_[half]);
      }
    }
    replace(group, kGelu, {x}, result);
  }

  // All nodes between `x` and `from`, if nothing else than `x` and numbers flows in.
  bool collect_up_to(ValueId from, ValueId x, std::set<GraphNodeId>& group, int depth = 0) const {
    if (from == x || is_number(from)) return true;
    static const std::set<std::string_view> kPlain = {"Mul", "Add", "Pow", "Div", "Cast", "Identity", "Sqrt"};
    const GraphNode* node = graph_.maker(from);
    if (node == nullptr || !kPlain.contains(node->op) || depth > 8) return false;
    group.insert(graph_[from].producer);
    return std::ranges::all_of(node->inputs, [&](ValueId input) { return collect_up_to(input, x, group, depth + 1); });
  }

  // x · sigmoid(x); with sigmoid(1.702·x) it is the quick form of gelu.
  void silu(GraphNodeId id) {
    std::set<GraphNodeId> group = {id};
    const GraphNodeId multiply = only_reader(out(graph_[id]), "Mul");
    if (!multiply.valid()) return;
    group.insert(multiply);
    const ValueId x = other(graph_[multiply], out(graph_[id]));
    const ValueId gated = graph_[id].inputs[0];
    if (gated == x) {
      replace(group, kSilu, {x}, out(graph_[multiply]));
      return;
    }
    const GraphNodeId scale = maker(gated, "Mul");
    if (!scale.valid() || !collect_up_to(gated, x, group)) return;
    replace(group, kGelu, {x}, out(graph_[multiply]));
  }

  // x·cos + [−x₂, x₁]·sin, where x₁ and x₂ are the halves of x.
  void rotary(GraphNodeId join) {
    const GraphNode& node = graph_[join];
    if (node.inputs.size() != 2) return;
    const GraphNodeId negate = maker(node.inputs[0], "Neg");
    if (!negate.valid()) return;
    std::set<GraphNodeId> group = {join, negate};
    const ValueId second = graph_[negate].inputs[0];
    const ValueId first = node.inputs[1];
    const auto half_of = [&](ValueId half) {
      GraphNodeId cut = maker(half, "Slice");
      if (!cut.valid()) cut = maker(half, "Split");
      if (!cut.valid()) return ValueId::none();
      group.insert(cut);
      return graph_[cut].inputs[0];
    };
    const ValueId x = half_of(second);
    if (!x.valid() || half_of(first) != x) return;
    const GraphNodeId by_sine = only_reader(out(node), "Mul");
    if (!by_sine.valid()) return;
    const GraphNodeId sum = only_reader(out(graph_[by_sine]), "Add");
    if (!sum.valid()) return;
    const GraphNodeId by_cosine = maker(other(graph_[sum], out(graph_[by_sine])), "Mul");
    if (!by_cosine.valid()) return;
    const GraphNode& cosine = graph_[by_cosine];
    if (cosine.inputs[0] != x && cosine.inputs[1] != x) return;
    group.insert({by_sine, sum, by_cosine});
    replace(group, kRotary, {x, other(cosine, x), other(graph_[by_sine], out(node))}, out(graph_[sum]));
  }

  // x·W + b
  void bias(GraphNodeId id) {
    const GraphNode& product = graph_[id];
    if (!is_parameter(product.inputs[1])) return;
    const GraphNodeId sum = only_reader(out(product), "Add");
    if (!sum.valid()) return;
    const ValueId bias = other(graph_[sum], out(product));
    if (!is_parameter(bias) || !graph_[out(product)].shape || graph_[out(product)].shape->empty()) return;
    if (graph_[bias].elements() != graph_[out(product)].shape->back()) return;
    replace({id, sum}, kBiasedMatMul, {product.inputs[0], product.inputs[1], bias}, out(graph_[sum]));
  }

  ValueGraph& graph_;
  std::vector<std::vector<GraphNodeId>> readers_;
};

}  // namespace

void recognise_patterns(ValueGraph& graph) { Recogniser(graph).run(); }

}  // namespace phaze::workload::onnx
