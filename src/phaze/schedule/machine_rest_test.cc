#include "phaze/schedule/machine_rest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <random>
#include <vector>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/testing/optimum_of_rest.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kBlocksTried = kThinTests ? 100 : 2000;

struct RandomState {
  SearchState<1> state;
  std::vector<Running> running;
};

// With operators placed whose predecessors are, of which some are still running as far as they fit beside each other.
RandomState random_state(const Block& block, std::mt19937_64& random) {
  RandomState made;
  std::vector<Units> free(block.resources, kCapacityUnits);
  made.state.time = static_cast<Ticks>(random() % 1000);
  OpSet<1> finished;
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::size_t m = block.mode_offsets[i + 1] - 1;
    if (!block.set_of<1>(block.before_row(i)).subset_of(finished) || random() % 2 == 0) {
      if (random() % 4 == 0) made.state.barred.insert(i);
      continue;
    }
    made.state.placed.insert(i);
    bool fits = !block.modes[m].exclusive;
    for (std::size_t k = 0; k < block.resources; ++k) fits = fits && block.demand(m)[k] <= free[k];
    if (!fits || random() % 2 == 0) {
      finished.insert(i);
      continue;
    }
    for (std::size_t k = 0; k < block.resources; ++k) free[k] -= block.demand(m)[k];
    const auto rest = static_cast<Ticks>(random() % static_cast<std::uint64_t>(block.modes[m].duration)) + 1;
    made.running.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(m), made.state.time + rest});
  }
  std::ranges::sort(made.running, {}, &Running::finish);
  return made;
}

// What an operator may take that is left: a machine for so long, or all of them for so long.
struct Choice {
  std::optional<Ticks> beside, alone;
};

// By trying everything, each operator on each machine and alone.
Ticks least_by_brute_force(std::span<const Choice> left, std::vector<Ticks>& loads, Ticks alone) {
  if (left.empty()) return alone + *std::ranges::max_element(loads);
  Ticks least = kNever;
  if (left[0].alone) least = least_by_brute_force(left.subspan(1), loads, alone + *left[0].alone);
  for (std::size_t m = 0; left[0].beside && m < loads.size(); ++m) {
    loads[m] += *left[0].beside;
    least = std::min(least, least_by_brute_force(left.subspan(1), loads, alone));
    loads[m] -= *left[0].beside;
  }
  return least;
}

// Where `resource` is what makes the machines.
Ticks least_by_brute_force(const Block& block, const RandomState& made, std::size_t resource, std::size_t machines) {
  std::vector<Choice> left;
  for (std::size_t i = 0; i < block.size; ++i) {
    if (made.state.placed.contains(i)) continue;
    Choice& choice = left.emplace_back();
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      const Ticks duration = block.modes[m].duration;
      const bool exclusive = block.modes[m].exclusive;
      if (exclusive && made.state.barred.contains(i)) continue;
      std::optional<Ticks>& time = exclusive ? choice.alone : choice.beside;
      time = std::min(time.value_or(kNever), !exclusive && block.demand(m)[resource] == 0 ? 0 : duration);
    }
  }
  std::vector<Ticks> loads;
  for (const Running& runs : made.running)
    if (block.demand(runs.mode)[resource] > 0) loads.push_back(runs.finish - made.state.time);
  loads.resize(machines);
  const Ticks least = least_by_brute_force(left, loads, 0);
  return least == kNever ? kNever : made.state.time + least;
}

// Calls visit(block, how many machines) for blocks that have only one resource.
template <typename Visit>
void for_each_block(Visit&& visit) {
  Decomposition decomposition;
  for (std::uint64_t seed = 0; seed < kBlocksTried; ++seed) {
    // One or all of two to four cores, some with a second mode for a few of them.
    std::mt19937_64 random(seed);
    Instance instance;
    const double cores = 2 + static_cast<double>(random() % 3);
    instance.resources = {{"tc", cores}};
    const double shapes = 1 + static_cast<double>(random() % 4);
    // Mostly of a few kinds, and the last of them twice as long as the first, as products of a layer are.
    const auto draw = [&] {
      return std::pair(1 + static_cast<double>(random() % 100) / 100 * shapes,
                       static_cast<double>(random() % 50) / 100);
    };
    std::vector<std::pair<double, double>> kinds = {draw(), draw()};
    kinds.emplace_back(2 * kinds.front().first, kinds.front().second);
    const bool of_kinds = random() % 3 > 0;
    for (std::size_t i = 0; i < 4 + random() % 4; ++i) {
      const OpId op = instance.add_op("op");
      const auto [work, lost] = of_kinds ? kinds[random() % kinds.size()] : draw();
      for (double used = 1; used <= cores; ++used)
        if (used == 1 || used == cores || random() % 8 == 0)
          if (used < cores || random() % 4 != 0)
            instance.add_mode(work * (1 + lost * (used - 1)) / used, std::array{used});
      for (std::size_t j = 0; j < i; ++j)
        if (random() % 5 == 0) instance.add_edge(OpId(j), op);
    }
    decomposition.split(instance);
    for (const Block& block : decomposition.blocks()) visit(block, static_cast<std::size_t>(cores), random);
  }
}

TEST(MachineRest, is_what_it_says_by_brute_force) {
  std::uint64_t known = 0;
  for_each_block([&](const Block& block, std::size_t machines, std::mt19937_64& random) {
    SearchBlock<1> prepared;
    prepared.prepare(block);
    MachineRest<1> rest;
    if (!rest.begin(prepared, 2 * kSerialTicks)) return;
    for (int sample = 0; sample < 5; ++sample) {
      const RandomState made = random_state(block, random);
      const Ticks least = least_by_brute_force(block, made, 0, machines);
      // Something is barred from its only mode. The search sees that by itself.
      if (least == kNever) continue;
      for (const Ticks limit : {least + 1, least + 1000, 2 * least, least, least - 1, least / 2}) {
        const Ticks found = rest.least_end(made.state, made.running, made.state.time, limit);
        EXPECT_LE(found, std::min(least, limit));
        // Zero where there are too many sums.
        EXPECT_TRUE(found == 0 || found == std::min(least, limit)) << found << " " << least << " " << limit;
        known += found > 0 ? 1 : 0;
        // If it may be before that, this is all there is to know.
        EXPECT_EQ(rest.least_end(made.state, made.running, least + 1, std::max(limit, least + 1)), 0);
      }
    }
  });
  EXPECT_GT(known, kBlocksTried * 10);
}

TEST(MachineRest, is_a_bound) {
  std::size_t close = 0;
  Decomposition decomposition;
  for (std::uint64_t seed = 0; seed < kBlocksTried; ++seed) {
    std::mt19937_64 random(seed);
    decomposition.split(seed % 3 == 0   ? testing::chains_with_ends(8, seed)
                        : seed % 3 == 1 ? testing::random_instance(testing::Model::kPhaze, 8, seed)
                                        : testing::layer_like(7, seed));
    for (const Block& block : decomposition.blocks()) {
      SearchBlock<1> prepared;
      prepared.prepare(block);
      MachineRest<1> rest;
      if (!rest.begin(prepared, 2 * kSerialTicks)) continue;
      RandomState made = random_state(block, random);
      made.state.barred = {};
      const Ticks optimum = testing::optimum_of_rest(block, made.state.placed);
      const Ticks found = rest.least_end(made.state, {}, made.state.time, kSerialTicks);
      EXPECT_LE(found, made.state.time + optimum) << "seed " << seed;
      close += static_cast<double>(found - made.state.time) > 0.95 * static_cast<double>(optimum) ? 1 : 0;
    }
  }
  EXPECT_GT(close, kBlocksTried / 20);
}

}  // namespace
}  // namespace phaze::schedule
