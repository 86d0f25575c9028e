#include "phaze/schedule/testing/random_instance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "phaze/base/hash.h"

namespace phaze::schedule::testing {
namespace {

// Not std::uniform_int_distribution, whose answers differ between libraries.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  std::size_t between(std::size_t low, std::size_t high) { return low + below(high - low + 1); }
  double real(double low, double high) { return low + (high - low) * static_cast<double>(next() >> 11U) * 0x1p-53; }
  bool chance(double probability) { return real(0, 1) < probability; }

 private:
  std::uint64_t next() { return mix(state_++); }
  std::uint64_t state_;
};

// Durations on a coarse grid make ties, on a fine one they make none; both occur.
double duration(Random& random, double low, double high, bool coarse) {
  const double value = random.real(low, high);
  return coarse ? std::max(1.0, std::round(value)) : value;
}

void set_resources(Model model, Instance& instance, Random& random) {
  const auto cores = [&] { return static_cast<double>(std::size_t{1} << random.below(4)); };
  if (model == Model::kPhaze)
    instance.resources = {{"tc", cores()}, {"vc", cores()}};
  else if (model == Model::kMoldable)
    instance.resources = {{"tc", cores()}, {"vc", cores()}, {"hbm", 1}, {"net", 1}};
  else
    for (std::size_t k = random.between(1, 3); k-- > 0;)
      instance.resources.push_back({"r" + std::to_string(k), random.chance(0.5) ? 1.0 : random.real(0.5, 4)});
}

void add_anything(Instance& instance, Random& random, bool coarse) {
  if (random.chance(0.05)) {
    const std::vector<double> all = [&] {
      std::vector<double> demand;
      demand.reserve(instance.resources.size());
      for (const Resource& resource : instance.resources) demand.push_back(resource.capacity);
      return demand;
    }();
    instance.add_mode(0, all);
    return;
  }
  const bool free = random.chance(0.1);
  std::vector<double> demand(instance.resources.size());
  for (std::size_t modes = random.between(1, 3); modes-- > 0;) {
    for (std::size_t k = 0; k < demand.size(); ++k) {
      const double share = coarse ? static_cast<double>(random.below(4)) / 3 : random.real(0, 1);
      demand[k] = free || random.chance(0.3) ? 0 : share * instance.resources[k].capacity;
    }
    instance.add_mode(duration(random, 1, 10, coarse), demand);
  }
}

// Kinds of operators: on tensor cores, on vector cores, fused (both), and collectives.
void add_layer_op(Model model, Instance& instance, Random& random, bool coarse) {
  const double tensor_cores = instance.resources[0].capacity, vector_cores = instance.resources[1].capacity;
  const bool collective = model == Model::kMoldable && random.chance(0.15);
  if (collective) {
    instance.add_mode(duration(random, 1, 8, coarse), std::array{0.0, 0.0, 0.0, 1.0});
    return;
  }
  const bool vector = random.chance(0.4);
  const bool tensor = !vector || random.chance(0.2);
  const double alone = duration(random, 2, 40, coarse);
  // Doubling the cores divides the time by something between one and two.
  const double efficiency = random.real(0.3, 1);
  const double most = std::max(tensor ? tensor_cores : 1, vector ? vector_cores : 1);
  if (model == Model::kPhaze) {
    instance.add_mode(alone, std::array{tensor ? 1.0 : 0.0, vector ? 1.0 : 0.0});
    if (most > 1) instance.add_mode(alone / std::pow(most, efficiency), std::array{tensor_cores, vector_cores});
    return;
  }
  const double bytes = random.real(0.05, 1);
  for (double cores = 1; cores <= most; cores *= 2) {
    const double time = alone / std::pow(cores, efficiency);
    const double rate = bytes * std::pow(cores / most, efficiency);
    instance.add_mode(
        time, std::array{tensor ? std::min(cores, tensor_cores) : 0.0, vector ? std::min(cores, vector_cores) : 0.0,
                         coarse ? std::ceil(rate * 20) / 20 : rate, 0.0});
  }
}

void add_op(Model model, Instance& instance, Random& random, bool coarse) {
  instance.add_op(std::to_string(instance.size()));
  if (model == Model::kAnything)
    add_anything(instance, random, coarse);
  else
    add_layer_op(model, instance, random, coarse);
}

}  // namespace

Instance random_instance(Model model, std::size_t ops, std::uint64_t seed) {
  Random random(mix(seed) ^ (static_cast<std::uint64_t>(model) << 60U));
  Instance instance;
  set_resources(model, instance, random);
  const bool coarse = random.chance(0.5);
  for (std::size_t i = 0; i < ops; ++i) add_op(model, instance, random, coarse);
  const double density = random.real(0.05, 0.6);
  std::vector<std::size_t> label(ops);
  for (std::size_t i = 0; i < ops; ++i) label[i] = i;
  for (std::size_t i = ops; i > 1; --i) std::swap(label[i - 1], label[random.below(i)]);
  for (std::size_t j = 0; j < ops; ++j)
    for (std::size_t i = 0; i < j; ++i)
      if (random.chance(density)) instance.add_edge(OpId(label[i]), OpId(label[j]));
  return instance;
}

Instance with_plenty_of_cores(std::size_t ops, std::uint64_t seed) {
  Instance instance = random_instance(Model::kPhaze, ops, seed);
  const auto count = static_cast<double>(ops);
  const std::size_t kinds = instance.resources.size();
  for (std::size_t mode = 0; mode < instance.durations.size(); ++mode) {
    bool takes_all = true;
    for (std::size_t k = 0; k < kinds; ++k)
      takes_all = takes_all && instance.demands[mode * kinds + k] == instance.resources[k].capacity;
    for (std::size_t k = 0; k < kinds; ++k)
      if (takes_all) instance.demands[mode * kinds + k] = count;
  }
  for (Resource& resource : instance.resources) resource.capacity = count;
  return instance;
}

Instance random_branches(Model model, std::size_t ops, std::size_t width, std::uint64_t seed) {
  Random random(mix(seed) ^ (static_cast<std::uint64_t>(model) << 60U));
  Instance instance;
  set_resources(model, instance, random);
  // Cores that are scarce but not single make the choice of modes matter.
  for (std::size_t k = 0; k < 2 && model != Model::kAnything; ++k)
    instance.resources[k].capacity = static_cast<double>(random.chance(0.5) ? 4 : 8);
  std::vector<std::size_t> open;
  const auto grow = [&] {
    add_op(model, instance, random, false);
    return instance.size() - 1;
  };
  for (std::size_t branch = 0; branch < width; ++branch) open.push_back(grow());
  while (instance.size() < ops) {
    const std::size_t branch = random.below(width);
    const std::size_t op = grow();
    instance.add_edge(OpId(open[branch]), OpId(op));
    // Now and then two branches meet, so that the order is no mere bundle of chains.
    const std::size_t other = random.below(width);
    if (other != branch && random.chance(0.25)) instance.add_edge(OpId(open[other]), OpId(op));
    open[branch] = op;
  }
  return instance;
}

Instance layer_like(std::size_t operators, std::uint64_t seed, std::size_t small) {
  Random random(seed);
  const double scarce = 1 + static_cast<double>(random.below(4));
  Instance instance;
  instance.resources = {{"tc", 4}, {"vc", scarce}, {"hbm", 1}};
  for (std::size_t i = 0; i < operators; ++i) {
    const OpId op = instance.add_op("op" + std::to_string(i));
    const bool tensor = random.below(2) == 0, vector = !tensor || random.below(3) == 0;
    const double work = (1 + static_cast<double>(random.below(8))) * (i + small < operators ? 1 : 1e-6);
    const double share = 0.05 + 0.9 * static_cast<double>(random.below(100)) / 100;
    for (const double cores : {1.0, 2.0, 4.0}) {
      const double seconds = std::max(work / cores, work * share / 2);
      const double vectors = vector ? std::min(scarce, cores) : 0;
      const std::array demand = {tensor ? cores : 0, vectors, std::min(1.0, work * share / 2 / seconds)};
      instance.add_mode(seconds, demand);
    }
    for (std::size_t j = 0; j < i; ++j)
      if (random.below(4) == 0) instance.add_edge(OpId(j), op);
  }
  return instance;
}

Instance layer_like_with_light(std::size_t operators, std::size_t light, std::uint64_t seed) {
  Instance instance = layer_like(operators, seed);
  Random random(seed);
  for (std::size_t i = 0; i < light; ++i) {
    const OpId op = instance.add_op("light" + std::to_string(i));
    const double work = random.real(0.1, 0.5);
    for (const double cores : {0.125, 0.25, 0.5, 1.0})
      instance.add_mode(work / cores, std::array{0.0, cores, cores / 2});
    instance.add_edge(OpId(random.below(operators)), op);
  }
  return instance;
}

Instance bandwidth_bound(std::size_t operators, std::uint64_t seed) {
  struct Kind {
    double bytes, work;  // seconds with the whole bandwidth, and with one core
  };
  Random random(seed);
  Instance instance;
  instance.resources = {{"tc", 4}, {"hbm", 1}};
  std::vector<Kind> kinds(2 + random.below(3));
  for (Kind& kind : kinds) {
    kind.bytes = 1 + static_cast<double>(random.below(6));
    // On four cores, less than it takes to move the bytes, or a little more.
    kind.work = kind.bytes * (random.chance(0.3) ? random.real(4, 6) : random.real(1, 4));
  }
  for (std::size_t i = 0; i < operators; ++i) {
    const OpId op = instance.add_op("op" + std::to_string(i));
    const Kind& kind = kinds[random.below(kinds.size())];
    for (const double cores : {1.0, 2.0, 4.0}) {
      const double seconds = std::max(kind.bytes, kind.work / cores);
      instance.add_mode(seconds, std::array{cores, kind.bytes / seconds});
    }
    for (std::size_t j = 0; j < i; ++j)
      if (random.chance(0.25)) instance.add_edge(OpId(j), op);
  }
  return instance;
}

Instance chains_with_ends(std::size_t operators, std::uint64_t seed) {
  Random random(seed);
  Instance instance;
  const double cores = std::array{2.0, 4.0, 8.0}[random.below(3)], second = 1 + static_cast<double>(random.below(3));
  instance.resources = {{"tc", cores}, {"vc", second}};
  const bool one_or_all = random.chance(0.5);
  const double lost = random.chance(0.3) ? 0 : random.real(0, 0.1);  // per core beyond the first
  std::vector<double> kinds(3);
  for (double& seconds : kinds) seconds = 1 + static_cast<double>(random.below(6));
  std::array<std::vector<OpId>, 2> chains;
  for (std::size_t i = 0; i < operators; ++i) {
    const OpId op = instance.add_op("op" + std::to_string(i));
    const double seconds = kinds[random.below(kinds.size())] * (random.chance(0.8) ? 1 : random.real(1, 1.01));
    if (random.chance(0.2)) {
      instance.add_mode(0.3 * seconds, std::array{0.0, 1.0});
    } else {
      for (double used = 1; used <= cores; used *= one_or_all ? cores : 2)
        instance.add_mode(seconds / used * (1 + lost * (used - 1)),
                          std::array{used, one_or_all && used > 1 ? second : 0.0});
    }
    std::vector<OpId>& chain = chains[random.below(2)];
    if (!chain.empty() && random.chance(0.8)) instance.add_edge(chain.back(), op);
    if (const std::vector<OpId>& other = &chain == chains.data() ? chains[1] : chains[0];
        !other.empty() && random.chance(0.15))
      instance.add_edge(other.back(), op);
    if (random.chance(0.5)) chain.push_back(op);
  }
  return instance;
}

Instance some_with_plenty_of_cores(std::size_t operators, std::uint64_t seed) {
  Random random(seed);
  Instance instance;
  const double few = static_cast<double>(random.between(1, 3)), many = static_cast<double>(random.between(2, 5));
  instance.resources = {{"tc", few}, {"vc", many}};
  const bool coarse = random.chance(0.5);
  for (std::size_t i = 0; i < operators; ++i) {
    const OpId op = instance.add_op("op" + std::to_string(i));
    const double seconds = duration(random, 1, 10, coarse);
    const bool scarce = random.chance(0.5);
    const double most = scarce ? few : std::min(many, 2.0);
    const double efficiency = random.real(0.5, 1);
    for (double cores = 1; cores <= most; ++cores)
      instance.add_mode(seconds / std::pow(cores, efficiency), std::array{scarce ? cores : 0, scarce ? 0 : cores});
    if (random.chance(0.3)) instance.add_mode(seconds * random.real(0.2, 0.6), std::array{few, many});
    for (std::size_t j = 0; j < i; ++j)
      if (random.chance(0.25)) instance.add_edge(OpId(j), op);
  }
  return instance;
}

}  // namespace phaze::schedule::testing
