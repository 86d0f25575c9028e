#include "phaze/placement/layers.h"

#include <cmath>

namespace phaze::placement {
namespace {

bool good(double value) { return std::isfinite(value) && value >= 0; }
bool good(const PassTime& time) {
  return good(time.seconds) && good(time.communication) && time.communication <= time.seconds * (1 + 1e-9);
}

Status validate(const LayerCost& layer) {
  bool fine = good(layer.forward) && good(layer.backward) && good(layer.parameters) && good(layer.tied_parameters);
  for (const Recompute policy : kPolicies)
    fine = fine && good(layer.recompute[index(policy)]) && good(layer.saved[index(policy)]);
  if (!fine) return Error{"a time or size is negative or not finite", layer.name};
  for (std::size_t p = 1; p < kPolicies.size(); ++p) {
    if (layer.recompute[p].seconds < layer.recompute[p - 1].seconds)
      return Error{"recomputing more takes less time", layer.name};
    if (layer.saved[p] > layer.saved[p - 1]) return Error{"recomputing more keeps more bytes", layer.name};
  }
  return Done{};
}

}  // namespace

const char* to_string(Recompute policy) {
  switch (policy) {
    case Recompute::kNone: return "none";
    case Recompute::kSelective: return "selective";
    case Recompute::kFull: return "full";
  }
  return "none";
}

Status validate(const LayerTable& table) {
  if (table.tensor_parallel < 1 || table.microbatch < 1) return Error{"width and microbatch must be positive"};
  if (table.nodes.empty()) return Error{"there are no layers"};
  if (table.cut_bytes.size() + 1 != table.nodes.size()) return Error{"there is not one cut between any two layers"};
  for (const double bytes : table.cut_bytes)
    if (!good(bytes)) return Error{"bytes between layers are negative or not finite"};
  for (const std::uint32_t node : table.nodes)
    if (node >= table.kinds.size()) return Error{"a node names a layer that is not there"};
  for (const LayerCost& layer : table.kinds)
    if (Status status = validate(layer); !status) return status;
  return Done{};
}

}  // namespace phaze::placement
