// Speed of the exact optimum of the 2024 placement problem, in process, on one thread.
//
// The chain is GPT3-175B: an embedding, 96 layers and a head of hidden size 12288, sequence 2048, vocabulary 51200,
// 16-bit. Seconds follow from the matrix products at 40 % of 275 TFLOP/s (a TPUv4-like chip) plus two all-reduces per
// pass; bytes from the usual formulas. `jitter` makes layers differ a little, so that nothing gains from equal numbers.
#include <benchmark/benchmark.h>

#include <random>

#include "phaze/placement/phaze2024/solve.h"

namespace phaze::placement::phaze2024 {
namespace {

constexpr double kHidden = 12288, kSequence = 2048, kVocabulary = 51200, kHeads = 96;
constexpr double kFlops = 0.4 * 275e12;
constexpr double kBandwidth = 50e9;

Width gpt3(std::int64_t width, std::size_t layers, double jitter, bool recompute) {
  std::mt19937_64 random(static_cast<std::uint64_t>(width));
  std::uniform_real_distribution<> around(1 - jitter, 1 + jitter);
  const double t = static_cast<double>(width);
  const double boundary = 2 * kSequence * kHidden;
  const double reduce = 2 * (t - 1) / t * boundary / 300e9;
  Width made{.width = width};
  const auto add = [&](double parameters, double activations, double flops, double reduces, bool split) {
    const double forward = flops / t / kFlops;
    const auto id = static_cast<std::int64_t>(made.nodes.size());
    made.nodes.push_back({.id = id,
                          .parameter_bytes = 2 * parameters / t,
                          .activation_bytes = activations,
                          .forward_seconds = (forward + reduces * reduce) * around(random),
                          .backward_seconds = (2 * forward + reduces * reduce) * around(random),
                          .tensor_parallel = split && width > 1});
    if (id > 0) made.edges.push_back({id - 1, id, boundary});
  };
  const double scores = recompute ? 0 : 5 * kHeads * kSequence / kHidden;
  add(kVocabulary * kHidden, boundary / 2, 2 * kSequence * kHidden, 1, true);
  for (std::size_t i = 0; i < layers; ++i)
    add(12 * kHidden * kHidden + 13 * kHidden, kSequence * kHidden * (10 + (24 + scores) / t),
        24 * kSequence * kHidden * kHidden + 4 * kSequence * kSequence * kHidden, 2, true);
  add(kVocabulary * kHidden, 2 * kSequence * kVocabulary / t, 2 * kSequence * kHidden * kVocabulary, 1, true);
  return made;
}

Instance gpt3_instance(std::int64_t devices, bool recompute, double jitter, std::vector<std::int64_t> widths = {4, 8},
                       std::size_t layers = 96) {
  Instance instance{.memory_per_device = 80e9,
                    .devices = devices,
                    .bandwidth = kBandwidth,
                    .microbatches = 1536,
                    .recompute = recompute,
                    .optimizer = Optimizer::kAdam};
  for (const std::int64_t width : widths) instance.widths.push_back(gpt3(width, layers, jitter, recompute));
  return instance;
}

void run(benchmark::State& state, const Instance& instance) {
  check(static_cast<bool>(validate(instance)), "the instance is valid");
  Solution solution;
  for (auto _ : state) {
    solution = solve(instance);
    benchmark::DoNotOptimize(solution);
  }
  check(solution.termination == Termination::kOptimal, "the instance is solved");
  state.counters["seconds_per_batch"] = solution.evaluation.time_per_batch;
  state.counters["stages"] = static_cast<double>(solution.plan->stages.size());
  state.counters["rows"] = static_cast<double>(solution.statistics.rows);
  state.counters["planes"] = static_cast<double>(solution.statistics.planes);
}

// devices, recompute, layers differ
void gpt3_175b(benchmark::State& state) {
  run(state, gpt3_instance(state.range(0), state.range(1) != 0, state.range(2) != 0 ? 0.05 : 0));
}
BENCHMARK(gpt3_175b)
    ->ArgNames({"devices", "recompute", "jitter"})
    ->ArgsProduct({{1024, 1048576}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMicrosecond);

// A third of the layers can do with one device, so that the search must count them. `slow`: they take as much longer as
// they would without tensor parallelism; else they cost nothing for it, which is when single stages are most tempting.
void mixed_layers(benchmark::State& state) {
  Instance instance = gpt3_instance(state.range(0), true, 0.05);
  for (Width& width : instance.widths) {
    std::mt19937_64 random(static_cast<std::uint64_t>(state.range(2)));
    for (Node& node : width.nodes) {
      if (random() % 3 != 0) continue;
      node.tensor_parallel = false;
      if (state.range(1) == 0) continue;
      node.forward_seconds *= static_cast<double>(width.width);
      node.backward_seconds *= static_cast<double>(width.width);
    }
  }
  run(state, instance);
}
BENCHMARK(mixed_layers)
    ->ArgNames({"devices", "slow", "seed"})
    ->ArgsProduct({{96, 1024, 1048576}, {0, 1}, {1, 2}})
    ->Unit(benchmark::kMicrosecond);

// Every seventh layer also feeds one ten layers on.
void skip_edges(benchmark::State& state) {
  Instance instance = gpt3_instance(1024, true, 0.05);
  for (Width& width : instance.widths)
    for (std::int64_t i = 0; i + 10 < 98; i += 7) width.edges.push_back({i, i + 10, 2e7});
  run(state, instance);
}
BENCHMARK(skip_edges)->Unit(benchmark::kMicrosecond);

void long_chain(benchmark::State& state) {
  run(state, gpt3_instance(4096, true, 0.05, {8}, static_cast<std::size_t>(state.range(0))));
}
BENCHMARK(long_chain)->ArgName("layers")->Arg(200)->Arg(500)->Arg(1000)->Unit(benchmark::kMicrosecond);

// Two towers of `layers` each that meet in a head.
void two_towers(benchmark::State& state) {
  const auto layers = static_cast<std::size_t>(state.range(0));
  Instance instance = gpt3_instance(256, false, 0.05, {4}, 2 * layers - 1);
  Width& width = instance.widths.front();
  const auto last = static_cast<std::int64_t>(2 * layers);
  const auto meet = static_cast<std::int64_t>(layers);
  std::erase_if(width.edges, [&](const Edge& edge) { return edge.target == meet; });
  width.edges.push_back({meet - 1, last, width.edges.front().bytes});
  run(state, instance);
}
BENCHMARK(two_towers)->ArgName("layers")->Arg(12)->Arg(24)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace phaze::placement::phaze2024
