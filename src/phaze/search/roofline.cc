#include "phaze/search/roofline.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "phaze/base/units.h"
#include "phaze/cost/attention.h"
#include "phaze/cost/collective.h"
#include "phaze/cost/vector.h"

namespace phaze::search {
namespace {

using workload::OpGraph;
using workload::OpId;

// One lane at one hertz, so that seconds are cycles.
hardware::Chip unit_chip(bool kernels) {
  hardware::Chip chip;
  chip.clock_hz = 1;
  chip.vector_cores = {.count = 1, .lanes = 1};
  chip.calibration.serial = kernels;
  return chip;
}

double bytes_of(const OpGraph& graph, OpId op) {
  return real(graph.read_bytes(op).value()) + real(graph.written_bytes(op).value());
}

// A kernel in front may take these along, at no cost of their own.
bool may_vanish(const workload::VectorWork& work) {
  return work.op == workload::VectorOp::kScale || work.op == workload::VectorOp::kMask;
}

double compulsory_bytes(const OpGraph& graph, OpId op, const workload::VectorWork& work) {
  using workload::VectorOp;
  if ((work.op == VectorOp::kEmbedding || work.op == VectorOp::kGather) && !work.backward)
    return 2 * real(graph.written_bytes(op).value());
  return bytes_of(graph, op);
}

}  // namespace

Rates rates_of(const hardware::Chip& chip) {
  const hardware::Calibration& calibration = chip.calibration;
  return {.macs = real(chip.macs()) * chip.clock_hz * calibration.compute * calibration.sustained,
          .vector_cycles = real(chip.lanes()) * chip.clock_hz * calibration.vector,
          .bytes = chip.hbm_bandwidth * calibration.hbm,
          .start_seconds = calibration.start_seconds};
}

PassProfile::PassProfile(const OpGraph& graph, const hardware::Network& network, bool kernels) : graph_(&graph) {
  const hardware::Chip unit = unit_chip(kernels);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const OpId op(i);
    const workload::Work& work = graph.op(op).work;
    OpWork counted;
    if (const auto* product = std::get_if<workload::Gemm>(&work)) {
      const double batch = real(product->batch), m = real(product->m), n = real(product->n), k = real(product->k);
      const double once = real(workload::size_in_bytes(graph.op(op).type)) * batch * (m * k + k * n + m * n);
      counted.macs = batch * m * n * k;
      counted.bytes = kernels ? once : std::max(once, bytes_of(graph, op));
      counted.mapped = counted.timed = true;
    } else if (const auto* vector = std::get_if<workload::VectorWork>(&work)) {
      if (!kernels || !may_vanish(*vector)) {
        counted.vector_cycles = cost::vector_compute_seconds(*vector, unit, 1);
        counted.bytes = compulsory_bytes(graph, op, *vector);
        counted.timed = true;
      }
    } else if (const auto* attention = std::get_if<workload::Attention>(&work)) {
      counted.bytes = bytes_of(graph, op);
      counted.macs = real(attention->batch * attention->heads) * real(attention->query_length) *
                     std::max(1.0, std::ceil(workload::visible_keys(*attention))) * real(attention->head_dim) *
                     (attention->backward ? 5 : 2);
      counted.mapped = counted.timed = true;
    } else if (const auto* collective = std::get_if<workload::Collective>(&work); collective && !is_nop(work)) {
      const auto levels = hardware::spanned(network, {.size = collective->group, .stride = 1});
      counted.communication = cost::collective_cost(collective->kind, real(collective->bytes.value()), levels).seconds;
      counted.timed = true;
    }
    // Behind a vector operator the lanes do both; behind a product they work beside the arrays.
    for (const workload::VectorWork& fused : graph.fused(op))
      if (!kernels) counted.vector_cycles += cost::vector_compute_seconds(fused, unit, 1);
    macs_ += counted.macs;
    vector_cycles_ += counted.vector_cycles;
    bytes_ += counted.bytes;
    communication_ += counted.communication;
    ops_.push_back(counted);
  }
}

double PassProfile::least_seconds(const Rates& rates, const cost::OperatorCosts* costs,
                                  std::vector<double>& scratch) const {
  const double per_mac = 1 / rates.macs, per_cycle = 1 / rates.vector_cycles, per_byte = 1 / rates.bytes;
  scratch.resize(ops_.size());
  double path = 0;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const OpWork& op = ops_[i];
    double seconds = std::max(std::max(op.macs * per_mac, op.vector_cycles * per_cycle),
                              std::max(op.bytes * per_byte, op.communication));
    if (op.timed) seconds += rates.start_seconds;
    if (op.mapped && costs != nullptr)
      seconds = std::max(seconds, costs->of(*graph_, OpId(i), costs->all_cores()).seconds);
    double ready = 0;
    for (const OpId before : graph_->predecessors(OpId(i))) ready = std::max(ready, scratch[before.index()]);
    scratch[i] = ready + seconds;
    path = std::max(path, scratch[i]);
  }
  return std::max({path, macs_ * per_mac, vector_cycles_ * per_cycle, bytes_ * per_byte, communication_});
}

}  // namespace phaze::search
