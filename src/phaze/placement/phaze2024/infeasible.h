// Why nothing fits, and the smallest change that would make something fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "phaze/placement/phaze2024/graph.h"
#include "phaze/placement/phaze2024/instance.h"
#include "phaze/placement/phaze2024/stage_list.h"

namespace phaze::placement::phaze2024 {

struct Shortage {
  // Bytes per device that would do with the devices there are; nothing if no memory would.
  std::optional<double> memory_per_device;
  // Devices that would do with the memory there is; nothing if no number would.
  std::optional<std::int64_t> devices;
  // Devices below which no memory would do.
  std::int64_t devices_at_least = 1;
  // A layer that takes all of memory_per_device by itself, if one does.
  std::optional<std::int64_t> node;
  bool exact = true;  // false if a limit cut the search short: then these would do, but less might too

  bool operator==(const Shortage&) const = default;
};

// For an instance without a feasible plan, whose graphs list their nodes in `order`. Nothing if progress said stop.
std::optional<Shortage> explain_shortage(const Instance& instance, const std::vector<std::int64_t>& order,
                                         const std::vector<Graph>& graphs, std::size_t stage_limit, Progress& progress);

// One sentence about it.
std::string to_string(const Instance& instance, const Shortage& shortage);

}  // namespace phaze::placement::phaze2024
