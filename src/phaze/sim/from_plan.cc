#include "phaze/sim/from_plan.h"

#include <algorithm>

#include "phaze/placement/stage_costs.h"
#include "phaze/placement/table_sums.h"

namespace phaze::sim {

Pipeline pipeline_of(const placement::Request& request, const placement::Plan& plan) {
  const placement::TableSums sums(request.tables[plan.strategy.table]);
  const placement::StageCosts costs(request, sums, plan.strategy);
  Pipeline pipeline{.microbatches = costs.microbatches(),
                    .samples = request.training.global_batch,
                    .overlap_gradients = request.training.overlap_gradients};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    const placement::Stage& stage = plan.stages[s];
    Device device;
    for (const placement::Range& range : stage.chunks) {
      const Chunk chunk{.forward = sums.forward(range.begin, range.end),
                        .backward = sums.backward(range.begin, range.end) +
                                    sums.recompute(index(stage.recompute), range.begin, range.end),
                        .send_forward = costs.arrival(range.end),
                        .send_backward = costs.arrival(range.begin),
                        .kept_bytes = sums.saved(index(stage.recompute), range.begin, range.end),
                        .layers = static_cast<std::int64_t>(range.end - range.begin)};
      device.chunks.push_back(chunk);
    }
    // What sharded gradients and parameters add to every microbatch lengthens its backward pass.
    const double load = costs.load(stage.chunks, stage.recompute);
    double known = 0;
    for (const Chunk& chunk : device.chunks)
      known += chunk.forward + chunk.backward + chunk.send_forward + chunk.send_backward;
    if (plan.strategy.zero >= 2 && plan.strategy.data_parallel > 1)
      for (Chunk& chunk : device.chunks)
        chunk.backward += std::max(0.0, load - known) / static_cast<double>(device.chunks.size());
    const auto once = costs.once_per_batch(stage.chunks);
    const auto ending = costs.ending(stage.chunks);
    device.reduce = once.reduce;
    device.tied = once.tied;
    device.step = once.step;
    device.gather = ending.gather;
    const placement::Memory memory =
        costs.memory(stage.chunks, static_cast<std::int64_t>(plan.stages.size() - s), stage.recompute);
    device.resident_bytes = memory.parameters + memory.gradients + memory.optimizer;
    device.workspace_bytes = memory.workspace;
    pipeline.devices.push_back(std::move(device));
  }
  return pipeline;
}

}  // namespace phaze::sim
