#include "phaze/placement/training.h"

#include <fmt/format.h>

#include <cmath>

namespace phaze::placement {

Status validate(const Request& request) {
  if (request.tables.empty()) return Error{"there are no layers to place"};
  for (const LayerTable& table : request.tables) {
    if (Status status = validate(table); !status)
      return within(fmt::format("width {}, microbatch {}", table.tensor_parallel, table.microbatch), status.error());
    if (table.size() != request.tables.front().size()) return Error{"tables differ in their number of layers"};
  }
  if (request.devices.count < 1) return Error{"there are no devices"};
  if (request.training.global_batch < 1) return Error{"a batch has at least one sample"};
  const auto& states = request.training.states;
  for (const double value : {request.devices.memory, request.devices.step_seconds_per_parameter, states.parameters,
                             states.gradients, states.optimizer, states.gradients_in_network})
    if (!std::isfinite(value) || value < 0) return Error{"a size or time is negative or not finite"};
  for (const int zero : request.freedom.zero)
    if (zero < 0 || zero > 3) return Error{fmt::format("there is no ZeRO level {}", zero)};
  std::size_t before = 0;
  for (const std::size_t cut : request.freedom.cuts) {
    if (cut <= before || cut >= request.tables.front().size())
      return Error{fmt::format("the chain cannot be cut at layer {}", cut)};
    before = cut;
  }
  const auto stages = static_cast<std::int64_t>(request.freedom.cuts.size() + 1);
  if (stages > 1 && request.freedom.pipeline > 0 && request.freedom.pipeline != stages)
    return Error{fmt::format("{} stages do not go with {} cuts", request.freedom.pipeline, stages - 1)};
  const std::int64_t capacity = request.devices.network.capacity();
  if (request.devices.network.levels.empty() && request.devices.count > 1) return Error{"devices are not joined"};
  if (capacity > 0 && request.devices.count > capacity)
    return Error{fmt::format("the network joins {} devices, not {}", capacity, request.devices.count)};
  return Done{};
}

}  // namespace phaze::placement
