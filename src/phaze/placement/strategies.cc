#include "phaze/placement/strategies.h"

#include <algorithm>

#include "phaze/base/units.h"
#include "phaze/placement/partition.h"

namespace phaze::placement {
namespace {

std::vector<std::int64_t> interleaves(const LayerTable& table, std::int64_t p, const std::vector<std::int64_t>& asked) {
  std::vector<std::int64_t> depths;
  const Range repeated = repeated_layers(table);
  const auto layers = static_cast<std::int64_t>(repeated.end - repeated.begin);
  for (std::int64_t v = 1; v == 1 || p * v <= layers; ++v) {
    if (!asked.empty() && std::ranges::find(asked, v) == asked.end()) continue;
    if (v == 1 || (p > 1 && layers % (p * v) == 0)) depths.push_back(v);
  }
  return depths;
}

}  // namespace

Strategies::Strategies(const Request& request) : request_(&request) {
  const auto& levels = request.devices.network.levels;
  const auto is_torus = [](const hardware::NetworkLevel& level) { return !level.torus.empty(); };
  const auto is_faster = [](const hardware::NetworkLevel& inner, const hardware::NetworkLevel& outer) {
    return outer.achieved() > inner.achieved() || outer.latency < inner.latency;
  };
  grouped_ = std::ranges::none_of(levels, is_torus) && std::ranges::adjacent_find(levels, is_faster) == levels.end();
  flat_ = levels.size() == 1 && grouped_;
  for (std::size_t table = 0; table < request.tables.size(); ++table) {
    const LayerTable& layers = request.tables[table];
    const auto cuts = static_cast<std::int64_t>(request.freedom.cuts.size());
    const std::int64_t fixed = cuts > 0 ? cuts + 1 : request.freedom.pipeline;
    const auto deepest = std::min(static_cast<std::int64_t>(layers.size()), groups_of(layers));
    for (std::int64_t p = fixed > 0 ? fixed : 1; p <= (fixed > 0 ? std::min(fixed, deepest) : deepest); ++p)
      for (const std::int64_t v :
           cuts > 0 ? std::vector<std::int64_t>{1} : interleaves(layers, p, request.freedom.interleave))
        families_.push_back({.table = table, .pipeline = p, .interleave = v});
  }
}

std::int64_t Strategies::groups_of(const LayerTable& table) const {
  return hardware::groups_within(request_->devices.network, request_->devices.count, table.tensor_parallel);
}

// Beyond one sample batch per replica, more replicas would stand idle.
std::int64_t Strategies::most_replicas(const Family& family) const {
  const LayerTable& table = request_->tables[family.table];
  return std::min(groups_of(table) / family.pipeline, ceil_divide(request_->training.global_batch, table.microbatch));
}

bool Strategies::alike(const Family& family, std::int64_t fewest, std::int64_t most) const {
  if (fewest == most || flat_ || family.pipeline == 1) return true;
  const std::int64_t t = request_->tables[family.table].tensor_parallel;
  const auto outermost = [&](std::int64_t replicas) {
    return hardware::spanned_at_best(request_->devices.network,
                                     {.size = family.pipeline, .stride = t * replicas, .whole = t})
        .back();
  };
  const hardware::GroupLevel near = outermost(fewest), far = outermost(most);
  return near.bandwidth == far.bandwidth && near.latency == far.latency;
}

bool Strategies::group(const Family& family, std::int64_t limit, Replicas& found) const {
  const std::int64_t batch = request_->training.global_batch, b = request_->tables[family.table].microbatch;
  const std::int64_t fixed = request_->freedom.data_parallel;
  if (fixed > 0 && limit < fixed) return false;
  std::int64_t most = std::min(limit, most_replicas(family));
  if (fixed > 0) {
    if (fixed > most) return false;
    most = fixed;
  }
  while (most >= 1) {
    const std::int64_t m = ceil_divide(batch, b * most);
    std::int64_t fewest = fixed > 0 || !grouped_ ? most : ceil_divide(batch, b * m);
    while (!alike(family, fewest, most)) fewest = (fewest + most + 1) / 2;
    if (family.interleave == 1 || m % family.pipeline == 0) {
      found = {.fewest = fewest, .most = most, .microbatches = m};
      return true;
    }
    if (fixed > 0) return false;
    most = fewest - 1;
  }
  return false;
}

std::int64_t Strategies::count() const {
  std::int64_t sum = 0;
  for (const Family& family : families_) {
    if (family.interleave == 1 && request_->freedom.data_parallel == 0) {
      sum += most_replicas(family);
      continue;
    }
    Replicas replicas;
    for (std::int64_t limit = most_replicas(family); group(family, limit, replicas); limit = replicas.fewest - 1)
      sum += replicas.most - replicas.fewest + 1;
  }
  return sum;
}

}  // namespace phaze::placement
