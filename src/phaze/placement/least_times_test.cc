// Bounds from placement: with least times of layers, Training::least_times makes the time of a batch a least time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "phaze/placement/solve.h"

namespace phaze::placement {
namespace {

class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  // An embedding, a run of equal blocks and a head, with communication that compute hides in part: what interleaved
  // pipelines are made of.
  Request request() {
    LayerTable table{.kinds = {layer(), layer(), layer()}};
    table.nodes.assign(10, 1);
    table.nodes.front() = 0;
    table.nodes.back() = 2;
    table.cut_bytes.assign(9, real(0, 0.5));
    hardware::Network network;
    network.levels = {{.bandwidth = real(2, 30), .latency = real(0, 0.05)}};
    return {.tables = {table},
            .devices = {.count = 8, .memory = 1e9, .network = network, .step_seconds_per_parameter = 0.01},
            .training = {.global_batch = whole(4, 16)},
            .freedom = {}};
  }

  // Every time by some fraction of its own, mostly none.
  void shorten(LayerTable& table) {
    for (LayerCost& kind : table.kinds) {
      kind.forward.seconds *= share();
      kind.backward.seconds *= share();
      kind.recompute[2] = kind.forward;
      kind.recompute[1].seconds = std::min(kind.recompute[1].seconds, kind.forward.seconds);
    }
  }

 private:
  double real(double low, double high) { return std::uniform_real_distribution<double>(low, high)(random_); }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double share() { return whole(0, 2) == 0 ? real(0, 1) : 1; }

  LayerCost layer() {
    LayerCost layer{.name = "layer", .parameters = real(0, 3)};
    layer.forward.seconds = real(0.1, 1);
    layer.backward.seconds = real(0.1, 2);
    layer.recompute[1].seconds = 0.1 * layer.forward.seconds;
    layer.recompute[2] = layer.forward;
    layer.saved = {3, 2, 1};
    return layer;
  }

  std::mt19937_64 random_;
};

double best_time(const Request& request) {
  NoProgress silent;
  return solve(request, {.keep = 1}, silent).plans.front().evaluation.time_per_batch;
}

TEST(LeastTimes, longer_layers_take_no_less_than_the_time_for_the_least_times) {
  int shorter_takes_longer = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Maker maker(seed);
    Request request = maker.request();
    const double whole = best_time(request);
    maker.shorten(request.tables.front());
    const double plain = best_time(request);
    request.training.least_times = true;
    const double least = best_time(request);
    EXPECT_LE(least, whole * (1 + 1e-12)) << "seed " << seed;
    EXPECT_LE(least, plain * (1 + 1e-12)) << "seed " << seed;
    if (plain > whole * (1 + 1e-9)) ++shorter_takes_longer;
  }
  // Otherwise these requests show nothing about it.
  EXPECT_GT(shorter_takes_longer, 0);
}

TEST(LeastTimes, without_interleaving_they_change_nothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Request request = Maker(seed).request();
    request.freedom.interleave = {1};
    const double plain = best_time(request);
    request.training.least_times = true;
    EXPECT_NEAR(best_time(request), plain, 1e-12 * plain) << "seed " << seed;
  }
}

}  // namespace
}  // namespace phaze::placement
