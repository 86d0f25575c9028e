// What the levels of the co-search cost on one core: the rates behind docs/scale-out.md.
//
// The first bound is worked out for the whole space of 2024, as a search does it. The others are measured on chips
// drawn at random, each brought from nothing to a level without an incumbent that would stop it earlier; a search stops
// most of them earlier, so that these are rates at worst.
#include <benchmark/benchmark.h>

#include <limits>
#include <random>

#include "phaze/hardware/design_space.h"
#include "phaze/search/chip_search.h"

namespace phaze::search {
namespace {

constexpr std::int64_t kDevices = 1024;

layer_times::Workload workload(const std::string& model, const hardware::Network& network) {
  NoProgress silent;
  auto loaded = layer_times::load_workload(model, kDevices, network,
                                           {.microbatches = {1, 2, 4, 8}, .global_batch = 4096}, silent);
  check(static_cast<bool>(loaded), "a model of the zoo does not load");
  return std::move(*loaded);
}

std::vector<hardware::Chip> space() {
  std::vector<hardware::Chip> chips;
  hardware::phaze_space().for_each_kept([&](const hardware::Chip& chip) {
    chips.push_back(chip);
    return true;
  });
  return chips;
}

hardware::Cluster cluster(const hardware::Chip& chip, const hardware::Network& network) {
  hardware::Cluster cluster{.chip = chip, .devices = kDevices, .network = network};
  cluster.chip.hbm = Bytes(std::int64_t{80} << 30);
  return cluster;
}

void per_chip(benchmark::State& state, std::size_t chips) {
  state.counters["per_chip"] = benchmark::Counter(
      static_cast<double>(chips), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void rooflines_of_the_space(benchmark::State& state, const std::string& model) {
  const hardware::Network network = *hardware::own_network(hardware::phaze_space().base);
  const layer_times::Workload loaded = workload(model, network);
  const std::vector<hardware::Chip> chips = space();
  for (auto _ : state) {
    const ModelProfile profile(loaded, kDevices, network, false);
    cost::Memo memo(1024);
    for (const hardware::Chip& chip : chips) {
      const hardware::Cluster devices = cluster(chip, network);
      benchmark::DoNotOptimize(ChipSearch(profile, devices, memo).least_seconds());
    }
  }
  per_chip(state, chips.size());
}

void chips_up_to_a_level(benchmark::State& state, const std::string& model, Level level) {
  constexpr std::size_t kSample = 24;
  const hardware::Network network = *hardware::own_network(hardware::phaze_space().base);
  const layer_times::Workload loaded = workload(model, network);
  const std::vector<hardware::Chip> chips = space();
  const ModelProfile profile(loaded, kDevices, network, false, 2'000);
  for (auto _ : state) {
    std::mt19937 random(1);
    cost::Memo memo(std::size_t{1} << 20);
    for (std::size_t i = 0; i < kSample; ++i) {
      const hardware::Cluster devices = cluster(chips[random() % chips.size()], network);
      ChipSearch search(profile, devices, memo);
      search.refine(level, std::numeric_limits<double>::infinity());
      benchmark::DoNotOptimize(search.least_seconds());
    }
  }
  per_chip(state, kSample);
}

void add(const std::string& model) {
  const auto once = [](benchmark::internal::Benchmark* made) { made->Unit(benchmark::kMillisecond)->Iterations(1); };
  once(benchmark::RegisterBenchmark((model + "/roofline").c_str(),
                                    [model](benchmark::State& state) { rooflines_of_the_space(state, model); }));
  for (const Level level : {Level::kPlaced, Level::kOperators, Level::kBounds, Level::kSchedules})
    once(benchmark::RegisterBenchmark(
        (model + "/" + to_string(level)).c_str(),
        [model, level](benchmark::State& state) { chips_up_to_a_level(state, model, level); }));
}

}  // namespace
}  // namespace phaze::search

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  for (const char* model : {"bert-large", "llama2-7b"}) phaze::search::add(model);
  benchmark::RunSpecifiedBenchmarks();
}
