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
  bool exact = true;  // false if a limit cut the search short: then these would do, but less might too

  bool operator==(const Shortage&) const = default;
};

// For an instance without a feasible plan. Nothing if progress said stop.
std::optional<Shortage> explain_shortage(const Instance& instance, const std::vector<Graph>& graphs,
                                         std::size_t stage_limit, Progress& progress);

// One sentence about it.
std::string to_string(const Instance& instance, const Shortage& shortage);

}  // namespace phaze::placement::phaze2024
