// One operator of a graph: what it computes, in sizes. Which tensors it touches is the graph's business (op_graph.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "phaze/base/units.h"
#include "phaze/workload/element_type.h"
#include "phaze/workload/vector_op.h"

namespace phaze::workload {

// How Megatron's tensor parallelism divides a weight, decided by the builder and applied by slice()
// (tensor_parallel.h): columns give each rank a part of the outputs, rows a part of the sum. A vocabulary-parallel
// embedding divides its rows.
enum class Split : std::uint8_t { kNone, kColumn, kRow };

// C[batch][m][n] = A[batch][m][k] · B[batch][k][n]; a weight has batch 1.
struct Gemm {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Split split = Split::kNone;

  bool operator==(const Gemm&) const = default;
};

// `rows` rows of `cols` elements; statistics of norms and softmax run along a row.
struct VectorWork {
  VectorOp op = VectorOp::kOther;
  bool backward = false;  // the gradient of `op`
  Split split = Split::kNone;
  std::int64_t rows = 0;
  std::int64_t cols = 0;

  std::int64_t elements() const { return saturating_multiply(rows, cols); }
  bool operator==(const VectorWork&) const = default;
};

// Fused, tiled attention: scores never leave the chip, the backward pass computes them again.
struct Attention {
  std::int64_t batch = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t query_length = 0;
  std::int64_t key_length = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;  // keys a query sees at most; 0: all
  bool causal = false;
  bool dropout = false;
  bool backward = false;

  bool operator==(const Attention&) const = default;
};

enum class CollectiveKind : std::uint8_t { kNone, kAllReduce, kAllGather, kReduceScatter };

// Communication among the `group` ranks of one tensor-parallel group. `bytes` is the whole tensor (the S of the ring
// formulas): what every rank holds after an all-gather or all-reduce, or before a reduce-scatter.
struct Collective {
  CollectiveKind kind = CollectiveKind::kNone;
  CollectiveKind adjoint = CollectiveKind::kNone;  // what the backward pass does in its place
  std::int32_t group = 1;
  Bytes bytes;

  bool operator==(const Collective&) const = default;
};

// Reshape, transpose, split: the same storage seen another way, at no cost.
struct View {
  bool operator==(const View&) const = default;
};

using Work = std::variant<Gemm, VectorWork, Attention, Collective, View>;

// True for operators that take no time: views, and the places where only the backward pass communicates.
bool is_nop(const Work& work);

// Multiply-accumulate work of matrix products, two operations each. Attention counts its full square of scores whether
// causal or not, as is the convention for model FLOPs: two products forward, five backward (scores are computed again).
Flops matrix_flops(const Work& work);

// Of these, what a model needs: fused attention passes over scores that nobody sees, and to compute the others again is
// a matter of the kernel.
double useful_flops(const Work& work);

// Keys that a query sees, on average.
double visible_keys(const Attention& attention);

// "gemm", "vector", "attention", "collective" or "nop".
std::string_view kind_name(const Work& work);

// "gelu", "gelu_backward", "gemm 1x512x4096x1024", "all_reduce": for people.
std::string describe(const Work& work);

std::string_view to_string(CollectiveKind kind);

// A hash of all fields.
std::uint64_t hash(const Work& work);

}  // namespace phaze::workload
