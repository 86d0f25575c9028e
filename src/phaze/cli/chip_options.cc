#include "phaze/cli/chip_options.h"

#include "phaze/cli/flags.h"
#include "phaze/hardware/chip_file.h"

namespace phaze::cli {

void ChipOptions::add_to(CLI::App& command, bool required) {
  command
      .add_option("--chip", chip,
                  "A preset (see 'phaze chip list'), a .yaml file, or parts such as tc=8x128x128,hbm=80GiB")
      ->required(required)
      ->type_name("CHIP");
  add_network(command, network,
              "A preset such as dgx-h100, a .yaml file, or levels such as 8x300GB/s@2us,25GB/s@5us (default: the "
              "chip's own)");
}

Result<hardware::Cluster> ChipOptions::load() const {
  auto loaded = hardware::load_chip(chip);
  if (!loaded) return loaded.error();
  auto net = network.empty() ? hardware::own_network(*loaded) : hardware::load_network(network);
  if (!net) return net.error();
  return hardware::Cluster{std::move(*loaded), 1, std::move(*net)};
}

}  // namespace phaze::cli
