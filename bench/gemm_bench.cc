// The exact minima of both GEMM models over all tensor-core geometries of the 2024 design space.
#include <benchmark/benchmark.h>

#include <array>
#include <set>
#include <tuple>

#include "phaze/cost/gemm.h"
#include "phaze/cost/sunstone.h"
#include "phaze/hardware/design_space.h"

namespace phaze::cost {
namespace {

using Geometry = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

std::vector<SunstoneCore> geometries() {
  std::set<Geometry> distinct;
  hardware::phaze_space().for_each_kept([&](const hardware::Chip& chip) {
    distinct.emplace(chip.tensor_cores.count, chip.tensor_cores.rows, chip.tensor_cores.cols,
                     chip.global_buffer.value());
    return true;
  });
  std::vector<SunstoneCore> cores;
  for (const auto& [count, rows, cols, words] : distinct) cores.push_back({count, rows, cols, words});
  return cores;
}

// Rows, contraction, columns of BERT-large, GPT2-XL, OPT-350M, Llama2-7B and GPT3-175B layers, forward and backward.
constexpr std::array<std::array<std::int64_t, 3>, 20> kProblems = {{
    {512, 1024, 3072},   {512, 1024, 1024},    {512, 1024, 4096},    {512, 4096, 1024},    {1024, 1600, 4800},
    {1024, 1600, 6400},  {1024, 6400, 1600},   {1600, 1024, 6400},   {2048, 1024, 4096},   {2048, 4096, 1024},
    {4096, 4096, 4096},  {4096, 4096, 11008},  {4096, 11008, 4096},  {4096, 4096, 32000},  {2048, 12288, 4608},
    {2048, 1536, 12288}, {2048, 12288, 12288}, {2048, 12288, 49152}, {2048, 49152, 12288}, {2048, 12288, 36864},
}};

// Time per (GEMM, geometry): one mapper per GEMM, made anew, serves all geometries.
void sunstone_over_the_space(benchmark::State& state) {
  const auto cores = geometries();
  for (auto _ : state)
    for (const auto& [n, c, k] : kProblems) {
      SunstoneMapper mapper(n, c, k);
      for (const SunstoneCore& core : cores) benchmark::DoNotOptimize(mapper.least_cycles(core));
    }
  const auto pairs = static_cast<double>(cores.size() * kProblems.size());
  state.counters["geometries"] = static_cast<double>(cores.size());
  state.counters["per_pair"] =
      benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(sunstone_over_the_space)->Unit(benchmark::kSecond)->Iterations(1);

// The same for the physical model.
void physical_over_the_space(benchmark::State& state) {
  std::vector<GemmMachine> machines;
  for (const SunstoneCore& core : geometries()) {
    hardware::Chip chip;
    chip.tensor_cores = {core.cores, core.rows, core.cols};
    chip.global_buffer = Bytes(core.global_buffer_words);
    machines.push_back(gemm_machine(chip, core.cores));
  }
  for (auto _ : state)
    for (const auto& [n, c, k] : kProblems) {
      GemmMapper mapper({.m = n, .n = k, .k = c});
      for (const GemmMachine& machine : machines) benchmark::DoNotOptimize(mapper.least(machine));
    }
  const auto pairs = static_cast<double>(machines.size() * kProblems.size());
  state.counters["geometries"] = static_cast<double>(machines.size());
  state.counters["per_pair"] =
      benchmark::Counter(pairs, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(physical_over_the_space)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace
}  // namespace phaze::cost
