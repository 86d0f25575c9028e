// Layers as placement sees them: times and bytes of one microbatch on one device, nothing of operators or chips.
//
// A LayerTable holds for one tensor-parallel width, microbatch and choice of sequence parallelism. Layers that cost the
// same are stored once (`kinds`) and named by many nodes, in topological order: `nodes[i]` is the kind of node i.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/result.h"

namespace phaze::placement {

// What runs again before the backward pass: nothing, the attention core, or the whole layer.
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
inline constexpr std::array<Recompute, 3> kPolicies = {Recompute::kNone, Recompute::kSelective, Recompute::kFull};
inline constexpr std::size_t index(Recompute policy) { return static_cast<std::size_t>(policy); }
const char* to_string(Recompute policy);

// Seconds, and how many of them are communication among the tensor-parallel ranks.
struct PassTime {
  double seconds = 0;
  double communication = 0;

  PassTime& operator+=(const PassTime& other) {
    seconds += other.seconds;
    communication += other.communication;
    return *this;
  }
  bool operator==(const PassTime&) const = default;
};

struct LayerCost {
  std::string name;
  PassTime forward;
  PassTime backward;                  // without recompute
  std::array<PassTime, 3> recompute;  // by policy: what runs again
  std::array<double, 3> saved = {};   // by policy: bytes kept per microbatch from forward to backward
  double parameters = 0;              // per rank, owned by this layer
  double tied_parameters = 0;         // per rank, owned by another layer and read here
  bool operator==(const LayerCost&) const = default;
};

struct LayerTable {
  std::int64_t tensor_parallel = 1;
  std::int64_t microbatch = 1;
  bool sequence_parallel = false;
  std::vector<LayerCost> kinds;
  std::vector<std::uint32_t> nodes;
  // Bytes per rank that cross the cut behind node i: every tensor once, however many later nodes read it. One number
  // for each node but the last.
  std::vector<double> cut_bytes;
  // Every rank of a tensor-parallel group holds the same of them, so each may send its share and gather inside.
  bool cut_is_replicated = true;

  std::size_t size() const { return nodes.size(); }
  const LayerCost& layer(std::size_t node) const { return kinds[nodes[node]]; }
  bool operator==(const LayerTable&) const = default;
};

// Finite, nothing negative, recompute in ascending order and kept bytes in descending order of policy, one cut between
// any two nodes.
Status validate(const LayerTable& table);

}  // namespace phaze::placement
