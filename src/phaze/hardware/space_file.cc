// YAML files of design spaces.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "phaze/base/nearest.h"
#include "phaze/base/quantity.h"
#include "phaze/base/text_file.h"
#include "phaze/hardware/area.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/design_space.h"
#include "phaze/hardware/yaml_reader.h"

namespace phaze::hardware {
namespace {

constexpr std::size_t kMostValues = 1U << 20U;

Result<double> value_of(const YAML::Node& node, const Parameter& parameter) {
  const auto text = scalar(node, parameter.name);
  if (!text) return text.error();
  const auto value = parameter.parse(*text);
  if (!value) return within(line_of(node) + ": key '" + std::string(parameter.name) + "'", value.error());
  return *value;
}

Error misshapen(const YAML::Node& node, const Parameter& parameter) {
  return {fmt::format("key '{}' is neither a list nor a range", parameter.name), line_of(node),
          "write [1, 2, 4], {from: 2, to: 256, step: 2}, {powers_of_two: [2, 256]} or {equals: rows}"};
}

Result<std::vector<double>> powers(const YAML::Node& ends, const Parameter& parameter) {
  if (!ends.IsSequence() || ends.size() != 2) return misshapen(ends, parameter);
  const auto low = value_of(ends[0], parameter);
  if (!low) return low.error();
  const auto high = value_of(ends[1], parameter);
  if (!high) return high.error();
  std::vector<double> values;
  for (double value = *low; value <= *high; value *= 2) values.push_back(value);
  if (values.empty()) return Error{fmt::format("key '{}': the range is empty", parameter.name), line_of(ends)};
  return values;
}

Result<std::vector<double>> steps(const YAML::Node& node, const Parameter& parameter) {
  std::array<double, 3> bounds = {0, 0, 0};
  constexpr std::array kNames = {"from", "to", "step"};
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    const auto value = value_of(node[kNames[i]], parameter);
    if (!value) return value.error();
    bounds[i] = *value;
  }
  const double count = std::floor((bounds[1] - bounds[0]) / bounds[2] + 1e-9) + 1;
  if (count < 1) return Error{fmt::format("key '{}': the range is empty", parameter.name), line_of(node)};
  if (count > static_cast<double>(kMostValues))
    return Error{fmt::format("key '{}': the range has more than {} values", parameter.name, kMostValues),
                 line_of(node)};
  std::vector<double> values;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    values.push_back(bounds[0] + static_cast<double>(i) * bounds[2]);
  return values;
}

Status read_dimension(const YAML::Node& node, const Parameter& parameter, DesignSpace& space) {
  if (node.IsMap() && node["equals"]) {
    const auto text = scalar(node["equals"], "equals");
    if (!text) return text.error();
    const auto other = find_parameter(*text);
    if (!other) return within(line_of(node), other.error());
    space.ties.push_back({&parameter, *other});
    return Done{};
  }
  Result<std::vector<double>> values = misshapen(node, parameter);
  if (node.IsSequence()) {
    std::vector<double> list;
    for (const auto& entry : node) {
      const auto value = value_of(entry, parameter);
      if (!value) return value.error();
      list.push_back(*value);
    }
    if (list.empty()) return Error{fmt::format("key '{}': the list is empty", parameter.name), line_of(node)};
    values = std::move(list);
  } else if (node.IsMap() && node["powers_of_two"]) {
    values = powers(node["powers_of_two"], parameter);
  } else if (node.IsMap() && node["from"] && node["to"] && node["step"]) {
    values = steps(node, parameter);
  } else if (node.IsScalar()) {
    const auto value = value_of(node, parameter);
    if (!value) return value.error();
    values = std::vector<double>{*value};
  }
  if (!values) return values.error();
  space.dimensions.push_back({&parameter, std::move(*values)});
  return Done{};
}

// Every value that a tie takes on keeps the rules of its parameter.
Status check_tie(const Tie& tie, const Dimension& dimension) {
  for (const double value : dimension.values)
    if (const auto read = tie.parameter->parse(tie.parameter->format(value)); !read)
      return Error{fmt::format("equals '{}', and {}", dimension.parameter->name, read.error().message), "",
                   read.error().hint};
  return Done{};
}

Status read_dimensions(const YAML::Node& node, DesignSpace& space) {
  if (!node.IsMap()) return Error{"key 'dimensions' needs parameters with their values", line_of(node)};
  for (const auto& entry : node) {
    const auto parameter = find_parameter(entry.first.Scalar());
    if (!parameter) return within(line_of(entry.first), parameter.error());
    if (auto status = read_dimension(entry.second, **parameter, space); !status) return status;
  }
  for (const Tie& tie : space.ties) {
    const auto dimension = std::ranges::find(space.dimensions, tie.equals, &Dimension::parameter);
    if (dimension == space.dimensions.end())
      return Error{fmt::format("'{}' equals '{}', which is no dimension", tie.parameter->name, tie.equals->name),
                   line_of(node)};
    const std::string name(tie.parameter->name);
    if (const auto status = check_tie(tie, *dimension); !status)
      return within(line_of(node[name]) + ": key '" + name + "'", status.error());
  }
  return Done{};
}

Status read_limits(const YAML::Node& node, Limits& limits) {
  if (!node.IsMap()) return Error{"key 'limits' needs the keys area, min_area_share and tdp", line_of(node)};
  std::optional<Chip> as_this_chip;
  for (const auto& entry : node) {
    const std::string key = entry.first.Scalar();
    const auto text = scalar(entry.second, key);
    if (!text) return text.error();
    const std::string place = line_of(entry.second) + ": key 'limits." + key + "'";
    if (key == "tdp") {
      const auto watts = parse_watts(*text);
      if (!watts) return within(place, watts.error());
      limits.max_tdp_watts = *watts;
    } else if (key == "area") {
      // A chip whose area is the budget, or square millimetres.
      if (text->ends_with("mm2")) {
        const auto number = parse_positive(std::string_view(*text).substr(0, text->size() - 3));
        if (!number) return within(place, number.error());
        limits.max_area_um2 = *number * 1e6;
      } else {
        const auto chip = load_chip(*text);
        if (!chip) return within(place, chip.error());
        as_this_chip = *chip;
      }
    } else if (key == "area_model") {
      if (*text != "phaze22" && *text != "physical")
        return Error{"'" + *text + "' is none of phaze22, physical", place};
      limits.area_model = *text == "physical" ? AreaModel::kPhysical : AreaModel::kPhaze22;
    } else if (key == "min_area_share") {
      const auto share = parse_positive(*text);
      if (!share || *share > 1) return Error{"'" + *text + "' is not above 0 and at most 1", place};
      limits.min_area_share = *share;
    } else {
      const std::vector<std::string> known = {"area", "area_model", "min_area_share", "tdp"};
      return Error{"unknown key 'limits." + key + "'", line_of(entry.first), suggest(key, known)};
    }
  }
  if (as_this_chip) limits.max_area_um2 = area(*as_this_chip, limits.area_model).total;
  return Done{};
}

}  // namespace

Result<DesignSpace> parse_space_file(std::string_view text) {
  const auto document = parse_yaml(text);
  if (!document) return document.error();
  DesignSpace space;
  space.name = "custom";
  for (const auto& entry : *document) {
    const std::string key = entry.first.Scalar();
    Status status = Done{};
    if (key == "name") {
      const auto name = scalar(entry.second, key);
      if (!name) return name.error();
      space.name = *name;
    } else if (key == "base") {
      const auto named = scalar(entry.second, key);
      if (!named) return named.error();
      const auto chip = load_chip(*named);
      if (!chip) return within(line_of(entry.second) + ": key 'base'", chip.error());
      space.base = *chip;
    } else if (key == "dimensions") {
      status = read_dimensions(entry.second, space);
    } else if (key == "limits") {
      status = read_limits(entry.second, space.limits);
    } else {
      const std::vector<std::string> known = {"name", "base", "dimensions", "limits"};
      return Error{"unknown key '" + key + "'", line_of(entry.first), suggest(key, known)};
    }
    if (!status) return status.error();
  }
  if (space.dimensions.empty())
    return Error{"has no dimensions", "key 'dimensions'", "name at least one parameter with its values"};
  return space;
}

std::vector<std::string> space_presets() { return {"phaze"}; }

Result<DesignSpace> load_space(std::string_view space) {
  if (space == "phaze") return phaze_space();
  if (space.find('/') == std::string_view::npos && !is_yaml_name(space))
    return Error{"there is no design space '" + std::string(space) + "'", "SPACE",
                 "known: phaze, or a path to a .yaml file"};
  const auto text = read_text_file(space);
  if (!text) return text.error();
  auto parsed = parse_space_file(*text);
  if (!parsed) return within(std::string(space), parsed.error());
  return parsed;
}

}  // namespace phaze::hardware
