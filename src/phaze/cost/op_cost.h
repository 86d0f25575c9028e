// The cost of any operator of a graph on a chip: the one door to all cost models.
//
//   Memo memo;
//   OperatorCosts costs({.chip = chip, .network = network}, &memo);
//   Estimate estimate = costs.of(graph, op, costs.all_cores());
#pragma once

#include <cstdint>

#include "phaze/cost/estimate.h"
#include "phaze/cost/memo.h"
#include "phaze/hardware/chip.h"
#include "phaze/hardware/network.h"
#include "phaze/workload/op_graph.h"

namespace phaze::cost {

class SunstoneTable;

enum class GemmModel : std::uint8_t { kPhysical, kSunstone };

struct CostOptions {
  hardware::Chip chip;
  hardware::Network network;
  GemmModel gemm_model = GemmModel::kPhysical;
  const SunstoneTable* sunstone = nullptr;  // answers kSunstone faster where many chips are asked about
  // A GPU's softmax kernels scale and mask along the way, as those of training frameworks do and PyTorch's own do not.
  bool fused_softmax = false;
  // What operators take in a training run that lasts for hours, not alone on an idle chip.
  bool under_load = false;
};

struct Cores {
  std::int64_t tensor = 0;
  std::int64_t vector = 0;
  bool operator==(const Cores&) const = default;
};

class OperatorCosts {
 public:
  // The memo, if any, must outlive this; it may be shared by many chips and threads.
  explicit OperatorCosts(CostOptions options, Memo* memo = nullptr);

  const hardware::Chip& chip() const { return options_.chip; }
  Cores all_cores() const { return {options_.chip.tensor_cores.count, options_.chip.vector_cores.count}; }

  // A product with its fused epilogue takes tensor and vector cores, a vector operator only the latter, a collective
  // none. Nops cost nothing; everything else its start too.
  Estimate of(const workload::OpGraph& graph, workload::OpId op, const Cores& cores) const;

 private:
  Estimate price(const workload::OpGraph& graph, workload::OpId op, const Cores& cores) const;
  Estimate gemm(const workload::OpGraph& graph, workload::OpId op, const workload::Gemm& gemm,
                const Cores& cores) const;
  // Adds what is fused behind an operator: its vector work, and the bytes of tensors that only it touches.
  void add_epilogue(const workload::OpGraph& graph, workload::OpId op, const Cores& cores, Estimate& estimate) const;
  void add_kernel(const workload::OpGraph& graph, workload::OpId op, const Cores& cores, Estimate& estimate) const;
  // Whether what is fused behind a product runs as a kernel behind it: on a GPU, unless the product absorbs it.
  bool has_own_kernel(const workload::OpGraph& graph, workload::OpId op) const;
  // Whether an operator is part of the kernel in front of it: on a GPU, the scale behind a softmax.
  bool inside_neighbour(const workload::OpGraph& graph, workload::OpId op) const;
  Digest digest(const workload::OpGraph& graph, workload::OpId op, const Cores& cores) const;

  CostOptions options_;
  Memo* memo_;
  Digest machine_;  // of everything but the operator and its cores
};

// The sum over a graph, operators one after another on the whole chip.
Estimate serial_cost(const workload::OpGraph& graph, const OperatorCosts& costs);

}  // namespace phaze::cost
