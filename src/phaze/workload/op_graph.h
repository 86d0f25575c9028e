// OpGraph: a directed acyclic graph of operators joined by tensors, in topological order.
//
// Everything is an index into a flat vector, so a graph is a handful of allocations, cheap to copy and to hash. Graphs
// are made by OpGraphBuilder and never change afterwards:
//
//   OpGraphBuilder builder;
//   TensorId x = builder.tensor({.elements = 512 * 1024, .role = TensorRole::kInput});
//   TensorId w = builder.tensor({.elements = 1024 * 4096, .role = TensorRole::kParameter});
//   TensorId y = builder.emit("fc1", Gemm{.m = 512, .n = 4096, .k = 1024}, {x, w}, {.elements = 512 * 4096});
//   OpGraph graph = std::move(builder).build();
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/digest.h"
#include "phaze/base/ids.h"
#include "phaze/base/result.h"
#include "phaze/base/units.h"
#include "phaze/workload/op.h"

namespace phaze::workload {

using OpId = Id<struct OpTag>;
using TensorId = Id<struct TensorTag>;

enum class TensorRole : std::uint8_t {
  kActivation,   // made by an operator of this graph
  kInput,        // made by another layer; has a gradient
  kSharedInput,  // the same, read by many layers (encoder output, position bias): its bytes belong to the layer that
                 // made it
  kConstant,     // token ids, masks, rotary tables: no gradient
  kParameter,    // trained weights
  kSaved,        // in a backward graph: an activation that the forward pass kept
};

// An output that several layers read is kept once, by the layer that made it.
enum class KeptForReaders : std::uint8_t { kNo, kForRecompute, kAlways };

struct Tensor {
  std::int64_t elements = 0;
  ElementType type = ElementType::kBf16;
  TensorRole role = TensorRole::kActivation;
  bool tied = false;    // a parameter that another layer owns
  bool split = false;   // an input that arrives already divided over the tensor-parallel ranks
  bool output = false;  // leaves the graph: to another layer, or as a parameter's gradient
  KeptForReaders kept_for_readers = KeptForReaders::kNo;
  OpId producer = {};
  TensorId view_of = {};  // same storage as that tensor
  TensorId forward = {};  // in a backward graph: the forward tensor this one is, or is the gradient of

  Bytes bytes() const { return Bytes(saturating_multiply(elements, size_in_bytes(type))); }
  bool operator==(const Tensor&) const = default;
};

struct Op {
  Work work = View{};
  ElementType type = ElementType::kBf16;
  bool attention_core = false;  // between queries, keys, values and context: what selective recompute runs again
};

class OpGraph {
 public:
  std::size_t size() const { return ops_.size(); }
  bool empty() const { return ops_.empty(); }
  const Op& op(OpId id) const { return ops_[id.index()]; }
  std::span<const Op> ops() const { return ops_; }
  std::string_view name(OpId id) const;

  std::span<const TensorId> inputs(OpId id) const { return slice(input_offsets_, inputs_, id.index()); }
  std::span<const TensorId> outputs(OpId id) const { return slice(output_offsets_, outputs_, id.index()); }
  std::span<const VectorWork> fused(OpId id) const { return slice(fused_offsets_, fused_, id.index()); }

  // Distinct operators, ascending.
  std::span<const OpId> predecessors(OpId id) const { return slice(predecessor_offsets_, predecessors_, id.index()); }
  std::span<const OpId> successors(OpId id) const { return slice(successor_offsets_, successors_, id.index()); }

  std::size_t tensor_count() const { return tensors_.size(); }
  const Tensor& tensor(TensorId id) const { return tensors_[id.index()]; }
  std::span<const Tensor> tensors() const { return tensors_; }
  std::span<const OpId> consumers(TensorId id) const { return slice(consumer_offsets_, consumers_, id.index()); }

  // Bytes that an operator moves to and from memory; zero for nops.
  Bytes read_bytes(OpId id) const { return read_[id.index()]; }
  Bytes written_bytes(OpId id) const { return written_[id.index()]; }
  // Of all that what an operator costs may depend on: its work, these bytes, what is fused into it.
  const Digest& content(OpId id) const { return contents_[id.index()]; }

  // The tensor whose storage this one shares, through any number of whole views. A part of a tensor is its own storage.
  TensorId storage(TensorId id) const;

  // Same operators, sizes and wiring; names may differ.
  bool same_structure(const OpGraph& other) const;
  std::uint64_t structure_hash() const;

 private:
  friend class OpGraphBuilder;

  template <typename T>
  static std::span<const T> slice(const std::vector<std::uint32_t>& offsets, const std::vector<T>& flat,
                                  std::size_t i) {
    return std::span<const T>(flat).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }

  void sum_up();

  std::vector<Op> ops_;
  std::vector<Tensor> tensors_;
  std::vector<TensorId> inputs_, outputs_;
  std::vector<VectorWork> fused_;
  std::vector<OpId> predecessors_, successors_, consumers_;
  std::vector<std::uint32_t> input_offsets_{0}, output_offsets_{0}, fused_offsets_{0}, name_offsets_{0};
  std::vector<std::uint32_t> predecessor_offsets_{0}, successor_offsets_{0}, consumer_offsets_{0};
  std::string names_;
  // Per operator. A search over chips asks for them again and again.
  std::vector<Bytes> read_, written_;
  std::vector<Digest> contents_;
};

class OpGraphBuilder {
 public:
  TensorId tensor(const Tensor& tensor);
  Tensor& edit(TensorId id) { return graph_.tensors_[id.index()]; }
  const Tensor& look(TensorId id) const { return graph_.tensors_[id.index()]; }

  // Appends an operator that reads `inputs` and makes `outputs`.
  OpId op(std::string_view name, const Op& op, std::span<const TensorId> inputs, std::span<const TensorId> outputs,
          std::span<const VectorWork> fused = {});

  // The common case: one new output. Its type follows the operator unless the tensor says otherwise.
  TensorId emit(std::string_view name, const Op& op, std::initializer_list<TensorId> inputs, Tensor output);
  TensorId emit(std::string_view name, const Work& work, std::initializer_list<TensorId> inputs, Tensor output) {
    return emit(name, Op{.work = work, .type = output.type}, inputs, output);
  }

  std::size_t size() const { return graph_.ops_.size(); }

  // The graph as described, which validate() may still refuse.
  OpGraph build() &&;

 private:
  OpGraph graph_;
};

// Operators in topological order and acyclic, tensors made once, sizes of operators and their tensors consistent,
// nothing negative or beyond 2^62. The place of an error names the operator.
Status validate(const OpGraph& graph);

struct GraphTotals {
  std::int64_t ops = 0;  // operators that take time
  Flops gemm_flops;
  std::int64_t vector_elements = 0;
  Bytes collective_bytes;
  Bytes read, written;

  bool operator==(const GraphTotals&) const = default;
};
GraphTotals totals(const OpGraph& graph);

// The operators for which `keep` is true with all tensors they touch; tensors from dropped operators become kSaved
// inputs.
OpGraph subgraph(const OpGraph& graph, std::span<const bool> keep);

}  // namespace phaze::workload
