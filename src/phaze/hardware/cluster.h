// A cluster: so many of one chip, joined by a network.
#pragma once

#include <cstdint>
#include <string_view>

#include "phaze/base/result.h"
#include "phaze/hardware/chip.h"
#include "phaze/hardware/network.h"

namespace phaze::hardware {

struct Cluster {
  Chip chip;
  std::int64_t devices = 1;
  Network network;
  bool operator==(const Cluster&) const = default;
};

// The network a chip usually sits in.
Result<Network> own_network(const Chip& chip);

// Refuses more devices than the network joins.
Result<Cluster> make_cluster(Chip chip, std::int64_t devices, Network network);

// A YAML file with the keys chip, devices and network, each as on the command line; network may be left out.
Result<Cluster> load_cluster(std::string_view path);
Result<Cluster> parse_cluster_file(std::string_view text);

}  // namespace phaze::hardware
