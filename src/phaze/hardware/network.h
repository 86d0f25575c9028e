// How devices are joined: levels from the inside out, each a switch that joins blocks of the level below, or a torus.
//
//   8x300GB/s@2us,25GB/s@5us     8 devices at 300 GB/s each, beyond them 25 GB/s each
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"

namespace phaze::hardware {

struct NetworkLevel {
  std::int64_t size = 0;                 // blocks of the level below that it joins; 0: any number (outermost only)
  double bandwidth = 0;                  // bytes per second, per device and direction; of one link in a torus
  double efficiency = 1;                 // fraction of it that collectives reach
  double latency = 0;                    // seconds per step
  std::vector<std::int64_t> torus = {};  // sides; empty: a switch
  // Ports through which a block of the level below reaches this one, shared by the block's devices; 0: not known, every
  // device gets its share whatever the others do.
  std::int64_t ports = 0;

  double achieved() const { return bandwidth * efficiency; }
  bool operator==(const NetworkLevel&) const = default;
};

struct Network {
  std::string name;
  std::string summary;
  std::vector<NetworkLevel> levels;  // the innermost first

  // How many devices it can join; 0: any number.
  std::int64_t capacity() const;
  // Bytes per second that the links of one device carry, both ways and at all levels together.
  double link_bandwidth() const;
  bool operator==(const Network&) const = default;
};

// A group that communicates: `size` devices whose numbers are `stride` apart. Devices are numbered from the inside out,
// so a small stride stays inside the inner levels.
struct Group {
  std::int64_t size = 1;
  std::int64_t stride = 1;
  bool operator==(const Group&) const = default;
};

// The part of a group that one level joins.
//
// Ports: a collective that has a whole block below uses all its ports, and one that has a single device there uses the
// port next to it. One that has some of a block's devices, as the replicas of a stage do where tensor parallelism fills
// half a node, runs as a ring that enters and leaves the block by one port; its sister groups on the block, of which it
// knows nothing, take the same one. Then `ring_bandwidth` is that port's rate, divided over all devices of the block:
// the block's share over the ports. Measured on nodes with four ports (docs/validation.md); messages between two
// devices are not concerned.
struct GroupLevel {
  std::int64_t members = 1;   // at this level
  double bandwidth = 0;       // achieved, per device
  double ring_bandwidth = 0;  // of it, what a collective gets
  double latency = 0;
  std::vector<std::int64_t> torus = {};  // members along each side
  bool operator==(const GroupLevel&) const = default;
};

// The levels that a group spans, the innermost first; their members multiply to the group's size (rounded up where the
// group does not fill blocks).
std::vector<GroupLevel> spanned(const Network& network, const Group& group);

std::vector<std::string> network_presets();

// A preset, a YAML file, or an inline specification.
Result<Network> load_network(std::string_view network);

Result<Network> parse_network_file(std::string_view text);
Result<Network> parse_inline_network(std::string_view text);

}  // namespace phaze::hardware
