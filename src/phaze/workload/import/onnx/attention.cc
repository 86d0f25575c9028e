#include "phaze/workload/import/onnx/attention.h"

#include <algorithm>
#include <set>
#include <vector>

namespace phaze::workload::onnx {
namespace {

struct Core {
  GraphNodeId scores, context;
  std::set<GraphNodeId> members;
  std::vector<ValueId> added;  // masks and biases
};

class Finder {
 public:
  explicit Finder(ValueGraph& graph) : graph_(graph), readers_(graph.consumers()) {}

  std::vector<Core> run() const {
    std::vector<Core> found;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].removed || graph_.nodes[i].op != "Softmax") continue;
      Core core;
      core.members.insert(GraphNodeId(i));
      if (up(graph_.nodes[i].inputs[0], core, 0) && down(graph_.nodes[i].outputs[0], core, 0) && is_closed(core))
        found.push_back(std::move(core));
    }
    return found;
  }

 private:
  bool is_product_of_activations(GraphNodeId id) const {
    const GraphNode& node = graph_[id];
    return node.op == "MatMul" && node.inputs.size() == 2 &&
           std::ranges::all_of(node.inputs, [&](ValueId input) { return graph_[input].kind == ValueKind::kRuntime; });
  }

  // Nothing but the context leaves the core.
  bool is_closed(const Core& core) const {
    return std::ranges::all_of(core.members, [&](GraphNodeId member) {
      if (member == core.context) return true;
      return std::ranges::all_of(graph_[member].outputs, [&](ValueId made) {
        return !made.valid() ||
               (!graph_[made].graph_output && std::ranges::all_of(readers_[made.index()], [&](GraphNodeId reader) {
                 return core.members.contains(reader);
               }));
      });
    });
  }

  // From the softmax back to the scores.
  bool up(ValueId value, Core& core, int depth) const {
    static const std::set<std::string_view> kBetween = {"Add",      "Mul",  "Div",     "Cast", "Where",
                                                        "Identity", "Tanh", "Reshape", "Sub"};
    const GraphNode* node = graph_.maker(value);
    if (node == nullptr || depth > 12) return false;
    const GraphNodeId id = graph_[value].producer;
    if (is_product_of_activations(id)) {
      core.scores = id;
      core.members.insert(id);
      return true;
    }
    if (!kBetween.contains(node->op)) return false;
    for (const ValueId input : node->inputs) {
      const Value& operand = graph_[input];
      if (operand.kind != ValueKind::kRuntime || operand.elements() != graph_[value].elements()) continue;
      Core attempt = core;
      if (!up(input, attempt, depth + 1)) continue;
      attempt.members.insert(id);
      for (const ValueId extra : node->inputs)
        if (extra != input && graph_[extra].elements() > 1) attempt.added.push_back(extra);
      core = std::move(attempt);
      return true;
    }
    return false;
  }

  // From the softmax on to the product with the values.
  bool down(ValueId value, Core& core, int depth) const {
    static const std::set<std::string_view> kBetween = {"Cast", "Identity", "Dropout", "Mul", "Where", "Reshape"};
    const auto& readers = readers_[value.index()];
    if (readers.size() != 1 || depth > 8) return false;
    const GraphNodeId id = readers[0];
    core.members.insert(id);
    if (is_product_of_activations(id) && graph_[id].inputs[0] == value) {
      core.context = id;
      return true;
    }
    return kBetween.contains(graph_[id].op) && down(graph_[id].outputs[0], core, depth + 1);
  }

  const ValueGraph& graph_;
  std::vector<std::vector<GraphNodeId>> readers_;
};

}  // namespace

void find_attention(ValueGraph& graph, AttentionKind kind) {
  for (const Core& core : Finder(graph).run()) {
    const ValueId queries = graph[core.scores].inputs[0];
    const bool has_heads = graph[queries].shape->size() == 4;
    if (kind == AttentionKind::kEager || !has_heads) {
      for (const GraphNodeId member : core.members) graph[member].attention_core = true;
      continue;
    }
    GraphNode fused{.name = graph[core.context].name,
                    .op = "Attention",
                    .outputs = graph[core.context].outputs,
                    .attention_core = true};
    fused.inputs = {queries, graph[core.scores].inputs[1], graph[core.context].inputs[1]};
    fused.inputs.insert(fused.inputs.end(), core.added.begin(), core.added.end());
    for (const GraphNodeId member : core.members) {
      // Dropout exported for inference does nothing; for training, its third input says so.
      const GraphNode& node = graph[member];
      if (node.op == "Dropout" && node.inputs.size() > 2 && node.inputs[2].valid())
        fused.attributes[std::string(kHasDropout)] = {.integer = 1};
    }
    for (const GraphNodeId member : core.members) graph[member].removed = true;
    graph[core.context] = std::move(fused);
  }
}

}  // namespace phaze::workload::onnx
