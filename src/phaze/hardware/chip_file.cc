#include "phaze/hardware/chip_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>

#include "phaze/base/embedded_file.h"
#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/base/text_file.h"
#include "phaze/hardware/calibration_file.h"
#include "phaze/hardware/exact_text.h"
#include "phaze/hardware/least_buffers.h"
#include "phaze/hardware/network.h"
#include "phaze/hardware/parameter.h"
#include "phaze/hardware/yaml_reader.h"

namespace phaze {
std::span<const EmbeddedFile> chip_files();  // generated from data/chips
}  // namespace phaze

namespace phaze::hardware {
namespace {

// Keys beside the parameters.
constexpr std::array<std::string_view, 5> kTexts = {"name", "summary", "published", "network", "calibration"};

Error unknown_key(const YAML::Node& node, const std::string& key) {
  std::vector<std::string> known(kTexts.begin(), kTexts.end());
  for (const Parameter& parameter : parameters()) known.emplace_back(parameter.name);
  return {"unknown key '" + key + "'", line_of(node), suggest(key, known)};
}

Status read_published(const YAML::Node& node, PublishedFigures& published) {
  if (!node.IsMap()) return Error{"key 'published' needs the keys peak, tdp and die", line_of(node)};
  for (const auto& entry : node) {
    const auto key = entry.first.as<std::string>();
    const auto text = scalar(entry.second, key);
    if (!text) return text.error();
    Result<double> value = Error{};
    const auto with_unit = [&](std::string_view unit, double factor) -> Result<double> {
      if (!text->ends_with(unit)) return Error{"'" + *text + "' does not end in " + std::string(unit)};
      const auto number = parse_positive(std::string_view(*text).substr(0, text->size() - unit.size()));
      if (!number) return number.error();
      return *number * factor;
    };
    double* target = nullptr;
    if (key == "peak") {
      const bool plain = text->ends_with("FLOP/s") && !text->ends_with("TFLOP/s");
      value = plain ? with_unit("FLOP/s", 1) : with_unit("TFLOP/s", 1e12);
      target = &published.peak_flops;
    } else if (key == "tdp") {
      value = parse_watts(*text);
      target = &published.tdp_watts;
    } else if (key == "die") {
      value = with_unit("mm2", 1);
      target = &published.die_mm2;
    } else {
      const std::vector<std::string> known = {"peak", "tdp", "die"};
      return Error{"unknown key 'published." + key + "'", line_of(entry.first), suggest(key, known)};
    }
    if (!value) return within(line_of(entry.second) + ": key 'published." + key + "'", value.error());
    *target = *value;
  }
  return Done{};
}

Status read_calibration(const YAML::Node& node, Calibration& calibration) {
  if (!node.IsMap()) return Error{"key 'calibration' needs keys such as compute and start", line_of(node)};
  for (const auto& entry : node) {
    const auto key = scalar(entry.first, "key");
    if (!key) return key.error();
    const auto text = scalar(entry.second, *key);
    if (!text) return text.error();
    if (auto status = set_calibration(calibration, *key, *text); !status)
      return within(line_of(entry.first), status.error());
  }
  return Done{};
}

// "8x128x128" as numbers.
Result<std::vector<std::int64_t>> factors(std::string_view text, std::size_t wanted, std::string_view example) {
  std::vector<std::int64_t> list;
  while (true) {
    const auto cross = text.find('x');
    const auto number = parse_count(text.substr(0, cross));
    if (!number) return Error{number.error().message, "", "write it like " + std::string(example)};
    if (*number > 1 << 20) return Error{"'" + std::to_string(*number) + "' is more than 1048576"};
    list.push_back(*number);
    if (cross == std::string_view::npos) break;
    text.remove_prefix(cross + 1);
  }
  if (list.size() != wanted)
    return Error{"has " + std::to_string(list.size()) + " factors", "", "write it like " + std::string(example)};
  return list;
}

Status set_parameter(Chip& chip, std::string_view name, std::string_view text) {
  const auto parameter = find_parameter(name);
  if (!parameter) return parameter.error();
  const auto value = (*parameter)->parse(text);
  if (!value) return value.error();
  (*parameter)->set(chip, *value);
  return Done{};
}

Status set_inline(Chip& chip, std::string_view key, std::string_view value) {
  if (key == "tc") {
    const auto sizes = factors(value, 3, "tc=8x128x128 (cores x rows x columns)");
    if (!sizes) return sizes.error();
    chip.tensor_cores = {(*sizes)[0], (*sizes)[1], (*sizes)[2]};
    return Done{};
  }
  if (key == "vc") {
    const auto sizes = factors(value, 2, "vc=2x128 (cores x lanes)");
    if (!sizes) return sizes.error();
    chip.vector_cores = {(*sizes)[0], (*sizes)[1]};
    return Done{};
  }
  if (key == "hbm") {
    const auto at = value.find('@');
    if (auto status = set_parameter(chip, "hbm", value.substr(0, at)); !status) return status;
    return at == std::string_view::npos ? Status(Done{}) : set_parameter(chip, "hbm_bandwidth", value.substr(at + 1));
  }
  if (key == "glb" || key == "clock" || key == "process") return set_parameter(chip, key, value);
  const std::vector<std::string> known = {"tc", "vc", "glb", "hbm", "clock", "process"};
  return Error{"unknown part '" + std::string(key) + "'", "", suggest(key, known)};
}

std::string bytes_text(Bytes bytes) { return (*find_parameter("glb"))->format(static_cast<double>(bytes.value())); }

// Refuses buffers that hold no product; the place is the key to blame.
Status check_buffers(const Chip& chip) {
  const LeastBuffers least = least_buffers(chip);
  if (chip.global_buffer < least.global)
    return Error{bytes_text(chip.global_buffer) + " holds not two elements of each operand", "glb",
                 "write " + bytes_text(least.global) + " or more"};
  if (chip.tensor_core_buffer() >= least.core) return Done{};
  const Calibration& calibration = chip.calibration;
  const std::string array = fmt::format("{}x{} array", chip.tensor_cores.rows, chip.tensor_cores.cols);
  const std::string block = calibration.tile_rows > 0 ? fmt::format("tile of {}x{} on the {}", calibration.tile_rows,
                                                                    calibration.tile_cols, array)
                                                      : "block of the " + array;
  if (chip.core_buffer > Bytes(0))
    return Error{fmt::format("{} holds no {}", bytes_text(chip.core_buffer), block), "core_buffer",
                 "write " + bytes_text(least.core) + " or more"};
  return Error{fmt::format("a core buffer of {} holds no {}", bytes_text(chip.tensor_core_buffer()), block),
               "calibration.tile", "write a smaller tile, or core_buffer: " + bytes_text(least.core)};
}

// The line of a key of the document, or of one of its maps' after a point.
std::string line_of_key(const YAML::Node& document, const std::string& key) {
  const auto point = key.find('.');
  const YAML::Node outer = document[key.substr(0, point)];
  return line_of(point == std::string::npos ? outer : outer[key.substr(point + 1)]);
}

// With the bandwidth of the links of the network that the chip names.
Result<Chip> with_links(Result<Chip> chip) {
  if (!chip || chip->link_bandwidth > 0) return chip;
  const auto network = load_network(chip->network);
  if (!network) return within("key 'network'", network.error());
  chip->link_bandwidth = network->link_bandwidth();
  return chip;
}

}  // namespace

Result<Chip> parse_chip_file(std::string_view text) {
  const auto document = parse_yaml(text);
  if (!document) return document.error();
  Chip chip;
  for (const auto& entry : *document) {
    const auto key = scalar(entry.first, "key");
    if (!key) return key.error();
    if (*key == "published") {
      if (auto status = read_published(entry.second, chip.published); !status) return status.error();
      continue;
    }
    if (*key == "calibration") {
      if (auto status = read_calibration(entry.second, chip.calibration); !status) return status.error();
      continue;
    }
    const auto value = scalar(entry.second, *key);
    if (!value) return value.error();
    if (*key == "network")
      chip.network = *value;
    else if (*key == "name")
      chip.name = *value;
    else if (*key == "summary")
      chip.summary = *value;
    else if (!find_parameter(*key))
      return unknown_key(entry.first, *key);
    else if (auto status = set_parameter(chip, *key, *value); !status)
      return within(line_of(entry.second) + ": key '" + *key + "'", status.error());
  }
  // Networks may be files, which only load_chip() reads.
  if ((*document)["network"] && !(*document)["links"]) chip.link_bandwidth = 0;
  if (const auto status = check_buffers(chip); !status) {
    Error error = status.error();
    error.place = line_of_key(*document, error.place) + ": key '" + error.place + "'";
    return error;
  }
  return chip;
}

std::string chip_file_text(const Chip& chip) {
  YAML::Emitter words;  // quotes what needs it
  words << YAML::BeginMap << YAML::Key << "name" << YAML::Value << chip.name;
  if (!chip.summary.empty()) words << YAML::Key << "summary" << YAML::Value << chip.summary;
  words << YAML::Key << "network" << YAML::Value << chip.network << YAML::EndMap;
  std::string text = words.c_str() + std::string("\n");
  for (const Parameter& parameter : parameters())
    if (const double value = parameter.get(chip); value > 0)
      text += std::string(parameter.name) + ": " + parameter.format(value) + "\n";
  const PublishedFigures& published = chip.published;
  if (published != PublishedFigures{}) {
    text += "published:\n";
    if (published.peak_flops > 0)
      text += "  peak: " + exact_text(published.peak_flops, 1e12, "TFLOP/s", "FLOP/s") + "\n";
    if (published.tdp_watts > 0) text += fmt::format("  tdp: {}W\n", published.tdp_watts);
    if (published.die_mm2 > 0) text += fmt::format("  die: {}mm2\n", published.die_mm2);
  }
  if (chip.calibration != Calibration{}) text += calibration_text(chip.calibration);
  return text;
}

Result<Chip> parse_inline_chip(std::string_view text) {
  Chip chip;
  chip.name = std::string(text);
  std::vector<std::string_view> given;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const auto equals = part.find('=');
    if (equals == std::string_view::npos) return Error{"'" + std::string(part) + "' is not of the form key=value"};
    const std::string_view key = part.substr(0, equals);
    if (std::ranges::find(given, key) != given.end())
      return Error{"part '" + std::string(key) + "' is there twice", "", "leave one of them out"};
    given.push_back(key);
    if (auto status = set_inline(chip, key, part.substr(equals + 1)); !status)
      return within(std::string(key), status.error());
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  if (const auto status = check_buffers(chip); !status) return status.error();
  return chip;
}

std::vector<std::string> chip_presets() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : chip_files()) names.emplace_back(file.name);
  std::ranges::sort(names);
  return names;
}

Result<Chip> load_chip(std::string_view chip) {
  const auto files = chip_files();
  if (const auto file = std::ranges::find(files, chip, &EmbeddedFile::name); file != files.end())
    return with_links(parse_chip_file(file->text));
  if (chip.find('=') != std::string_view::npos && !is_yaml_name(chip)) {
    auto parsed = parse_inline_chip(chip);
    if (!parsed) return within("chip '" + std::string(chip) + "'", parsed.error());
    return parsed;
  }
  if (chip.find('/') == std::string_view::npos && !is_yaml_name(chip)) {
    const auto names = chip_presets();
    return Error{"there is no chip '" + std::string(chip) + "'", "CHIP", suggest(chip, names)};
  }
  const auto text = read_text_file(chip);
  if (!text) return text.error();
  auto parsed = with_links(parse_chip_file(*text));
  if (!parsed) return within(std::string(chip), parsed.error());
  return parsed;
}

}  // namespace phaze::hardware
