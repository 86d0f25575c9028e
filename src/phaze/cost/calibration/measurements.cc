#include "phaze/cost/calibration/measurements.h"

#include <nlohmann/json.hpp>

#include "phaze/base/json_reader.h"
#include "phaze/base/text_file.h"

namespace phaze::cost {
namespace {

using Json = nlohmann::json;

// Reads fields of one entry; the first that is wrong is kept.
class Entry {
 public:
  Entry(const Json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) fail("is not an object");
  }

  double microseconds(const char* key) {
    const double value = number(key);
    if (value <= 0) fail(std::string("key '") + key + "' is not above zero");
    return value * 1e-6;
  }
  std::int64_t count(const char* key) {
    const double value = number(key);
    if (value < 1 || value > 9e15 || value != static_cast<double>(static_cast<std::int64_t>(value)))
      fail(std::string("key '") + key + "' is not a positive whole number");
    return static_cast<std::int64_t>(value);
  }
  double number(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return 1;
    if (!value->is_number()) {
      fail(std::string("key '") + key + "' is not a number");
      return 1;
    }
    return value->get<double>();
  }
  bool flag(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) fail(std::string("key '") + key + "' is neither true nor false");
    return value->is_boolean() && value->get<bool>();
  }
  std::string text(const char* key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) fail(std::string("key '") + key + "' is not text");
    return value->is_string() ? value->get<std::string>() : std::string();
  }
  Entry inner(const char* key) {
    static const Json kNothing = Json::object();
    const Json* value = find(key);
    return {value == nullptr ? kNothing : *value, place_ + ": key '" + key + "'"};
  }

  void take(const Entry& other) {
    if (error_.empty()) error_ = other.error_;
  }
  void fail(std::string message) {
    if (error_.empty()) error_ = std::move(message);
  }
  Status status() const { return error_.empty() ? Status(Done{}) : Status(Error{error_, place_}); }

 private:
  const Json* find(const char* key) {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    if (found != json_.end()) return &*found;
    fail(std::string("key '") + key + "' is missing");
    return nullptr;
  }

  const Json& json_;
  std::string place_;
  std::string error_;
};

workload::VectorOp vector_op(const std::string& name) {
  using workload::VectorOp;
  if (name == "layernorm") return VectorOp::kLayerNorm;
  if (name == "rmsnorm") return VectorOp::kRmsNorm;
  for (int i = 0; i < static_cast<int>(VectorOp::kOther); ++i)
    if (workload::to_string(static_cast<VectorOp>(i)) == name) return static_cast<VectorOp>(i);
  return VectorOp::kOther;
}

MeasuredGemm read_gemm(Entry& entry) {
  return {.name = entry.text("name"),
          .batch = entry.count("batch"),
          .m = entry.count("m"),
          .n = entry.count("n"),
          .k = entry.count("k"),
          .forward = entry.microseconds("fwd_us"),
          .input_gradient = entry.microseconds("dgrad_us"),
          .weight_gradient = entry.microseconds("wgrad_us")};
}

MeasuredVector read_vector(Entry& entry) {
  const std::string name = entry.text("op");
  MeasuredVector vector{.op = vector_op(name),
                        .tokens = entry.count("tokens"),
                        .hidden = entry.count("hidden"),
                        .forward = entry.microseconds("fwd_us"),
                        .forward_backward = entry.microseconds("fwd_bwd_us")};
  if (vector.op == workload::VectorOp::kOther) entry.fail("there is no vector operator '" + name + "'");
  return vector;
}

MeasuredLayer read_layer(Entry& entry) {
  Entry config = entry.inner("cfg");
  MeasuredLayer layer{.name = entry.text("name"),
                      .microbatch = entry.count("mbs"),
                      .sequence = entry.count("seq"),
                      .hidden = config.count("h"),
                      .heads = config.count("heads"),
                      .kv_heads = config.count("kv"),
                      .feed_forward = config.count("ff"),
                      .gated = config.flag("gated"),
                      .causal = config.flag("causal"),
                      .rms_norm = config.flag("rms"),
                      .dropout = config.number("drop") > 0,
                      .flash = entry.flag("flash"),
                      .forward = entry.microseconds("fwd_us"),
                      .forward_backward = entry.microseconds("fwd_bwd_us"),
                      .saved_bytes = entry.number("saved_activation_bytes")};
  entry.take(config);
  return layer;
}

MeasuredSustained read_sustained(Entry& entry) {
  return {.m = entry.count("m"),
          .n = entry.count("n"),
          .k = entry.count("k"),
          .burst = entry.microseconds("burst_us"),
          .sustained = entry.microseconds("us")};
}

template <typename Item, typename Read>
Status read_list(const Json& document, const char* key, std::vector<Item>& list, const Read& read) {
  if (!document.contains(key)) return Done{};
  if (!document[key].is_array()) return Error{"is not a list", std::string("key '") + key + "'"};
  for (std::size_t i = 0; i < document[key].size(); ++i) {
    Entry entry(document[key][i], std::string("key '") + key + "', entry " + std::to_string(i + 1));
    list.push_back(read(entry));
    if (auto status = entry.status(); !status) return status;
  }
  return Done{};
}

}  // namespace

Result<Measurements> parse_measurements(std::string_view text) {
  const auto parsed = parse_json<Json>(text);
  if (!parsed) return parsed.error();
  const Json& document = *parsed;
  if (!document.is_object()) return Error{"is not a JSON object", "", "make it with scripts/measure-gpu"};
  Measurements measurements;
  if (document.contains("device") && document["device"].is_string())
    measurements.device = document["device"].get<std::string>();
  if (auto status = read_list(document, "gemm", measurements.gemms, read_gemm); !status) return status.error();
  if (auto status = read_list(document, "vector", measurements.vectors, read_vector); !status) return status.error();
  if (auto status = read_list(document, "layer", measurements.layers, read_layer); !status) return status.error();
  if (auto status = read_list(document, "sustained", measurements.sustained, read_sustained); !status)
    return status.error();
  if (measurements.gemms.empty() && measurements.vectors.empty() && measurements.layers.empty())
    return Error{"holds no measurements", "", "it needs lists 'gemm', 'vector' or 'layer'"};
  return measurements;
}

Result<Measurements> load_measurements(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return text.error();
  auto measurements = parse_measurements(*text);
  if (!measurements) return within(path, measurements.error());
  return measurements;
}

}  // namespace phaze::cost
