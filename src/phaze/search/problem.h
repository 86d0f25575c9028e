// What is searched for: the chips of a space, the models to train on them, and what makes one chip better than another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "phaze/hardware/area.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/request.h"
#include "phaze/search/model_profile.h"

namespace phaze::search {

enum class Objective : std::uint8_t {
  kThroughput,
  kPerWatt,
  kPerArea,
  kPareto,  // throughput against area and power: every chip that no other beats in all three
};
// Several models: the weighted geometric mean of throughputs relative to the baseline's, or the weighted arithmetic
// mean of throughputs, as in 2024. One model: its throughput.
enum class Mean : std::uint8_t { kGeometric, kArithmetic };

struct Problem {
  std::vector<hardware::Chip> chips;
  std::vector<layer_times::Workload> workloads;
  std::vector<double> weights;  // of the workloads; empty: all equal
  std::int64_t devices = 1;
  hardware::Network network;
  std::vector<Bytes> hbm;  // capacities to choose from; empty: the chip's own
  Objective objective = Objective::kThroughput;
  Mean mean = Mean::kGeometric;
  hardware::AreaModel area_model = hardware::AreaModel::kPhaze22;
  std::uint64_t states_per_layer = 2'000;  // of the schedulers; more of them close gaps, fewer are faster
  std::uint32_t most_effort = 2;           // for chips whose gap keeps the answer from being proven (chip_search.h)
  std::vector<double> baseline;            // throughput of each workload on the baseline chip; empty: one
  // Of these chips, to share between searches; null: each makes its own where it needs one. Not for other chips.
  std::shared_ptr<const cost::SunstoneTable> sunstone = nullptr;
  // Of layers, for all who search or evaluate the same chips.
  std::shared_ptr<schedule::BlockMemo> schedules = std::make_shared<schedule::BlockMemo>();
};

// The least capacity of those to choose from that holds so many bytes.
Bytes least_hbm(const Problem& problem, std::size_t chip, double peak_memory);

// The problem's cluster of this chip, with the largest capacity to choose from.
hardware::Cluster cluster_of(const Problem& problem, const hardware::Chip& chip);

// The problem's own table, or a new one where one of its workloads has the 2024 profile, which it makes fast; or null.
std::shared_ptr<const cost::SunstoneTable> sunstone_table(const Problem& problem);

// One for each workload. What is given must outlive them.
std::vector<ModelProfile> profiles_of(const Problem& problem, std::uint64_t states_per_layer,
                                      const cost::SunstoneTable* sunstone);

}  // namespace phaze::search
