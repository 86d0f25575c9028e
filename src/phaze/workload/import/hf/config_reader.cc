#include "phaze/workload/import/hf/config_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace phaze::workload::hf {
namespace {

constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::string joined(std::initializer_list<std::string_view> keys) {
  std::string text;
  for (const std::string_view key : keys) text += fmt::format("{}'{}'", text.empty() ? "" : " or ", key);
  return text;
}

}  // namespace

const nlohmann::json* ConfigReader::find(std::string_view key) const {
  const auto found = document_.find(key);
  return found == document_.end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::present(std::string_view key) const { return find(key) != nullptr; }

void ConfigReader::fail(std::string_view key, std::string message, std::string hint) {
  if (!error_) error_ = Error{std::move(message), fmt::format("key '{}'", key), std::move(hint)};
}

std::int64_t ConfigReader::checked_size(std::string_view key, const nlohmann::json& value) {
  if (!value.is_number()) {
    fail(key, fmt::format("{} is not a number", shown(value)), "give a positive whole number");
    return 1;
  }
  const double number = value.get<double>();
  if (number != std::floor(number)) {
    fail(key, fmt::format("{} is not a whole number", shown(value)));
    return 1;
  }
  if (number < 1 || number > static_cast<double>(kLargestSize)) {
    fail(key, fmt::format("{} is not between 1 and {}", shown(value), kLargestSize));
    return 1;
  }
  return static_cast<std::int64_t>(number);
}

std::int64_t ConfigReader::size(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (const auto* value = find(key)) return checked_size(key, *value);
  if (!error_) error_ = Error{"missing", "key " + joined(keys), "the graph cannot be built without it"};
  return 1;
}

std::int64_t ConfigReader::size(std::initializer_list<std::string_view> keys, std::int64_t otherwise) {
  for (const std::string_view key : keys)
    if (const auto* value = find(key)) return checked_size(key, *value);
  return otherwise;
}

std::int64_t ConfigReader::layers(std::initializer_list<std::string_view> keys) {
  constexpr std::int64_t kMostLayers = 65536;
  const std::int64_t count = size(keys);
  if (count <= kMostLayers) return count;
  for (const std::string_view key : keys)
    if (present(key)) fail(key, fmt::format("{} layers are more than {}", count, kMostLayers));
  return 1;
}

bool ConfigReader::is_null(std::string_view key) const {
  const auto found = document_.find(key);
  return found != document_.end() && found->is_null();
}

std::optional<ConfigReader> ConfigReader::inside(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr || !value->is_object()) return std::nullopt;
  return ConfigReader(*value);
}

bool ConfigReader::flag(std::string_view key, bool otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) {
    fail(key, fmt::format("{} is neither true nor false", shown(*value)));
    return otherwise;
  }
  return value->get<bool>();
}

std::string ConfigReader::text(std::string_view key, std::string_view otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return std::string(otherwise);
  if (!value->is_string()) {
    fail(key, fmt::format("{} is not a text", shown(*value)));
    return std::string(otherwise);
  }
  return value->get<std::string>();
}

double ConfigReader::probability(std::string_view key, double otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || value->get<double>() < 0 || value->get<double>() >= 1) {
    fail(key, fmt::format("{} is not a probability below 1", shown(*value)));
    return otherwise;
  }
  return value->get<double>();
}

double ConfigReader::fraction(std::string_view key, double otherwise) {
  const auto* value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || value->get<double>() <= 0 || value->get<double>() > 1) {
    fail(key, fmt::format("{} is not above 0 and at most 1", shown(*value)));
    return otherwise;
  }
  return value->get<double>();
}

std::vector<std::string> ConfigReader::texts(std::string_view key) {
  const auto* value = find(key);
  std::vector<std::string> list;
  if (value == nullptr) return list;
  if (!value->is_array()) {
    fail(key, fmt::format("{} is not a list", shown(*value)));
    return list;
  }
  for (const auto& entry : *value) {
    if (entry.is_string())
      list.push_back(entry.get<std::string>());
    else
      fail(key, fmt::format("{} is not a text", shown(entry)));
  }
  return list;
}

std::size_t ConfigReader::entries(std::string_view key) const {
  const auto* value = find(key);
  return value != nullptr && (value->is_object() || value->is_array()) ? value->size() : 0;
}

void ConfigReader::must_divide(std::string_view key, std::int64_t value, std::string_view divisor_key,
                               std::int64_t divisor) {
  if (divisor > 0 && value % divisor == 0) return;
  fail(key, fmt::format("{} is not a multiple of '{}', which is {}", value, divisor_key, divisor));
}

}  // namespace phaze::workload::hf
