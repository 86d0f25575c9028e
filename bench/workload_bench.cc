// How long a model takes to become a graph.
#include <benchmark/benchmark.h>

#include "phaze/workload/import/onnx/read_onnx.h"
#include "phaze/workload/import/onnx/testing/small_transformer.h"
#include "phaze/workload/transformer/build.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::workload {
namespace {

// megatron-1t has 128 blocks. Argument: tensor-parallel width.
void build_128_layers(benchmark::State& state) {
  const auto entry = zoo_entry("megatron-1t");
  const WorkloadOptions options{.parallel = {state.range(0), state.range(0) > 1}, .fuse = state.range(1) != 0};
  for (auto _ : state) {
    auto graph = build(entry->config, options);
    benchmark::DoNotOptimize(graph);
  }
}
BENCHMARK(build_128_layers)->ArgsProduct({{1, 8}, {0, 1}})->ArgNames({"width", "fuse"})->Unit(benchmark::kMicrosecond);

// 22 nodes a layer; with and without names to find the layers by.
void import_onnx(benchmark::State& state) {
  const auto maker = onnx::testing::small_transformer(static_cast<int>(state.range(0) / 22),
                                                      state.range(1) != 0 ? "model.layers" : "");
  const std::string bytes = maker.bytes();
  state.counters["nodes"] = maker.model.graph().node_size();
  for (auto _ : state) {
    auto graph = onnx::parse_onnx(bytes, "bench", {});
    benchmark::DoNotOptimize(graph);
  }
}
BENCHMARK(import_onnx)
    ->ArgsProduct({{5000, 20000}, {0, 1}})
    ->ArgNames({"nodes", "named"})
    ->Unit(benchmark::kMillisecond);

void hash_a_block(benchmark::State& state) {
  const auto graph = build(zoo_entry("llama3-70b")->config, {});
  for (auto _ : state) benchmark::DoNotOptimize(graph->layers[1].backward.structure_hash());
}
BENCHMARK(hash_a_block);

}  // namespace
}  // namespace phaze::workload
