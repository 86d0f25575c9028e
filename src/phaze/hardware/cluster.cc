#include "phaze/hardware/cluster.h"

#include <optional>
#include <string>

#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/base/text_file.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/yaml_reader.h"

namespace phaze::hardware {

Result<Network> own_network(const Chip& chip) { return load_network(chip.network); }

Result<Cluster> make_cluster(Chip chip, std::int64_t devices, Network network) {
  const std::int64_t most = network.capacity();
  if (most > 0 && devices > most)
    return Error{
        "network '" + network.name + "' joins " + std::to_string(most) + " devices, not " + std::to_string(devices), "",
        "lower the number of devices or give the outermost level no size"};
  return Cluster{std::move(chip), devices, std::move(network)};
}

Result<Cluster> parse_cluster_file(std::string_view text) {
  const auto document = parse_yaml(text);
  if (!document) return document.error();
  std::string chip_name;
  std::optional<std::string> network_name;
  std::int64_t devices = 0;
  for (const auto& entry : *document) {
    const auto key = scalar(entry.first, "key");
    if (!key) return key.error();
    const auto value = scalar(entry.second, *key);
    if (!value) return value.error();
    if (*key == "chip") {
      chip_name = *value;
    } else if (*key == "network") {
      network_name = *value;
    } else if (*key == "devices") {
      const auto count = parse_count(*value);
      if (!count) return within(line_of(entry.second) + ": key 'devices'", count.error());
      devices = *count;
    } else {
      const std::vector<std::string> known = {"chip", "devices", "network"};
      return Error{"unknown key '" + *key + "'", line_of(entry.first), suggest(*key, known)};
    }
  }
  if (chip_name.empty()) return Error{"key 'chip' is missing", "", "add chip: h100-sxm"};
  if (devices == 0) return Error{"key 'devices' is missing", "", "add devices: 512"};
  auto chip = load_chip(chip_name);
  if (!chip) return within("key 'chip'", chip.error());
  auto network = network_name ? load_network(*network_name) : own_network(*chip);
  if (!network) return within("key 'network'", network.error());
  return make_cluster(std::move(*chip), devices, std::move(*network));
}

Result<Cluster> load_cluster(std::string_view path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  auto cluster = parse_cluster_file(*text);
  if (!cluster) return within(std::string(path), cluster.error());
  return cluster;
}

}  // namespace phaze::hardware
