#include "phaze/placement/phaze2024/instance_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "phaze/base/json_reader.h"
#include "phaze/base/nearest.h"
#include "phaze/base/text_file.h"

namespace phaze::placement::phaze2024 {
namespace {

using Json = nlohmann::json;

std::string shown(const Json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

// One object of the file. The first error anywhere is kept, reading goes on with harmless values, so callers stay flat.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string place, std::optional<Error>& error)
      : object_(object), place_(std::move(place)), error_(error) {
    if (!object.is_object()) fail("", fmt::format("{} is not an object", shown(object)), "write {...}");
  }

  // Call before reading: names the first key that is none of these.
  void allow(std::initializer_list<const char*> keys) {
    if (!object_.is_object()) return;
    const std::vector<std::string> known(keys.begin(), keys.end());
    for (const auto& item : object_.items())
      if (std::ranges::find(known, item.key()) == known.end())
        return fail("", fmt::format("unknown key '{}'", item.key()), suggest(item.key(), known));
  }

  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }

  double number(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return 0;
    if (!value->is_number()) fail(key, fmt::format("{} is not a number", shown(*value)));
    return value->is_number() ? value->get<double>() : 0;
  }

  std::int64_t whole(const char* key) { return whole(key, std::numeric_limits<std::int64_t>::min(), kLargest); }
  std::int64_t count(const char* key) { return whole(key, 1, kLargestCount); }

  bool flag(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail(key, fmt::format("{} is neither true nor false", shown(*value)));
    return value->is_boolean() && value->get<bool>();
  }

  std::string text(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) fail(key, fmt::format("{} is not a text", shown(*value)));
    return value->is_string() ? value->get<std::string>() : std::string();
  }

  const Json* find(const char* key) {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    fail("", fmt::format("key '{}' is missing", key));
    return nullptr;
  }

  void fail(std::string_view key, std::string message, std::string hint = {}) {
    if (error_) return;
    std::string place = place_;
    if (!key.empty()) place += (place.empty() ? "" : ".") + std::string(key);
    error_ = Error{std::move(message), std::move(place), std::move(hint)};
  }

 private:
  static constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

  // What can be told exactly is returned, for validate() to judge; the rest is beyond these limits.
  std::int64_t whole(const char* key, std::int64_t least, std::int64_t most) {
    const Json* value = find(key);
    if (value == nullptr) return 1;
    if (value->is_number_float()) {
      const double number = value->get<double>();
      if (number != std::floor(number)) return fail(key, fmt::format("{} is not a whole number", shown(*value))), 1;
      // Python divides whole numbers into floats, so 512.0 is common; beyond 2^53 it would no longer be exact.
      constexpr std::int64_t kExact = std::int64_t{1} << 53;
      if (std::abs(number) <= static_cast<double>(kExact)) return static_cast<std::int64_t>(number);
      least = std::max(least, -kExact);
      most = std::min(most, kExact);
    } else if (is_int64(*value)) {
      return value->get<std::int64_t>();
    } else if (!value->is_number()) {
      return fail(key, fmt::format("{} is not a whole number", shown(*value))), 1;
    }
    fail(key, fmt::format("{} is not between {} and {}", shown(*value), least, most));
    return 1;
  }

  const Json& object_;
  std::string place_;
  std::optional<Error>& error_;
};

Node read_node(const Json& json, std::string place, std::optional<Error>& error) {
  ObjectReader read(json, std::move(place), error);
  read.allow({"id", "parameterSize", "activationSize", "optimalLatencyFw", "optimalLatencyBw", "isTensorParallelized"});
  return {.id = read.whole("id"),
          .parameter_bytes = read.number("parameterSize"),
          .activation_bytes = read.number("activationSize"),
          .forward_seconds = read.number("optimalLatencyFw"),
          .backward_seconds = read.number("optimalLatencyBw"),
          .tensor_parallel = read.flag("isTensorParallelized")};
}

Edge read_edge(const Json& json, std::string place, std::optional<Error>& error) {
  ObjectReader read(json, std::move(place), error);
  read.allow({"sourceId", "destId", "communicationCost"});
  return {.source = read.whole("sourceId"), .target = read.whole("destId"), .bytes = read.number("communicationCost")};
}

// "4" as 4; leading zeros, signs and spaces are refused, so that no two names mean one width.
std::optional<std::int64_t> width_of(const std::string& name) {
  if (name.empty() || name.size() > 10 || name.front() == '0') return std::nullopt;
  if (name.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(name);
}

// nodes or edges: a map from width to list. Calls each(width, element, place).
template <typename Each>
void read_lists(ObjectReader& read, const char* key, Each each) {
  const Json* lists = read.find(key);
  if (lists == nullptr) return;
  if (!lists->is_object())
    return read.fail(key, fmt::format("{} is not an object", shown(*lists)),
                     R"(write {"1": [...], "2": [...]}, one list per tensor-parallel width)");
  for (const auto& item : lists->items()) {
    const auto width = width_of(item.key());
    const std::string place = fmt::format("{}.{}", key, item.key());
    if (!width) return read.fail(key, fmt::format("'{}' is not a tensor-parallel width", item.key()), R"(such as "4")");
    if (!item.value().is_array()) return read.fail(place, fmt::format("{} is not a list", shown(item.value())));
    each(*width, nullptr, place);
    for (std::size_t i = 0; i < item.value().size(); ++i)
      each(*width, &item.value()[i], fmt::format("{}[{}]", place, i));
  }
}

Width& width_named(Instance& instance, std::int64_t width) {
  for (Width& known : instance.widths)
    if (known.width == width) return known;
  return instance.widths.emplace_back(Width{.width = width});
}

void read_graphs(ObjectReader& read, Instance& instance, std::optional<Error>& error) {
  std::vector<std::int64_t> with_nodes, with_edges;
  read_lists(read, "nodes", [&](std::int64_t width, const Json* node, const std::string& place) {
    if (node == nullptr)
      with_nodes.push_back(width);
    else
      width_named(instance, width).nodes.push_back(read_node(*node, place, error));
    width_named(instance, width);
  });
  read_lists(read, "edges", [&](std::int64_t width, const Json* edge, const std::string& place) {
    if (edge == nullptr)
      with_edges.push_back(width);
    else
      width_named(instance, width).edges.push_back(read_edge(*edge, place, error));
  });
  for (const std::int64_t width : with_nodes)
    if (std::ranges::find(with_edges, width) == with_edges.end())
      read.fail("edges", fmt::format("width {} of nodes is missing", width), "an empty list says that there are none");
  for (const std::int64_t width : with_edges)
    if (std::ranges::find(with_nodes, width) == with_nodes.end())
      read.fail("nodes", fmt::format("width {} of edges is missing", width));
  std::ranges::sort(instance.widths, {}, &Width::width);
}

void read_expert(ObjectReader& read, Instance& instance) {
  constexpr std::array<const char*, 4> kKeys = {"fixedPP", "fixedTMPC", "fixedDP", "numTransformerLayers"};
  if (std::ranges::none_of(kKeys, [&](const char* key) { return read.has(key); })) return;
  instance.expert = ExpertChoice{.pipeline = read.count("fixedPP"),
                                 .tensor_parallel = read.count("fixedTMPC"),
                                 .data_parallel = read.count("fixedDP"),
                                 .transformer_layers = read.count("numTransformerLayers")};
}

Result<Instance> from_json(const Json& document) {
  std::optional<Error> error;
  Instance instance;
  ObjectReader read(document, "", error);
  read.allow({"maxMemoryPerDevice", "maxDevices", "bandwidth", "mbsInBatch", "nodes", "edges",
              "activationRecomputation", "optimizerAlgorithm", "fixedPP", "fixedTMPC", "fixedDP",
              "numTransformerLayers"});
  instance.memory_per_device = read.number("maxMemoryPerDevice");
  instance.devices = read.count("maxDevices");
  instance.bandwidth = read.number("bandwidth");
  instance.microbatches = read.count("mbsInBatch");
  instance.recompute = read.flag("activationRecomputation");
  const std::string optimizer = read.text("optimizerAlgorithm");
  instance.optimizer = optimizer == "Adam" ? Optimizer::kAdam : Optimizer::kSgd;
  if (optimizer != "Adam" && optimizer != "SGD")
    read.fail("optimizerAlgorithm", fmt::format("'{}' is none of SGD, Adam", optimizer));
  read_expert(read, instance);
  read_graphs(read, instance, error);
  if (error) return *error;
  if (const Status valid = validate(instance); !valid) return valid.error();
  return instance;
}

}  // namespace

Result<Instance> parse_instance(std::string_view text, const std::string& name) {
  const auto document = parse_json<Json>(text);
  if (!document) return within(name, document.error());
  auto instance = from_json(*document);
  if (!instance) return within(name, instance.error());
  return instance;
}

Result<Instance> read_instance(const std::filesystem::path& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  return parse_instance(*text, path.string());
}

}  // namespace phaze::placement::phaze2024
