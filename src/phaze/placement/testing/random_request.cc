#include "phaze/placement/testing/random_request.h"

#include <algorithm>

namespace phaze::placement::testing {
namespace {

class Maker {
 public:
  Maker(std::mt19937_64& random, const Shape& shape) : random_(random), shape_(shape) {}

  Request run() {
    Request request;
    const auto layers = static_cast<std::size_t>(whole(1, static_cast<std::int64_t>(shape_.most_layers)));
    const auto kinds = static_cast<std::uint32_t>(whole(1, static_cast<std::int64_t>(layers)));
    std::vector<std::uint32_t> nodes(layers);
    for (auto& node : nodes) node = static_cast<std::uint32_t>(whole(0, kinds - 1));
    const bool tied = layers > 1 && coin();
    for (const std::int64_t width : {1, 2}) {
      if (width == 2 && coin()) continue;
      for (const std::int64_t microbatch : {1, 2}) {
        if (microbatch == 2 && coin()) continue;
        request.tables.push_back(table(nodes, kinds, width, microbatch, tied));
      }
    }
    request.devices = {.count = whole(1, shape_.most_devices),
                       .memory = real(5, 200),
                       .network = network(),
                       .step_seconds_per_parameter = coin() ? 0.01 : 0};
    request.training = {.global_batch = whole(1, 12), .states = states(), .overlap_gradients = coin()};
    if (whole(0, 3) == 0) request.freedom.recompute = {kPolicies[static_cast<std::size_t>(whole(0, 2))]};
    if (whole(0, 3) == 0) request.freedom.zero = {static_cast<int>(whole(0, 3))};
    if (whole(0, 5) == 0) request.freedom.pipeline = whole(1, 3);
    if (whole(0, 5) == 0) request.freedom.data_parallel = whole(1, 3);
    if (whole(0, 3) == 0) request.freedom.orders = {kOrders[static_cast<std::size_t>(whole(0, 1))]};
    return request;
  }

 private:
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  bool coin() { return whole(0, 1) == 0; }

  StateBytes states() {
    const StateBytes choices[] = {kAdamMixed, kAdamMixedNarrow, kSgd, kAdam};
    return choices[static_cast<std::size_t>(whole(0, 3))];
  }

  hardware::Network network() {
    hardware::Network network;
    if (coin()) network.levels.push_back({.size = coin() ? 2 : 4, .bandwidth = real(10, 100), .latency = real(0, 0.1)});
    network.levels.push_back({.bandwidth = real(1, 30), .latency = real(0, 0.3)});
    if (coin()) network.levels.back().ports = whole(1, 3);
    return network;
  }

  LayerTable table(const std::vector<std::uint32_t>& nodes, std::uint32_t kinds, std::int64_t width,
                   std::int64_t microbatch, bool tied) {
    LayerTable table{.tensor_parallel = width, .microbatch = microbatch, .nodes = nodes};
    for (std::uint32_t kind = 0; kind < kinds; ++kind) table.kinds.push_back(layer());
    if (tied) table.kinds[nodes.back()].tied_parameters = real(0, 1);
    table.cut_is_replicated = coin();
    const double same = real(0, 5);
    const bool equal = coin();
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i) table.cut_bytes.push_back(equal ? same : real(0, 5));
    return table;
  }

  LayerCost layer() {
    LayerCost layer;
    layer.name = "layer";
    layer.forward.seconds = real(0.1, 3);
    layer.forward.communication = coin() ? 0 : layer.forward.seconds / 4;
    layer.backward.seconds = real(0.1, 6);
    layer.recompute[1].seconds = real(0, 0.3) * layer.forward.seconds;
    layer.recompute[2] = layer.forward;
    layer.saved[0] = real(0, 30);
    layer.saved[1] = real(0, 1) * layer.saved[0];
    layer.saved[2] = real(0, 1) * layer.saved[1];
    layer.parameters = real(0, 2);
    return layer;
  }

  std::mt19937_64& random_;
  const Shape& shape_;
};

}  // namespace

Request random_request(std::mt19937_64& random, const Shape& shape) { return Maker(random, shape).run(); }

}  // namespace phaze::placement::testing
