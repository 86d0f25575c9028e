#include "phaze/schedule/instance_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "phaze/base/json_reader.h"
#include "phaze/base/nearest.h"
#include "phaze/base/text_file.h"

namespace phaze::schedule {
namespace {

using json = nlohmann::ordered_json;  // resources stay in the order of the file

// The order is held as a matrix of bits.
constexpr std::size_t kMostOps = 4096;
constexpr std::size_t kMostModes = 4096;
constexpr std::size_t kMostResources = 64;

Status only_keys(const json& object, const std::vector<std::string>& known, const std::string& place) {
  if (!object.is_object()) return Error{"is not an object", place, "expected keys " + suggest("", known)};
  for (const auto& [key, value] : object.items())
    if (std::ranges::find(known, key) == known.end())
      return Error{"unknown key '" + key + "'", place, suggest(key, known)};
  return Done{};
}

Status needs(const json& object, const char* key, json::value_t type, const std::string& place) {
  const bool list = type == json::value_t::array;
  if (!object.contains(key))
    return Error{std::string("key '") + key + "' is missing", place, list ? "it is a list" : "it is an object"};
  if (object[key].type() != type)
    return Error{std::string("key '") + key + (list ? "' is not a list" : "' is not an object"), place};
  return Done{};
}

class Reader {
 public:
  explicit Reader(const json& document) : document_(document) {}

  Result<NamedInstance> read() {
    if (const auto status = read_resources(); !status) return status.error();
    if (const auto status = read_ops(); !status) return status.error();
    if (const auto status = read_edges(); !status) return status.error();
    if (const auto status = validate(result_.instance); !status) return status.error();
    return std::move(result_);
  }

 private:
  Status read_resources() {
    if (!document_.is_object()) return Error{"is not a JSON object", "", "expected the keys resources, ops and edges"};
    if (auto status = only_keys(document_, {"resources", "ops", "edges"}, ""); !status) return status;
    if (auto status = needs(document_, "resources", json::value_t::object, ""); !status) return status;
    for (const auto& [name, capacity] : document_["resources"].items()) {
      if (!capacity.is_number())
        return Error{"the capacity is not a number", "resource '" + name + "'", "write it like \"tc\": 8"};
      result_.instance.resources.push_back({name, capacity.get<double>()});
      resource_names_.push_back(name);
    }
    if (resource_names_.size() > kMostResources)
      return Error{"has " + std::to_string(resource_names_.size()) + " resources; at most " +
                   std::to_string(kMostResources) + " are supported"};
    return Done{};
  }

  Status read_ops() {
    if (auto status = needs(document_, "ops", json::value_t::array, ""); !status) return status;
    const json& ops = document_["ops"];
    if (ops.size() > kMostOps)
      return Error{"has " + std::to_string(ops.size()) + " operators; at most " + std::to_string(kMostOps) +
                   " are supported"};
    for (std::size_t i = 0; i < ops.size(); ++i)
      if (auto status = read_op(ops[i], i); !status) return status;
    return Done{};
  }

  Status read_op(const json& op, std::size_t index) {
    const std::string entry = "ops[" + std::to_string(index) + "]";
    if (auto status = only_keys(op, {"id", "name", "modes"}, entry); !status) return status;
    if (!op.contains("id")) return Error{"key 'id' is missing", entry, "give every operator a whole number"};
    if (!is_int64(op["id"])) return Error{"key 'id' is not a whole number below 2^63", entry};
    const auto id = op["id"].get<std::int64_t>();
    std::string name = std::to_string(id);
    if (op.contains("name")) {
      if (!op["name"].is_string()) return Error{"key 'name' is not a text", entry};
      name = op["name"].get<std::string>();
    }
    if (!index_of_.emplace(id, index).second)
      return Error{"the id " + std::to_string(id) + " is used twice", entry, "ids must differ"};
    result_.ids.push_back(id);
    result_.instance.add_op(name);
    const std::string place = "operator '" + name + "'";
    if (auto status = needs(op, "modes", json::value_t::array, place); !status) return status;
    if (op["modes"].size() > kMostModes) return Error{"has more than " + std::to_string(kMostModes) + " modes", place};
    std::size_t number = 0;
    for (const json& mode : op["modes"])
      if (auto status = read_mode(mode, place + ", mode " + std::to_string(number++)); !status) return status;
    return Done{};
  }

  Status read_mode(const json& mode, const std::string& place) {
    if (auto status = only_keys(mode, {"duration", "demand"}, place); !status) return status;
    if (!mode.contains("duration")) return Error{"key 'duration' is missing", place, "in seconds"};
    if (!mode["duration"].is_number()) return Error{"key 'duration' is not a number", place, "in seconds"};
    std::vector<double> demand(resource_names_.size(), 0);
    if (mode.contains("demand")) {
      if (auto status = needs(mode, "demand", json::value_t::object, place); !status) return status;
      for (const auto& [resource, amount] : mode["demand"].items()) {
        const auto known = std::ranges::find(resource_names_, resource);
        if (known == resource_names_.end())
          return Error{"demands the unknown resource '" + resource + "'", place, suggest(resource, resource_names_)};
        if (!amount.is_number()) return Error{"the demand of '" + resource + "' is not a number", place};
        demand[static_cast<std::size_t>(known - resource_names_.begin())] = amount.get<double>();
      }
    }
    result_.instance.add_mode(mode["duration"].get<double>(), demand);
    return Done{};
  }

  Status read_edges() {
    if (!document_.contains("edges")) return Done{};
    if (auto status = needs(document_, "edges", json::value_t::array, ""); !status) return status;
    std::size_t number = 0;
    for (const json& edge : document_["edges"]) {
      const std::string place = "edges[" + std::to_string(number++) + "]";
      if (!edge.is_array() || edge.size() != 2 || !is_int64(edge[0]) || !is_int64(edge[1]))
        return Error{"is not a pair of ids", place, "write it like [0, 1]"};
      OpId ends[2];
      for (std::size_t end = 0; end < 2; ++end) {
        const auto id = edge[end].get<std::int64_t>();
        const auto known = index_of_.find(id);
        if (known == index_of_.end())
          return Error{"names the operator " + std::to_string(id) + ", which does not exist", place,
                       "ids are those of the list 'ops'"};
        ends[end] = OpId(known->second);
      }
      result_.instance.add_edge(ends[0], ends[1]);
    }
    return Done{};
  }

  const json& document_;
  NamedInstance result_;
  std::vector<std::string> resource_names_;
  std::unordered_map<std::int64_t, std::size_t> index_of_;
};

}  // namespace

Result<NamedInstance> parse_instance(std::string_view text) {
  const auto document = parse_json<json>(text);
  if (!document) return document.error();
  return Reader(*document).read();
}

Result<NamedInstance> read_instance(const std::filesystem::path& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  auto instance = parse_instance(*text);
  if (!instance) return within(path.string(), instance.error());
  return instance;
}

}  // namespace phaze::schedule
