// Plans of a model on a cluster, all default choices searched: pricing its layers, and the search.
#include <benchmark/benchmark.h>

#include "phaze/hardware/chip_file.h"
#include "phaze/layer_times/request.h"
#include "phaze/placement/solve.h"
#include "phaze/sim/from_plan.h"

namespace phaze {
namespace {

layer_times::PlanProblem problem(const char* model, std::int64_t devices, std::int64_t batch) {
  auto chip = *hardware::load_chip("a100-80g");
  auto network = *hardware::own_network(chip);
  const auto cluster = *hardware::make_cluster(std::move(chip), devices, std::move(network));
  cost::Memo memo;
  NoProgress silent;
  return *layer_times::make_problem(model, cluster, {.global_batch = batch}, memo, silent);
}

void layers(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(problem("gpt3-175b", 1024, 1536));
}
BENCHMARK(layers)->Unit(benchmark::kMillisecond);

void search(benchmark::State& state, const char* model, std::int64_t devices, std::int64_t batch) {
  const auto asked = problem(model, devices, batch);
  NoProgress silent;
  double seconds = 0;
  for (auto _ : state) {
    const auto solution = placement::solve(asked.request, {}, silent);
    seconds = solution.plans.front().evaluation.time_per_batch;
    state.counters["strategies"] = static_cast<double>(solution.statistics.strategies);
    state.counters["solved"] = static_cast<double>(solution.statistics.solved);
  }
  state.counters["time_per_batch"] = seconds;
}
BENCHMARK_CAPTURE(search, gpt3_175b_64, "gpt3-175b", 64, 512)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, gpt3_175b_1024, "gpt3-175b", 1024, 1536)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search, megatron_1t_3072, "megatron-1t", 3072, 3072)->Unit(benchmark::kMillisecond);

void simulation(benchmark::State& state) {
  const auto asked = problem("gpt3-175b", 1024, 1536);
  NoProgress silent;
  const auto solution = placement::solve(asked.request, {.keep = 1}, silent);
  const auto pipeline = sim::pipeline_of(asked.request, solution.plans.front().plan);
  for (auto _ : state) benchmark::DoNotOptimize(sim::simulate(pipeline).seconds);
}
BENCHMARK(simulation)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace phaze
