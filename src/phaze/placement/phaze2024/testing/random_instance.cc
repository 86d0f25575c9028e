#include "phaze/placement/phaze2024/testing/random_instance.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace phaze::placement::phaze2024 {
namespace {

class Maker {
 public:
  explicit Maker(std::mt19937_64& random) : random_(random), round_(chance(0.3)) {}

  Instance make(Shape shape, std::size_t count) {
    std::vector<std::int64_t> ids(count);
    std::iota(ids.begin(), ids.end(), -static_cast<std::int64_t>(count) / 2);
    std::ranges::shuffle(ids, random_);
    std::vector<std::pair<std::size_t, std::size_t>> joined = edges(shape, count);
    Instance instance{.devices = whole(1, 12),
                      .bandwidth = size(5, 50),
                      .microbatches = whole(1, 9),
                      .recompute = chance(0.5),
                      .optimizer = chance(0.5) ? Optimizer::kAdam : Optimizer::kSgd};
    if (chance(0.2)) instance.devices = whole(12, 80);
    const double split = chance(0.3) ? 1 : number(0, 1);
    std::vector<bool> splits(count);
    for (std::size_t i = 0; i < count; ++i) splits[i] = chance(split);
    double parameters = 0, activations = 0;
    for (const std::int64_t width : {1, 2, 4}) {
      if (!instance.widths.empty() && chance(0.4)) continue;
      Width& made = instance.widths.emplace_back(Width{.width = chance(0.2) ? 3 * width : width});
      for (std::size_t i = 0; i < count; ++i) {
        const double share = splits[i] ? 1.0 / static_cast<double>(width) : 1;
        made.nodes.push_back({.id = ids[i],
                              .parameter_bytes = chance(0.1) ? 0 : size(1, 20) * share,
                              .activation_bytes = chance(0.1) ? 0 : size(1, 20) * share,
                              .forward_seconds = chance(0.05) ? 0 : size(1, 10) * share,
                              .backward_seconds = chance(0.05) ? 0 : size(1, 20) * share,
                              .tensor_parallel = splits[i] && width > 1});
        parameters += made.nodes.back().parameter_bytes;
        activations += made.nodes.back().activation_bytes;
      }
      for (const auto& [source, target] : joined)
        made.edges.push_back({ids[source], ids[target], chance(0.1) ? 0 : size(1, chance(0.3) ? 800 : 100)});
      std::ranges::shuffle(made.nodes, random_);
      std::ranges::shuffle(made.edges, random_);
    }
    std::ranges::sort(instance.widths, {}, &Width::width);
    const auto repeated = std::ranges::unique(instance.widths, {}, &Width::width);
    instance.widths.erase(repeated.begin(), repeated.end());
    const double whole_model = (2.5 * parameters + activations) / static_cast<double>(instance.widths.size());
    instance.memory_per_device = whole_model * (chance(0.3) ? 5 : number(0.1, 1.2)) + 1;
    if (round_) instance.memory_per_device = static_cast<double>(static_cast<std::int64_t>(instance.memory_per_device));
    return instance;
  }

 private:
  bool chance(double p) { return number(0, 1) < p; }
  double number(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  std::int64_t whole(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double size(std::int64_t low, std::int64_t high) {
    return round_ ? static_cast<double>(whole(low, high)) : number(static_cast<double>(low), static_cast<double>(high));
  }

  std::vector<std::pair<std::size_t, std::size_t>> edges(Shape shape, std::size_t count) {
    std::vector<std::pair<std::size_t, std::size_t>> list;
    const std::size_t tower = shape == Shape::kTowers && count > 2 ? 1 + random_() % (count - 2) : 0;
    for (std::size_t target = 1; target < count; ++target) {
      const bool last = target + 1 == count;
      if (shape == Shape::kAnyDag) {
        for (std::size_t source = 0; source < target; ++source)
          if (chance(0.35)) list.emplace_back(source, target);
        continue;
      }
      if (target != tower || tower == 0) list.emplace_back(target - 1, target);
      if (tower > 0 && last && tower - 1 != target - 1) list.emplace_back(tower - 1, target);
      if (shape == Shape::kSkips)
        for (std::size_t source = 0; source + 1 < target; ++source)
          if (chance(0.2)) list.emplace_back(source, target);
    }
    return list;
  }

  std::mt19937_64& random_;
  bool round_;
};

}  // namespace

Instance random_instance(std::mt19937_64& random, Shape shape, std::size_t nodes) {
  return Maker(random).make(shape, nodes);
}

}  // namespace phaze::placement::phaze2024
