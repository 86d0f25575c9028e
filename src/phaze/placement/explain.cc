// Whether anything fits; where nothing does, why, and what would.
//
// Whether a family of strategies (table, pipeline, interleaving) fits asks for nothing but memory, and there more
// replicas never hurt: shares of the states are smaller and microbatches in flight no more. So a family is judged by
// the most replicas it may have. Orders of devices need the same memory; of the ZeRO levels, each of 0 to 2 needs no
// more than the one before it, so the highest of them and level 3, which gathers parameters, stand for all.
//
// The least memory over all families: one after another is asked whether it fits into less than the least so far, and
// only where it does, how much less is found by halving. The fewest devices likewise, halving over replicas.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "phaze/base/units.h"
#include "phaze/placement/partition.h"
#include "phaze/placement/solve.h"
#include "phaze/placement/stage_costs.h"
#include "phaze/placement/strategies.h"
#include "phaze/placement/table_sums.h"

namespace phaze::placement {
namespace {

constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;

class Explainer {
 public:
  explicit Explainer(const Request& request) : request_(request), zero_(request.freedom.zero) {
    if (zero_.empty()) zero_ = {0, 1, 2, 3};
    sums_.reserve(request_.tables.size());
    for (const LayerTable& table : request_.tables) sums_.emplace_back(table);
  }

  bool anything_fits() const {
    const Strategies strategies(request_);
    Replicas group;
    return std::ranges::any_of(strategies.families(), [&](const Family& family) {
      return strategies.group(family, strategies.most_replicas(family), group) && fits(request_, family, group.most);
    });
  }

  Shortage run() const {
    Shortage shortage;
    if (const std::int64_t devices = least_devices_whatever_memory(); devices > request_.devices.count) {
      shortage.sufficient_devices = devices;
      shortage.reason = fmt::format("too few devices: {} given, at least {} needed whatever their memory",
                                    request_.devices.count, devices);
      if (devices > least_width() * stages_and_replicas())
        shortage.reason += fmt::format(", since groups of {} are not torn apart between blocks of {}", least_width(),
                                       request_.devices.network.levels.front().size);
      return shortage;
    }
    if (!shape_exists()) {
      shortage.reason = "no plan has the shape asked for: " + shape();
      return shortage;
    }
    shortage.sufficient_memory = least_memory();
    shortage.sufficient_devices = fewest_devices();
    shortage.reason =
        fmt::format("too little memory: {:.4g} GB per device given, at least {:.4g} GB needed on {} devices",
                    request_.devices.memory / 1e9, shortage.sufficient_memory / 1e9, request_.devices.count);
    if (shortage.sufficient_devices > 0)
      shortage.reason +=
          fmt::format("; with the memory given, at least {} devices would do", shortage.sufficient_devices);
    else
      shortage.reason += "; with the memory given, no number of devices would do";
    return shortage;
  }

 private:
  static constexpr double kPlenty = 1e30;  // bytes

  bool shape_exists() const {
    const Strategies strategies(request_);
    Replicas replicas;
    return std::ranges::any_of(strategies.families(), [&](const Family& family) {
      return strategies.group(family, strategies.most_replicas(family), replicas);
    });
  }

  // Whether the family has a plan with so many replicas that fits into `limited.devices.memory`.
  bool fits(const Request& limited, const Family& family, std::int64_t replicas) const {
    const std::vector<Stage> given = given_stages(request_, family.table, family.pipeline, family.interleave);
    int highest = -1;  // below 3
    for (const int level : zero_)
      if (level < 3) highest = std::max(highest, level);
    for (const int level : zero_) {
      // Alone, a replica has nobody to share with.
      if (replicas == 1 ? level != zero_.front() : level < highest) continue;
      const StageCosts costs(limited, sums_[family.table],
                             {.table = family.table,
                              .pipeline = family.pipeline,
                              .data_parallel = replicas,
                              .interleave = family.interleave,
                              .zero = level});
      if (given.empty() ? can_be_cut(costs)
                        : interleaved_partition(costs, given, family.interleave, kNever).has_value())
        return true;
    }
    return false;
  }

  std::int64_t least_width() const {
    std::int64_t width = kMostDevices;
    for (const LayerTable& table : request_.tables) width = std::min(width, table.tensor_parallel);
    return width;
  }

  // As many as are asked for, of each one at least.
  std::int64_t stages_and_replicas() const {
    return std::max<std::int64_t>(1, request_.freedom.pipeline) *
           std::max<std::int64_t>(1, request_.freedom.data_parallel);
  }

  std::int64_t least_devices_whatever_memory() const {
    return hardware::devices_for(request_.devices.network, stages_and_replicas(), least_width());
  }

  // What was asked for and cannot be; all of it, where only the parts together cannot.
  std::string shape() const {
    const Freedom& freedom = request_.freedom;
    const std::size_t layers = request_.tables.front().size();
    const std::int64_t batch = request_.training.global_batch;
    const std::int64_t microbatch = std::ranges::min(request_.tables, {}, &LayerTable::microbatch).microbatch;
    std::vector<std::string> all, impossible;
    const auto add = [&](bool alone, std::string part) {
      if (alone) impossible.push_back(part);
      all.push_back(std::move(part));
    };
    if (freedom.pipeline > 0)
      add(std::cmp_greater(freedom.pipeline, layers), fmt::format("{} stages of {} layers", freedom.pipeline, layers));
    if (const std::int64_t most = ceil_divide(batch, microbatch); freedom.data_parallel > most)
      add(true, fmt::format("{} replicas, while microbatches of {} divide {} samples among {} at most",
                            freedom.data_parallel, microbatch, batch, most));
    else if (freedom.data_parallel > 0)
      add(false, fmt::format("{} replicas of {} samples", freedom.data_parallel, batch));
    if (!freedom.interleave.empty())
      add(false,
          fmt::format("{} chunks per stage, which must divide the repeated layers, with microbatches in multiples of "
                      "the stages",
                      freedom.interleave.front()));
    return fmt::format("{}", fmt::join(impossible.empty() ? all : impossible, ", "));
  }

  double least_memory() const {
    const Strategies strategies(request_);
    Request limited = request_;
    const auto fits_into = [&](double memory, const Family& family, std::int64_t replicas) {
      limited.devices.memory = memory;
      return fits(limited, family, replicas);
    };
    double least = kNever;
    Replicas group;
    for (const Family& family : strategies.families()) {
      if (!strategies.group(family, strategies.most_replicas(family), group)) continue;
      double low = request_.devices.memory, high = least - 1;
      if (least == kNever) {
        high = std::max(1.0, low);
        while (high < kPlenty && !fits_into(high, family, group.most)) high *= 2;
        if (high >= kPlenty) continue;
      } else if (!(high > low) || !fits_into(high, family, group.most)) {
        continue;
      }
      for (int step = 0; step < 60 && high - low > std::max(1.0, high * 1e-12); ++step) {
        const double middle = low + (high - low) / 2;
        (fits_into(middle, family, group.most) ? high : low) = middle;
      }
      least = high;
    }
    return std::ceil(least);
  }

  // 0 where no number up to kMostDevices helps.
  std::int64_t fewest_devices() const {
    Request many = request_;
    const std::int64_t capacity = request_.devices.network.capacity();
    many.devices.count = capacity > 0 ? std::min(capacity, kMostDevices) : kMostDevices;
    const Strategies strategies(many);
    std::int64_t fewest = many.devices.count + 1;
    for (const Family& family : strategies.families()) {
      const std::int64_t width = request_.tables[family.table].tensor_parallel;
      const auto replicas_on = [&](std::int64_t devices) {
        return hardware::groups_within(request_.devices.network, devices, width) / family.pipeline;
      };
      Replicas group;
      const auto fit = [&](std::int64_t replicas) {
        return strategies.group(family, replicas, group) && fits(many, family, group.most);
      };
      std::int64_t low = replicas_on(request_.devices.count);  // what the devices given allow does not fit
      std::int64_t high = std::min(replicas_on(fewest - 1), strategies.most_replicas(family));
      if (high <= low || !fit(high)) continue;
      while (high - low > 1) {
        const std::int64_t middle = low + (high - low) / 2;
        (fit(middle) ? high : low) = middle;
      }
      fewest = hardware::devices_for(request_.devices.network, high * family.pipeline, width);
    }
    return fewest > many.devices.count ? 0 : fewest;
  }

  const Request& request_;
  std::vector<int> zero_;
  std::vector<TableSums> sums_;
};

}  // namespace

bool has_plan(const Request& request) { return Explainer(request).anything_fits(); }

Shortage explain(const Request& request) { return Explainer(request).run(); }

}  // namespace phaze::placement
