// validate(): what every OpGraph promises its readers. Shares no code with the builders.
#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "phaze/workload/op_graph.h"

namespace phaze::workload {
namespace {

std::string place(const OpGraph& graph, OpId id) { return fmt::format("operator {} '{}'", id.index(), graph.name(id)); }

// Kahn's algorithm: an operator that never becomes free lies on, or behind, a cycle.
Status check_acyclic(const OpGraph& graph) {
  std::vector<std::size_t> waiting(graph.size());
  std::vector<OpId> free;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    waiting[i] = graph.predecessors(OpId(i)).size();
    if (waiting[i] == 0) free.emplace_back(i);
  }
  std::size_t reached = 0;
  while (!free.empty()) {
    const OpId id = free.back();
    free.pop_back();
    ++reached;
    for (const OpId next : graph.successors(id))
      if (--waiting[next.index()] == 0) free.push_back(next);
  }
  if (reached == graph.size()) return Done{};
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (waiting[i] > 0) return Error{"lies on a cycle", place(graph, OpId(i))};
  return Done{};
}

Status check_wiring(const OpGraph& graph) {
  std::vector<OpId> maker(graph.tensor_count());
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    for (const TensorId output : graph.outputs(id)) {
      if (output.index() >= graph.tensor_count()) return Error{"makes a tensor that does not exist", place(graph, id)};
      OpId& made_by = maker[output.index()];
      if (made_by.valid())
        return Error{fmt::format("makes tensor {}, which operator {} made already", output.index(), made_by.index()),
                     place(graph, id)};
      made_by = id;
    }
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    for (const TensorId input : graph.inputs(id)) {
      if (input.index() >= graph.tensor_count()) return Error{"reads a tensor that does not exist", place(graph, id)};
      const OpId made_by = maker[input.index()];
      if (!made_by.valid() && graph.tensor(input).role == TensorRole::kActivation)
        return Error{fmt::format("reads tensor {}, which nothing makes", input.index()), place(graph, id)};
      if (made_by.valid() && made_by >= id)
        return Error{fmt::format("reads tensor {}, which operator {} makes only later", input.index(), made_by.index()),
                     place(graph, id)};
    }
  }
  return Done{};
}

// Views of one storage may show a GEMM its operands in other shapes, but never with other numbers of elements.
Status check_gemm(const OpGraph& graph, OpId id, const Gemm& gemm) {
  const auto fail = [&](std::string what) -> Status { return Error{std::move(what), place(graph, id)}; };
  for (const std::int64_t size : {gemm.batch, gemm.m, gemm.n, gemm.k})
    if (size <= 0) return fail(fmt::format("has a dimension of {}; all must be positive", size));
  const auto inputs = graph.inputs(id);
  if (inputs.size() < 2) return fail("is a matrix product with fewer than two operands");
  const std::int64_t left = saturating_product({gemm.batch, gemm.m, gemm.k});
  const std::int64_t right = saturating_product({gemm.batch, gemm.k, gemm.n});
  const std::int64_t shared_right = saturating_product({gemm.k, gemm.n});
  const std::int64_t result = saturating_product({gemm.batch, gemm.m, gemm.n});
  const std::int64_t a = graph.tensor(inputs[0]).elements;
  const std::int64_t b = graph.tensor(inputs[1]).elements;
  if (a != left) return fail(fmt::format("reads a left operand of {} elements where {} are needed", a, left));
  if (b != right && b != shared_right)
    return fail(fmt::format("reads a right operand of {} elements where {} are needed", b, right));
  const auto outputs = graph.outputs(id);
  if (graph.fused(id).empty() && (outputs.size() != 1 || graph.tensor(outputs[0]).elements != result))
    return fail(fmt::format("makes a result of other than {} elements", result));
  return Done{};
}

Status check_vector(const OpGraph& graph, OpId id, const VectorWork& vector) {
  if (vector.rows < 0 || vector.cols < 0)
    return Error{fmt::format("works on {} rows of {}; neither may be negative", vector.rows, vector.cols),
                 place(graph, id)};
  if (!traits(vector.op).element_wise || !graph.fused(id).empty()) return Done{};
  for (const TensorId output : graph.outputs(id)) {
    const std::int64_t elements = graph.tensor(output).elements;
    if (elements != vector.elements())
      return Error{fmt::format("works on {} elements but makes {}", vector.elements(), elements), place(graph, id)};
  }
  return Done{};
}

Status check_attention(const OpGraph& graph, OpId id, const Attention& a) {
  for (const std::int64_t size : {a.batch, a.heads, a.kv_heads, a.query_length, a.key_length, a.head_dim})
    if (size <= 0) return Error{fmt::format("has a dimension of {}; all must be positive", size), place(graph, id)};
  if (a.heads % a.kv_heads != 0)
    return Error{
        fmt::format("has {} heads over {} key-value heads; the second must divide the first", a.heads, a.kv_heads),
        place(graph, id)};
  return Done{};
}

Status check_sizes(const OpGraph& graph) {
  for (std::size_t i = 0; i < graph.tensor_count(); ++i) {
    const Tensor& tensor = graph.tensor(TensorId(i));
    const std::string where = tensor.producer.valid() ? place(graph, tensor.producer) : fmt::format("tensor {}", i);
    if (tensor.elements < 0) return Error{fmt::format("has a tensor of {} elements", tensor.elements), where};
    if (tensor.bytes().saturated()) return Error{"has a tensor of more than 2^62 bytes", where};
  }
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId id(i);
    const Work& work = graph.op(id).work;
    if (matrix_flops(work).saturated()) return Error{"needs more than 2^62 operations", place(graph, id)};
    if (const auto* gemm = std::get_if<Gemm>(&work))
      if (auto status = check_gemm(graph, id, *gemm); !status) return status;
    if (const auto* vector = std::get_if<VectorWork>(&work))
      if (auto status = check_vector(graph, id, *vector); !status) return status;
    if (const auto* attention = std::get_if<Attention>(&work))
      if (auto status = check_attention(graph, id, *attention); !status) return status;
    if (const auto* collective = std::get_if<Collective>(&work))
      if (collective->bytes < Bytes(0) || collective->group < 1)
        return Error{fmt::format("communicates {} bytes among {} ranks", collective->bytes.value(), collective->group),
                     place(graph, id)};
  }
  const GraphTotals sum = totals(graph);
  if (sum.gemm_flops.saturated() || sum.read.saturated() || sum.written.saturated())
    return Error{"the graph needs more than 2^62 operations or bytes in all"};
  return Done{};
}

}  // namespace

Status validate(const OpGraph& graph) {
  constexpr std::array kChecks = {check_acyclic, check_wiring, check_sizes};
  for (const auto& run : kChecks)
    if (auto status = run(graph); !status) return status;
  return Done{};
}

}  // namespace phaze::workload
