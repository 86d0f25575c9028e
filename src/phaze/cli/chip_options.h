// The options that every command about a chip takes.
#pragma once

#include <string>

#include "phaze/base/result.h"
#include "phaze/hardware/cluster.h"

namespace CLI {
class App;
}

namespace phaze::cli {

struct ChipOptions {
  std::string chip;
  std::string network;

  // --chip, --network
  void add_to(CLI::App& command, bool required = true);

  // One device of that chip in its network.
  Result<hardware::Cluster> load() const;
};

}  // namespace phaze::cli
