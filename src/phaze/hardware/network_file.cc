#include <algorithm>
#include <span>

#include "phaze/base/embedded_file.h"
#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/base/text_file.h"
#include "phaze/hardware/network.h"
#include "phaze/hardware/yaml_reader.h"

namespace phaze {
std::span<const EmbeddedFile> network_files();  // generated from data/networks
}  // namespace phaze

namespace phaze::hardware {
namespace {

// "16x16x16" as its sides.
Result<std::vector<std::int64_t>> torus_sides(std::string_view text) {
  std::vector<std::int64_t> sides;
  while (true) {
    const auto cross = text.find('x');
    const auto side = parse_count(text.substr(0, cross));
    if (!side) return Error{side.error().message, "", "write it like 16x16x16"};
    if (*side > 1 << 20) return Error{"'" + std::to_string(*side) + "' is more than 1048576"};
    sides.push_back(*side);
    if (cross == std::string_view::npos) return sides;
    text.remove_prefix(cross + 1);
  }
}

Result<double> fraction(std::string_view text) {
  const auto value = parse_positive(text);
  if (!value) return value.error();
  if (*value > 1) return Error{"'" + std::string(text) + "' is more than 1"};
  return *value;
}

Status set_level(NetworkLevel& level, const std::string& key, const std::string& text) {
  if (key == "torus") {
    const auto sides = torus_sides(text);
    if (!sides) return sides.error();
    level.torus = *sides;
    return Done{};
  }
  if (key == "size" || key == "ports") {
    const auto count = parse_count(text);
    if (!count) return count.error();
    (key == "size" ? level.size : level.ports) = *count;
    return Done{};
  }
  double* target = nullptr;
  Result<double> value = 0.0;
  if (key == "bandwidth") {
    value = parse_bytes_per_second(text);
    target = &level.bandwidth;
  } else if (key == "latency") {
    value = parse_seconds(text);
    target = &level.latency;
  } else if (key == "efficiency") {
    value = fraction(text);
    target = &level.efficiency;
  } else {
    const std::vector<std::string> known = {"size", "torus", "bandwidth", "latency", "efficiency", "ports"};
    return Error{"unknown key '" + key + "'", "", suggest(key, known)};
  }
  if (!value) return within("key '" + key + "'", value.error());
  *target = *value;
  return Done{};
}

// A torus joins as many as its sides multiply to; a size beside it may only say the same.
Status fill_torus(NetworkLevel& level) {
  if (level.torus.empty()) return Done{};
  std::int64_t product = 1;
  for (const std::int64_t side : level.torus) product = saturating_multiply(product, side);
  if (level.size != 0 && level.size != product)
    return Error{
        "the sides of the torus multiply to " + std::to_string(product) + ", and size is " + std::to_string(level.size),
        "", "leave size out"};
  level.size = product;
  return Done{};
}

Result<NetworkLevel> read_level(const YAML::Node& node) {
  if (!node.IsMap()) return Error{"a level needs keys such as size and bandwidth", line_of(node)};
  if (const Status once = check_keys(node); !once) return once.error();
  NetworkLevel level;
  for (const auto& entry : node) {
    const auto key = scalar(entry.first, "key");
    if (!key) return key.error();
    const auto text = scalar(entry.second, *key);
    if (!text) return text.error();
    if (auto status = set_level(level, *key, *text); !status) return within(line_of(entry.first), status.error());
  }
  if (const Status filled = fill_torus(level); !filled) return within(line_of(node), filled.error());
  if (level.bandwidth == 0) return Error{"a level has no bandwidth", line_of(node), "add bandwidth: 25GB/s"};
  return level;
}

Status validate(const Network& network) {
  if (network.levels.empty()) return Error{"the network has no levels"};
  for (const NetworkLevel& level : network.levels)
    if (level.size == 0 && &level != &network.levels.back())
      return Error{"a level inside another has no size", "", "only the outermost level may join any number"};
  return Done{};
}

}  // namespace

Result<Network> parse_network_file(std::string_view text) {
  const auto document = parse_yaml(text);
  if (!document) return document.error();
  Network network;
  for (const auto& entry : *document) {
    const auto key = scalar(entry.first, "key");
    if (!key) return key.error();
    if (*key == "levels") {
      if (!entry.second.IsSequence()) return Error{"key 'levels' needs a list", line_of(entry.second)};
      for (const auto& item : entry.second) {
        auto level = read_level(item);
        if (!level) return level.error();
        network.levels.push_back(std::move(*level));
      }
      continue;
    }
    const auto value = scalar(entry.second, *key);
    if (!value) return value.error();
    if (*key == "name") {
      network.name = *value;
    } else if (*key == "summary") {
      network.summary = *value;
    } else {
      const std::vector<std::string> known = {"name", "summary", "levels"};
      return Error{"unknown key '" + *key + "'", line_of(entry.first), suggest(*key, known)};
    }
  }
  if (auto status = validate(network); !status) return status.error();
  return network;
}

Result<Network> parse_inline_network(std::string_view text) {
  Network network;
  network.name = std::string(text);
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    const std::string place(part);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    NetworkLevel level;
    if (const auto at = part.find('@'); at != std::string_view::npos) {
      const auto latency = parse_seconds(part.substr(at + 1));
      if (!latency) return within(place, latency.error());
      level.latency = *latency;
      part = part.substr(0, at);
    }
    if (const auto cross = part.find('x'); cross != std::string_view::npos) {
      const auto size = parse_count(part.substr(0, cross));
      if (!size) return within(place, size.error());
      level.size = *size;
      part.remove_prefix(cross + 1);
    }
    const auto bandwidth = parse_bytes_per_second(part);
    if (!bandwidth) return within(place, bandwidth.error());
    level.bandwidth = *bandwidth;
    network.levels.push_back(level);
  }
  if (auto status = validate(network); !status) return status.error();
  return network;
}

std::vector<std::string> network_presets() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : network_files()) names.emplace_back(file.name);
  std::ranges::sort(names);
  return names;
}

Result<Network> load_network(std::string_view network) {
  const auto files = network_files();
  if (const auto file = std::ranges::find(files, network, &EmbeddedFile::name); file != files.end())
    return parse_network_file(file->text);
  const std::string place = "network '" + std::string(network) + "'";
  if (network.find("/s") != std::string_view::npos && !is_yaml_name(network)) {
    auto parsed = parse_inline_network(network);
    if (!parsed) return within(place, parsed.error());
    return parsed;
  }
  if (network.find('/') == std::string_view::npos && !is_yaml_name(network))
    return Error{"there is no network '" + std::string(network) + "'", "NETWORK", suggest(network, network_presets())};
  const auto text = read_text_file(network);
  if (!text) return text.error();
  auto parsed = parse_network_file(*text);
  if (!parsed) return within(std::string(network), parsed.error());
  if (parsed->name.empty()) parsed->name = std::string(network);
  return parsed;
}

}  // namespace phaze::hardware
