#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "phaze/base/amount.h"
#include "phaze/base/units.h"
#include "phaze/sim/pipeline.h"

namespace phaze::sim {
namespace {

using Amounts = std::initializer_list<std::pair<const char*, double>>;

Status validate_amounts(const std::string& place, Amounts amounts) {
  for (const auto& [key, value] : amounts)
    if (!is_amount(value))
      return Error{fmt::format("{} is not {}", value, kAmounts), place + "." + key, "times are seconds, sizes bytes"};
  return Done{};
}

Status validate_device(const Device& device, const std::string& place) {
  if (auto status = validate_amounts(place, {{"reduce", device.reduce},
                                             {"tied", device.tied},
                                             {"step", device.step},
                                             {"gather", device.gather},
                                             {"resident_bytes", device.resident_bytes},
                                             {"workspace_bytes", device.workspace_bytes}});
      !status)
    return status;
  for (std::size_t c = 0; c < device.chunks.size(); ++c) {
    const Chunk& chunk = device.chunks[c];
    const std::string inside = fmt::format("{}.chunks[{}]", place, c);
    if (auto status = validate_amounts(inside, {{"forward", chunk.forward},
                                                {"backward", chunk.backward},
                                                {"send_forward", chunk.send_forward},
                                                {"send_backward", chunk.send_backward},
                                                {"kept_bytes", chunk.kept_bytes}});
        !status)
      return status;
    if (chunk.layers < 1 || chunk.layers > kMostLayers)
      return Error{fmt::format("{} is not from 1 to {}", chunk.layers, kMostLayers), inside + ".layers"};
  }
  return Done{};
}

}  // namespace

Status validate(const Pipeline& pipeline) {
  if (pipeline.devices.empty()) return Error{"there are no devices"};
  if (pipeline.microbatches < 1) return Error{"there are no microbatches"};
  if (pipeline.samples < 1) return Error{"there are no samples in a batch", "", "set 'samples' to 1 or more"};
  const auto devices = static_cast<std::int64_t>(pipeline.devices.size());
  const auto chunks = static_cast<std::int64_t>(pipeline.devices.front().chunks.size());
  if (chunks == 0) return Error{"a device has no chunk"};
  if (chunks > 1 && pipeline.microbatches % devices != 0)
    return Error{"an interleaved pipeline needs a multiple of its stages in microbatches"};
  if (saturating_product({pipeline.microbatches, devices, chunks}) > kMostPasses)
    return Error{fmt::format("{} on {} devices with {} chunks each are more than {} passes forward",
                             pipeline.microbatches, devices, chunks, kMostPasses),
                 "microbatches", "simulate fewer microbatches"};
  std::int64_t layers = 0;
  bool works = false;
  for (std::size_t d = 0; d < pipeline.devices.size(); ++d) {
    const Device& device = pipeline.devices[d];
    if (static_cast<std::int64_t>(device.chunks.size()) != chunks)
      return Error{"devices have different numbers of chunks"};
    if (auto status = validate_device(device, fmt::format("devices[{}]", d)); !status) return status;
    for (const Chunk& chunk : device.chunks) layers += chunk.layers;
    if (layers > kMostLayers) return Error{fmt::format("all chunks have more than {} layers together", kMostLayers)};
    works = works || std::ranges::any_of(device.chunks, [](const Chunk& c) { return c.forward + c.backward > 0; });
  }
  if (!works) return Error{"no pass takes any time", "", "set 'forward' or 'backward' of a chunk above 0"};
  return Done{};
}

}  // namespace phaze::sim
