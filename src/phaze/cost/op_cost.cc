#include "phaze/cost/op_cost.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "phaze/base/units.h"
#include "phaze/cost/attention.h"
#include "phaze/cost/collective.h"
#include "phaze/cost/gemm.h"
#include "phaze/cost/sunstone.h"
#include "phaze/cost/sunstone_table.h"
#include "phaze/cost/vector.h"
#include "phaze/hardware/power.h"

namespace phaze::cost {
namespace {

using workload::OpGraph;
using workload::OpId;

double graph_bytes(const OpGraph& graph, OpId op) {
  return real(graph.read_bytes(op).value()) + real(graph.written_bytes(op).value());
}

// What a GPU's kernels take along: a product scales its result, a fused softmax masks its input.
bool absorbed(workload::VectorOp op, bool fused_softmax) {
  return op == workload::VectorOp::kScale || (fused_softmax && op == workload::VectorOp::kMask);
}

// A look-up reads the rows it needs, not the table.
double vector_graph_bytes(const OpGraph& graph, OpId op, const workload::VectorWork& work) {
  using workload::VectorOp;
  if ((work.op == VectorOp::kEmbedding || work.op == VectorOp::kGather) && !work.backward)
    return 2 * real(graph.written_bytes(op).value());
  return graph_bytes(graph, op);
}

}  // namespace

OperatorCosts::OperatorCosts(CostOptions options, Memo* memo) : options_(std::move(options)), memo_(memo) {
  if (options_.under_load) options_.chip.calibration.compute *= options_.chip.calibration.sustained;
  const hardware::Chip& c = options_.chip;
  const hardware::Calibration& k = c.calibration;
  for (const double value :
       {c.clock_hz, real(c.tensor_cores.rows), real(c.tensor_cores.cols), real(c.vector_cores.lanes),
        real(c.global_buffer.value()), c.global_buffer_bytes_per_cycle, c.hbm_bandwidth,
        real(c.tensor_core_buffer().value()), c.process_nm, k.compute, k.attention, k.vector, k.hbm,
        k.serial ? 1.0 : 0.0, k.start_seconds, real(k.tile_rows), real(k.tile_cols),
        real(static_cast<int>(options_.gemm_model)), options_.fused_softmax ? 1.0 : 0.0})
    machine_.add(value);
  for (const hardware::NetworkLevel& level : options_.network.levels) {
    for (const double value : {real(level.size), level.bandwidth, level.efficiency, level.latency, real(level.ports)})
      machine_.add(value);
    for (const std::int64_t side : level.torus) machine_.add(side);
  }
}

bool OperatorCosts::has_own_kernel(const OpGraph& graph, OpId op) const {
  if (!options_.chip.calibration.serial || std::holds_alternative<workload::VectorWork>(graph.op(op).work))
    return false;
  return std::ranges::any_of(
      graph.fused(op), [&](const workload::VectorWork& work) { return !absorbed(work.op, options_.fused_softmax); });
}

bool OperatorCosts::inside_neighbour(const OpGraph& graph, OpId op) const {
  const auto* work = std::get_if<workload::VectorWork>(&graph.op(op).work);
  if (!options_.fused_softmax || !options_.chip.calibration.serial || work == nullptr || !absorbed(work->op, true))
    return false;
  return std::ranges::any_of(graph.predecessors(op), [&](OpId before) {
    const auto* producer = std::get_if<workload::VectorWork>(&graph.op(before).work);
    return producer != nullptr && producer->op == workload::VectorOp::kSoftmax;
  });
}

Digest OperatorCosts::digest(const OpGraph& graph, OpId op, const Cores& cores) const {
  // Cores that an operator does not use would tell apart what costs the same.
  const workload::Work& work = graph.op(op).work;
  const bool product = std::holds_alternative<workload::Gemm>(work);
  const bool attention = std::holds_alternative<workload::Attention>(work);
  const bool vector = std::holds_alternative<workload::VectorWork>(work) || !graph.fused(op).empty();
  Digest key = machine_;
  key.add(product || attention ? cores.tensor : 0);
  key.add(vector || attention ? cores.vector : 0);
  key.add(graph.content(op).low);
  key.add(graph.content(op).high);
  return key;
}

Estimate OperatorCosts::of(const OpGraph& graph, OpId op, const Cores& cores) const {
  if (workload::is_nop(graph.op(op).work) || inside_neighbour(graph, op)) return {};
  if (memo_ == nullptr) return price(graph, op, cores);
  const Digest key = digest(graph, op, cores);
  if (const auto known = memo_->find(key)) return *known;
  const Estimate estimate = price(graph, op, cores);
  memo_->store(key, estimate);
  return estimate;
}

Estimate OperatorCosts::price(const OpGraph& graph, OpId op, const Cores& cores) const {
  const hardware::Chip& chip = options_.chip;
  const workload::Work& work = graph.op(op).work;
  Estimate estimate;
  if (const auto* product = std::get_if<workload::Gemm>(&work)) {
    estimate = gemm(graph, op, *product, cores);
  } else if (const auto* vector = std::get_if<workload::VectorWork>(&work)) {
    estimate = vector_cost(*vector, vector_graph_bytes(graph, op, *vector), chip, cores.vector);
  } else if (const auto* attention = std::get_if<workload::Attention>(&work)) {
    estimate = attention_cost(*attention, graph_bytes(graph, op), chip, cores.tensor, cores.vector);
  } else if (const auto* collective = std::get_if<workload::Collective>(&work)) {
    // Ranks of a tensor-parallel group are neighbours.
    const auto levels = hardware::spanned(options_.network, {.size = collective->group, .stride = 1});
    estimate.seconds = collective_cost(collective->kind, real(collective->bytes.value()), levels).seconds;
    estimate.bound_by = Bound::kNetwork;
  }
  add_epilogue(graph, op, cores, estimate);
  estimate.seconds += chip.calibration.start_seconds;
  return estimate;
}

Estimate OperatorCosts::gemm(const OpGraph& graph, OpId op, const workload::Gemm& product, const Cores& cores) const {
  const hardware::Chip& chip = options_.chip;
  const std::int64_t bytes = workload::size_in_bytes(graph.op(op).type);
  const double once =
      real(bytes) * real(product.batch) *
      (real(product.m) * real(product.k) + real(product.k) * real(product.n) + real(product.m) * real(product.n));
  Estimate estimate;
  if (options_.gemm_model == GemmModel::kSunstone) {
    // Batched products one after another, each with its own operands.
    std::optional<double> cycles;
    if (options_.sunstone != nullptr)
      cycles = options_.sunstone->least_cycles(product.m, product.k, product.n, chip, cores.tensor);
    if (!cycles)
      cycles =
          SunstoneMapper(product.m, product.k, product.n)
              .least_cycles({cores.tensor, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.global_buffer.value()});
    estimate = {
        .seconds = real(product.batch) * *cycles / chip.clock_hz, .hbm_bytes = once, .bound_by = Bound::kCompute};
  } else {
    // The mapping knows nothing of what is fused behind it, nor of vector cores.
    Digest key = machine_;
    for (const std::int64_t value : {cores.tensor, product.batch, product.m, product.n, product.k, bytes})
      key.add(value);
    const auto known = memo_ == nullptr ? std::nullopt : memo_->find(key);
    if (known) {
      estimate = *known;
    } else {
      const GemmCost cost = least_gemm_cost(
          {.batch = product.batch, .m = product.m, .n = product.n, .k = product.k, .element_bytes = bytes},
          gemm_machine(chip, cores.tensor));
      estimate = {.seconds = cost.cycles / (chip.clock_hz * chip.calibration.compute),
                  .joules = cost.joules,
                  .hbm_bytes = cost.hbm_bytes,
                  .bound_by = cost.bound_by};
      if (memo_ != nullptr) memo_->store(key, estimate);
    }
  }
  const double extra = has_own_kernel(graph, op) ? 0 : std::max(0.0, graph_bytes(graph, op) - once);
  estimate.hbm_bytes += extra;
  estimate.joules += extra * 8 * hardware::event_energy(chip).hbm_bit * 1e-12;
  const double hbm = estimate.hbm_bytes / (chip.hbm_bandwidth * chip.calibration.hbm);
  if (options_.gemm_model == GemmModel::kPhysical && hbm > estimate.seconds) {
    estimate.seconds = hbm;
    estimate.bound_by = Bound::kHbm;
  }
  return estimate;
}

// A GPU's library products have no epilogues of their own: what is fused behind one is one kernel more, which reads the
// product's result and writes its own.
void OperatorCosts::add_kernel(const OpGraph& graph, OpId op, const Cores& cores, Estimate& estimate) const {
  const hardware::Chip& chip = options_.chip;
  double result = 0;    // bytes of the product's own result
  double operands = 0;  // bytes that only the product reads
  const double element = real(workload::size_in_bytes(graph.op(op).type));
  if (const auto* product = std::get_if<workload::Gemm>(&graph.op(op).work)) {
    const double batch = element * real(product->batch);
    result = batch * real(product->m) * real(product->n);
    operands = batch * (real(product->m) * real(product->k) + real(product->k) * real(product->n));
  } else {
    result = real(graph.written_bytes(op).value());
    operands = real(graph.read_bytes(op).value());
  }
  // The result itself is written by the product where the backward pass keeps it, and is then the first of several.
  const double kept = graph.outputs(op).size() > 1 ? result : 0;
  const double bytes = result + std::max(0.0, real(graph.read_bytes(op).value()) - operands) +
                       std::max(0.0, real(graph.written_bytes(op).value()) - kept);
  double vector = 0;
  for (const workload::VectorWork& work : graph.fused(op)) vector += vector_compute_seconds(work, chip, cores.vector);
  estimate.seconds +=
      std::max(vector, bytes / (chip.hbm_bandwidth * chip.calibration.hbm)) + chip.calibration.start_seconds;
  estimate.hbm_bytes += bytes;
  estimate.joules += bytes * 8 * hardware::event_energy(chip).hbm_bit * 1e-12;
}

void OperatorCosts::add_epilogue(const OpGraph& graph, OpId op, const Cores& cores, Estimate& estimate) const {
  if (graph.fused(op).empty()) return;
  if (has_own_kernel(graph, op)) return add_kernel(graph, op, cores, estimate);
  // On a GPU, what is fused behind a product and needs no kernel of its own is absorbed.
  if (options_.chip.calibration.serial && !std::holds_alternative<workload::VectorWork>(graph.op(op).work)) return;
  const hardware::Chip& chip = options_.chip;
  const hardware::EventEnergy energy = hardware::event_energy(chip);
  const bool behind_vector = std::holds_alternative<workload::VectorWork>(graph.op(op).work);
  double vector = 0;
  for (const workload::VectorWork& work : graph.fused(op)) {
    vector += vector_compute_seconds(work, chip, cores.vector);
    estimate.joules += 1e-12 * real(work.elements()) * cycles_per_element(work, vector_units(chip)) *
                       (energy.mac + 2 * energy.vector_read + energy.vector_write);
  }
  // Behind a vector operator the lanes do both; behind a product they work beside the arrays.
  if (behind_vector)
    vector += vector_compute_seconds(std::get<workload::VectorWork>(graph.op(op).work), chip, cores.vector);
  if (vector > estimate.seconds) {
    estimate.seconds = vector;
    estimate.bound_by = Bound::kVector;
  }
}

Estimate serial_cost(const OpGraph& graph, const OperatorCosts& costs) {
  Estimate sum;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const Estimate one = costs.of(graph, OpId(i), costs.all_cores());
    sum.seconds += one.seconds;
    sum.joules += one.joules;
    sum.hbm_bytes += one.hbm_bytes;
  }
  return sum;
}

}  // namespace phaze::cost
