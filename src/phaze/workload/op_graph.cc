#include "phaze/workload/op_graph.h"

#include <algorithm>

#include "phaze/base/hash.h"

namespace phaze::workload {
namespace {

std::uint32_t offset_of(std::size_t size) { return static_cast<std::uint32_t>(size); }

// Groups `pairs` (key, value) by key into a compressed row, values ascending and distinct.
void group(std::vector<std::pair<std::size_t, OpId>>& pairs, std::size_t keys, std::vector<std::uint32_t>& offsets,
           std::vector<OpId>& flat) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  offsets.assign(1, 0);
  flat.clear();
  flat.reserve(pairs.size());
  std::size_t next = 0;
  for (std::size_t key = 0; key < keys; ++key) {
    for (; next < pairs.size() && pairs[next].first == key; ++next) flat.push_back(pairs[next].second);
    offsets.push_back(offset_of(flat.size()));
  }
}

}  // namespace

std::string_view OpGraph::name(OpId id) const {
  const std::size_t i = id.index();
  return std::string_view(names_).substr(name_offsets_[i], name_offsets_[i + 1] - name_offsets_[i]);
}

void OpGraph::sum_up() {
  read_.assign(size(), {});
  written_.assign(size(), {});
  contents_.assign(size(), {});
  for (std::size_t i = 0; i < size(); ++i) {
    const OpId id(i);
    if (!is_nop(op(id).work)) {
      for (const TensorId input : inputs(id)) read_[i] += tensor(input).bytes();
      for (const TensorId output : outputs(id)) written_[i] += tensor(output).bytes();
    }
    Digest& content = contents_[i];
    content.add(hash(op(id).work));
    content.add(read_[i].value());
    content.add(written_[i].value());
    content.add(static_cast<std::int64_t>(outputs(id).size()));
    for (const VectorWork& work : fused(id)) content.add(hash(Work(work)));
  }
}

TensorId OpGraph::storage(TensorId id) const {
  while (tensor(id).view_of.valid() && tensor(tensor(id).view_of).elements == tensor(id).elements)
    id = tensor(id).view_of;
  return id;
}

bool OpGraph::same_structure(const OpGraph& other) const {
  const auto same_op = [](const Op& a, const Op& b) {
    return a.work == b.work && a.type == b.type && a.attention_core == b.attention_core;
  };
  return std::ranges::equal(ops_, other.ops_, same_op) && tensors_ == other.tensors_ && inputs_ == other.inputs_ &&
         outputs_ == other.outputs_ && input_offsets_ == other.input_offsets_ &&
         output_offsets_ == other.output_offsets_ && fused_ == other.fused_ && fused_offsets_ == other.fused_offsets_;
}

std::uint64_t OpGraph::structure_hash() const {
  std::uint64_t h = hash_words(0, {ops_.size(), tensors_.size()});
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    h = hash_words(h, {hash(ops_[i].work), static_cast<std::uint64_t>(ops_[i].type), input_offsets_[i + 1],
                       output_offsets_[i + 1], fused_offsets_[i + 1]});
  }
  for (const TensorId id : inputs_) h = hash_words(h, {id.index()});
  for (const TensorId id : outputs_) h = hash_words(h, {id.index()});
  for (const Tensor& t : tensors_)
    h = hash_words(h, {static_cast<std::uint64_t>(t.elements), static_cast<std::uint64_t>(t.type),
                       static_cast<std::uint64_t>(t.role), t.view_of.index(), t.output ? 1ULL : 0ULL});
  for (const VectorWork& work : fused_) h = hash_words(h, {hash(Work(work))});
  return h;
}

TensorId OpGraphBuilder::tensor(const Tensor& tensor) {
  graph_.tensors_.push_back(tensor);
  return TensorId(graph_.tensors_.size() - 1);
}

OpId OpGraphBuilder::op(std::string_view name, const Op& op, std::span<const TensorId> inputs,
                        std::span<const TensorId> outputs, std::span<const VectorWork> fused) {
  const OpId id(graph_.ops_.size());
  graph_.ops_.push_back(op);
  graph_.names_.append(name);
  graph_.name_offsets_.push_back(offset_of(graph_.names_.size()));
  graph_.inputs_.insert(graph_.inputs_.end(), inputs.begin(), inputs.end());
  graph_.input_offsets_.push_back(offset_of(graph_.inputs_.size()));
  graph_.outputs_.insert(graph_.outputs_.end(), outputs.begin(), outputs.end());
  graph_.output_offsets_.push_back(offset_of(graph_.outputs_.size()));
  graph_.fused_.insert(graph_.fused_.end(), fused.begin(), fused.end());
  graph_.fused_offsets_.push_back(offset_of(graph_.fused_.size()));
  for (const TensorId output : outputs) edit(output).producer = id;
  return id;
}

TensorId OpGraphBuilder::emit(std::string_view name, const Op& op, std::initializer_list<TensorId> inputs,
                              Tensor output) {
  if (std::holds_alternative<View>(op.work) && !output.view_of.valid()) output.view_of = *inputs.begin();
  const TensorId made = tensor(output);
  this->op(name, op, std::span(inputs.begin(), inputs.size()), std::span(&made, 1));
  return made;
}

OpGraph OpGraphBuilder::build() && {
  std::vector<std::pair<std::size_t, OpId>> before, after, reading;
  for (std::size_t i = 0; i < graph_.ops_.size(); ++i) {
    const OpId id(i);
    for (const TensorId input : graph_.inputs(id)) {
      reading.emplace_back(input.index(), id);
      const OpId producer = look(input).producer;
      if (!producer.valid()) continue;
      before.emplace_back(i, producer);
      after.emplace_back(producer.index(), id);
    }
  }
  group(before, graph_.ops_.size(), graph_.predecessor_offsets_, graph_.predecessors_);
  group(after, graph_.ops_.size(), graph_.successor_offsets_, graph_.successors_);
  group(reading, graph_.tensors_.size(), graph_.consumer_offsets_, graph_.consumers_);
  graph_.sum_up();
  return std::move(graph_);
}

GraphTotals totals(const OpGraph& graph) {
  GraphTotals sum;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    const Work& work = graph.op(id).work;
    if (is_nop(work)) continue;
    ++sum.ops;
    sum.gemm_flops += matrix_flops(work);
    if (const auto* vector = std::get_if<VectorWork>(&work))
      sum.vector_elements = saturating_add(sum.vector_elements, vector->elements());
    for (const VectorWork& vector : graph.fused(id))
      sum.vector_elements = saturating_add(sum.vector_elements, vector.elements());
    if (const auto* collective = std::get_if<Collective>(&work)) sum.collective_bytes += collective->bytes;
    sum.read += graph.read_bytes(id);
    sum.written += graph.written_bytes(id);
  }
  return sum;
}

OpGraph subgraph(const OpGraph& graph, std::span<const bool> keep) {
  check(keep.size() == graph.size(), "one flag per operator");
  OpGraphBuilder builder;
  std::vector<TensorId> renamed(graph.tensor_count());
  const auto rename = [&](TensorId id) {
    if (renamed[id.index()].valid()) return renamed[id.index()];
    Tensor copy = graph.tensor(id);
    const bool made_inside = copy.producer.valid() && keep[copy.producer.index()];
    if (!made_inside && copy.role == TensorRole::kActivation) copy.role = TensorRole::kSaved;
    if (made_inside) {
      const auto readers = graph.consumers(id);
      copy.output =
          copy.output || readers.empty() || std::ranges::any_of(readers, [&](OpId op) { return !keep[op.index()]; });
    }
    copy.producer = OpId::none();
    copy.forward = id;
    if (copy.view_of.valid()) copy.view_of = made_inside ? renamed[copy.view_of.index()] : TensorId::none();
    return renamed[id.index()] = builder.tensor(copy);
  };
  for (std::size_t i = 0; i < graph.size(); ++i) {
    if (!keep[i]) continue;
    const OpId id(i);
    std::vector<TensorId> inputs, outputs;
    for (const TensorId input : graph.inputs(id)) inputs.push_back(rename(input));
    for (const TensorId output : graph.outputs(id)) outputs.push_back(rename(output));
    builder.op(graph.name(id), graph.op(id), inputs, outputs, graph.fused(id));
  }
  return std::move(builder).build();
}

}  // namespace phaze::workload
