// The best way to cut a chain into p stages under one strategy: exact.
//
// With load L of a stage (stage_costs.h; infinite where it fits no policy), m microbatches and E what a stage does once
// per batch, the time is (plan.h)
//
//   f = (m − 1)·max L + Z,   Z = Σ L + max over s of (E_s − Σ_{j<s} L_j) = max over s of (E_s + Σ_{j≥s} L_j).
//
// For a limit M, let g(M) be the least Z over partitions with all L ≤ M. Then min f = min over M of (m − 1)·M + g(M),
// and only loads that some stage can have need be tried for M. The method:
//
//   1. A partition that beats the incumbent U has max L < (U − W)/(m − 1), W a lower bound on g. A greedy pass from the
//      end tells whether limit M can be kept at all: with R_0 = n and R_k the least i such that the *least* load of
//      [i, R_{k−1}) at position k stays within M, every partition that keeps M has its k-th cut from the end at R_k or
//      behind it. Proof by induction: its k-th stage [c_k, c_{k−1}) has c_{k−1} ≥ R_{k−1}, so [c_k, R_{k−1}) is a part
//      of it (or empty) at the same position and costs no more. If R_p > 0, no partition keeps M. A stage at k < p may
//      not start at node 0, where it would lose its copy of tied parameters.
//   2. The same pass from the front bounds the cuts from the other side.
//   3. Between these bounds, dynamic programming over (k, cut) gives g(M) exactly. The last k stages matter to those in
//      front by the sum S of their loads and by their Z, and the less of either the better: a stage in front makes them
//      S + L and max(Z, S + L + E). So each state keeps all pairs (S, Z) of which no other is better in both.
//   4. Loads between the least feasible limit and the bound of step 1 are tried in ascending order; the bound shrinks
//      with every better partition, and once g(M) has reached W no larger limit can win.
//
// With equal layers the windows of step 3 hold a handful of cuts, and few loads lie in the range of step 4.
#pragma once

#include <optional>
#include <vector>

#include "phaze/placement/stage_costs.h"

namespace phaze::placement {

struct Partition {
  double seconds = kNever;  // f
  std::vector<Stage> stages;
};

// The best partition if it takes less than `below`; none otherwise.
std::optional<Partition> best_partition(const StageCosts& costs, double below);

// No partition takes less: the first stage exactly, the others as if they shared their work evenly and recomputed
// nothing. For one stage that is the time itself. Infinite where it is at least `below`.
double partition_bound(const StageCosts& costs, double below);

// False where no partition fits the memory; a quick look that may miss one in which a stage would have to stay empty.
bool fits(const StageCosts& costs);

// Whether any partition fits the memory. A stage that fits still does without its last layers, so of the ends that the
// stages behind it allow, the nearest decides.
bool can_be_cut(const StageCosts& costs);

// Where a pipeline leaves no choice of cuts, because they are asked for or it is interleaved: its stages. Empty where
// they are to be found.
std::vector<Stage> given_stages(const Request& request, std::size_t table, std::int64_t pipeline,
                                std::int64_t interleave);

// From the first to the last layer whose kind stands at several places of the chain.
Range repeated_layers(const LayerTable& table);

// Chunks of equal numbers of repeated layers, as Megatron-LM cuts an interleaved pipeline: layers in front of the first
// repeated one join the first chunk, those behind the last one the last chunk. Empty where the layers do not divide.
std::vector<Stage> interleaved_stages(const LayerTable& table, std::int64_t pipeline, std::int64_t interleave);

std::optional<Partition> interleaved_partition(const StageCosts& costs, std::vector<Stage> stages,
                                               std::int64_t interleave, double below);

}  // namespace phaze::placement
