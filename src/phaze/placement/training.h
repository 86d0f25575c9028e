// What is asked of a plan: the layers, the devices, and how the model is trained.
//
//   Request request{.tables = tables, .devices = {.count = 1024, .memory = 80e9, .network = network},
//                   .training = {.global_batch = 1536}};
//   const Solution solution = solve(request, {}, progress);   // solve.h
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/hardware/group.h"
#include "phaze/placement/plan.h"

namespace phaze::placement {

// Bytes kept and moved for each parameter of a device.
struct StateBytes {
  double parameters = 2;  // 16-bit
  double gradients = 4;
  double optimizer = 12;            // 32-bit parameters and two moments
  double gradients_in_network = 4;  // in all-reduce and reduce-scatter
  bool operator==(const StateBytes&) const = default;
};

// 18 bytes in all with 32-bit gradients, as Megatron-LM keeps them with bf16; 16 with 16-bit ones.
inline constexpr StateBytes kAdamMixed{.parameters = 2, .gradients = 4, .optimizer = 12, .gradients_in_network = 4};
inline constexpr StateBytes kAdamMixedNarrow{
    .parameters = 2, .gradients = 2, .optimizer = 12, .gradients_in_network = 2};
// As in the 2024 study: parameters, gradients, and with Adam one state more, all of 16 bits.
inline constexpr StateBytes kSgd{.parameters = 2, .gradients = 2, .optimizer = 0, .gradients_in_network = 2};
inline constexpr StateBytes kAdam{.parameters = 2, .gradients = 2, .optimizer = 2, .gradients_in_network = 2};

struct Devices {
  std::int64_t count = 1;
  double memory = 0;  // bytes per device
  hardware::Network network;
  double step_seconds_per_parameter = 0;  // of the optimizer
  bool operator==(const Devices&) const = default;
};

// Which plans are allowed: an empty list or zero leaves the choice free.
struct Freedom {
  std::int64_t pipeline = 0;
  std::int64_t data_parallel = 0;
  std::vector<std::size_t> cuts = {};         // nodes that stages begin at, ascending, without the first stage's 0
  std::vector<std::int64_t> interleave = {};  // tried: these, or 1, 2, 3, ...
  std::vector<int> zero = {};                 // of 0 to 3
  std::vector<Recompute> recompute = {};      // policies that a stage may choose from
  std::vector<Order> orders = {};             // how devices are numbered
  bool operator==(const Freedom&) const = default;
};

struct Training {
  std::int64_t global_batch = 1;
  StateBytes states = kAdamMixed;
  bool overlap_gradients = true;  // gradients are reduced while the last microbatch's backward pass still runs
  bool least_times = false;  // layer times are lower bounds, and the time of a batch is to be one, too (stage_costs.cc)
  bool operator==(const Training&) const = default;
};

struct Request {
  std::vector<LayerTable> tables;  // widths and microbatches to choose from
  Devices devices;
  Training training;
  Freedom freedom;
  bool operator==(const Request&) const = default;
};

Status validate(const Request& request);

}  // namespace phaze::placement
