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

std::vector<std::string> network_presets();

// A preset, a YAML file, or an inline specification.
Result<Network> load_network(std::string_view network);

Result<Network> parse_network_file(std::string_view text);
Result<Network> parse_inline_network(std::string_view text);

}  // namespace phaze::hardware
