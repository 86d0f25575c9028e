#include "phaze/workload/fusion.h"

#include <algorithm>
#include <string>
#include <vector>

namespace phaze::workload {
namespace {

bool may_start_group(const Work& work) {
  const auto* vector = std::get_if<VectorWork>(&work);
  return std::holds_alternative<Gemm>(work) || (vector != nullptr && traits(vector->op).element_wise);
}

bool may_join(const Work& work) {
  const auto* vector = std::get_if<VectorWork>(&work);
  return vector != nullptr && traits(vector->op).element_wise;
}

// The operator whose group each operator belongs to; heads of groups belong to themselves.
std::vector<OpId> find_groups(const OpGraph& graph) {
  std::vector<OpId> head(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) head[i] = OpId(i);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    if (!may_join(graph.op(id).work)) continue;
    // Of several feeding operators that qualify, the latest: the others are inputs of the fused operator.
    for (auto it = graph.predecessors(id).rbegin(); it != graph.predecessors(id).rend(); ++it) {
      if (graph.successors(*it).size() != 1 || !may_start_group(graph.op(*it).work)) continue;
      if (graph.op(*it).attention_core != graph.op(id).attention_core) continue;  // recompute runs the core alone
      if (std::ranges::any_of(graph.outputs(*it), [&](TensorId t) { return graph.tensor(t).output; })) continue;
      head[i] = head[it->index()];
      break;
    }
  }
  return head;
}

}  // namespace

OpGraph fuse(const OpGraph& graph, std::span<const TensorId> kept) {
  const std::vector<OpId> head = find_groups(graph);
  std::vector<std::vector<OpId>> members(graph.size());
  for (std::size_t i = 0; i < graph.size(); ++i) members[head[i].index()].emplace_back(i);

  std::vector<bool> must_write(graph.tensor_count());
  for (const TensorId id : kept) must_write[id.index()] = true;
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    const TensorId id(i);
    const Tensor& tensor = graph.tensor(id);
    if (tensor.output || !tensor.producer.valid() || graph.consumers(id).empty()) must_write[i] = true;
    for (const OpId reader : graph.consumers(id))
      if (tensor.producer.valid() && head[reader.index()] != head[tensor.producer.index()]) must_write[i] = true;
  }

  OpGraphBuilder builder;
  std::vector<TensorId> renamed(graph.tensor_count());
  const auto rename = [&](TensorId id) {
    if (renamed[id.index()].valid()) return renamed[id.index()];
    Tensor copy = graph.tensor(id);
    copy.producer = OpId::none();
    if (copy.view_of.valid()) copy.view_of = renamed[copy.view_of.index()];
    return renamed[id.index()] = builder.tensor(copy);
  };
  // A group runs where its last member stood: all that any member reads has been made by then, and nothing outside the
  // group reads a member other than the last.
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const auto& group = members[head[i].index()];
    if (group.back() != OpId(i)) continue;
    std::vector<TensorId> inputs, outputs;
    std::vector<VectorWork> fused;
    for (const OpId member : group) {
      for (const TensorId input : graph.inputs(member)) {
        const OpId producer = graph.tensor(input).producer;
        const bool inside = producer.valid() && head[producer.index()] == head[i];
        if (inside) continue;
        const TensorId mine = rename(input);
        if (member == group.front() || std::ranges::find(inputs, mine) == inputs.end()) inputs.push_back(mine);
      }
      for (const TensorId output : graph.outputs(member))
        if (must_write[output.index()]) outputs.push_back(rename(output));
      if (member == group.front()) continue;
      fused.push_back(std::get<VectorWork>(graph.op(member).work));
    }
    for (const VectorWork& already : graph.fused(group.front())) fused.push_back(already);
    builder.op(graph.name(group.front()), graph.op(group.front()), inputs, outputs, fused);
  }
  return std::move(builder).build();
}

}  // namespace phaze::workload
