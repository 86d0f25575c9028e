// How long the layers of the zoo take to schedule, under both models, over chips drawn from the 2024 space.
//
// Work is limited to 2,000 units a layer, so that the few hard ones do not take over; what that leaves open is counted.
// Durations come from a roofline over cores and bandwidth, just good enough to give operators realistic proportions.
// The table at the end of each run says how often the solver proved its schedule, and the distribution of times.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <variant>

#include "phaze/base/hash.h"
#include "phaze/hardware/design_space.h"
#include "phaze/schedule/solve.h"
#include "phaze/workload/load.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::schedule {
namespace {

using hardware::Chip;

enum class Model : std::uint8_t { kPhaze, kMoldable };

// Seconds of an operator on some cores: the largest of array, lane and memory time. Arrays lose what their edges waste.
class Roofline {
 public:
  Roofline(const Chip& chip, const workload::OpGraph& graph) : chip_(chip), graph_(graph) {}

  struct Needs {
    bool tensor = false, vector = false, network = false;
  };
  Needs needs(workload::OpId op) const {
    const auto& work = graph_.op(op).work;
    if (workload::is_nop(work)) return {};
    if (std::holds_alternative<workload::Collective>(work)) return {.network = true};
    if (std::holds_alternative<workload::VectorWork>(work)) return {.vector = true};
    return {.tensor = true, .vector = !graph_.fused(op).empty()};
  }

  double memory_seconds(workload::OpId op) const {
    return static_cast<double>((graph_.read_bytes(op) + graph_.written_bytes(op)).value()) / chip_.hbm_bandwidth;
  }

  double seconds(workload::OpId op, std::int64_t tensor_cores, std::int64_t vector_cores) const {
    const auto& work = graph_.op(op).work;
    if (workload::is_nop(work)) return 0;
    if (const auto* collective = std::get_if<workload::Collective>(&work))
      return 2.0 * static_cast<double>(collective->bytes.value()) / 300e9 + 5e-6;
    double lanes = 0;
    if (const auto* vector = std::get_if<workload::VectorWork>(&work)) lanes += static_cast<double>(vector->elements());
    for (const auto& fused : graph_.fused(op)) lanes += static_cast<double>(fused.elements());
    const double lane_seconds =
        lanes / static_cast<double>(chip_.vector_cores.lanes * std::max<std::int64_t>(1, vector_cores)) /
        chip_.clock_hz;
    return std::max({array_seconds(op, tensor_cores), lane_seconds, memory_seconds(op)});
  }

 private:
  double array_seconds(workload::OpId op, std::int64_t cores) const {
    const auto& array = chip_.tensor_cores;
    const auto& work = graph_.op(op).work;
    if (const auto* gemm = std::get_if<workload::Gemm>(&work)) {
      // Tiles of rows x cols outputs, dealt out to the cores; filling the array costs rows + cols cycles a tile.
      const std::int64_t tiles = gemm->batch * ceil_divide(gemm->m, array.rows) * ceil_divide(gemm->n, array.cols);
      return static_cast<double>(ceil_divide(tiles, cores)) * static_cast<double>(gemm->k + array.rows + array.cols) /
             chip_.clock_hz;
    }
    return static_cast<double>(workload::matrix_flops(work).value()) /
           static_cast<double>(2 * array.rows * array.cols * cores) / chip_.clock_hz;
  }

  const Chip& chip_;
  const workload::OpGraph& graph_;
};

void fill(Model model, const workload::OpGraph& graph, const Chip& chip, Instance& instance) {
  const auto tensor = static_cast<double>(chip.tensor_cores.count),
             vector = static_cast<double>(chip.vector_cores.count);
  instance.clear();
  const Roofline roofline(chip, graph);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const workload::OpId op(i);
    instance.add_op(graph.name(op));
    const auto needs = roofline.needs(op);
    const std::int64_t most =
        std::max(needs.tensor ? chip.tensor_cores.count : 1, needs.vector ? chip.vector_cores.count : 1);
    if (!needs.tensor && !needs.vector) {
      const double network = needs.network ? 1 : 0;
      if (model == Model::kPhaze)
        instance.add_mode(roofline.seconds(op, 1, 1), std::array{0.0, 0.0, network});
      else
        instance.add_mode(roofline.seconds(op, 1, 1), std::array{0.0, 0.0, 0.0, network});
    } else if (model == Model::kPhaze) {
      instance.add_mode(roofline.seconds(op, 1, 1),
                        std::array{needs.tensor ? 1.0 : 0.0, needs.vector ? 1.0 : 0.0, 0.0});
      if (most > 1)
        instance.add_mode(roofline.seconds(op, chip.tensor_cores.count, chip.vector_cores.count),
                          std::array{tensor, vector, 1.0});
    } else {
      for (std::int64_t cores = 1;; cores = std::min(2 * cores, most)) {
        const std::int64_t tensor_cores = std::min(cores, chip.tensor_cores.count);
        const std::int64_t vector_cores = std::min(cores, chip.vector_cores.count);
        const double seconds = roofline.seconds(op, tensor_cores, vector_cores);
        const double share = seconds > 0 ? std::min(1.0, roofline.memory_seconds(op) / seconds) : 0;
        instance.add_mode(seconds, std::array{needs.tensor ? static_cast<double>(tensor_cores) : 0,
                                              needs.vector ? static_cast<double>(vector_cores) : 0, share, 0.0});
        if (cores == most) break;
      }
    }
    for (const workload::OpId before : graph.predecessors(op)) instance.add_edge(OpId(before.index()), OpId(i));
  }
}

std::vector<workload::OpGraph> zoo_layers() {
  std::vector<workload::OpGraph> graphs;
  for (const std::string& name : workload::zoo_names())
    for (const std::int64_t width : {1, 2, 4, 8}) {
      const auto entry = workload::zoo_entry(name);
      const auto graph = workload::build(entry->config, {.parallel = {width, false}});
      if (!graph) continue;  // heads that this width does not divide
      for (const auto& layer : graph->layers) {
        graphs.push_back(layer.forward);
        graphs.push_back(layer.backward);
      }
    }
  return graphs;
}

std::vector<Chip> drawn_chips(std::size_t count) {
  std::vector<Chip> all, drawn;
  hardware::phaze_space().for_each_kept([&](const Chip& chip) {
    all.push_back(chip);
    return true;
  });
  for (std::size_t i = 0; i < count; ++i) drawn.push_back(all[mix(2024 + i) % all.size()]);
  return drawn;
}

void zoo_layers_on_drawn_chips(benchmark::State& state) {
  const auto model = static_cast<Model>(state.range(0));
  const auto graphs = zoo_layers();
  const auto chips = drawn_chips(50);
  Instance instance;
  Solver solver;
  std::vector<double> micros;
  double gaps = 0, worst_gap = 0;
  std::uint64_t unproven = 0;
  for (auto _ : state) {
    micros.clear();
    for (const Chip& chip : chips) {
      instance.resources = {{"tc", static_cast<double>(chip.tensor_cores.count)},
                            {"vc", static_cast<double>(chip.vector_cores.count)}};
      if (model == Model::kMoldable) instance.resources.push_back({"hbm", 1});
      instance.resources.push_back({"net", 1});
      for (const auto& graph : graphs) {
        fill(model, graph, chip, instance);
        const auto start = std::chrono::steady_clock::now();
        Stop stop({.work = 2'000});
        const Solution& solution = solver.solve(instance, stop);
        micros.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
        benchmark::DoNotOptimize(solution.schedule.makespan);
        if (solution.proof == Proof::kOptimal) continue;
        ++unproven;
        gaps += solution.gap();
        worst_gap = std::max(worst_gap, solution.gap());
      }
    }
  }
  std::ranges::sort(micros);
  double total = 0;
  for (const double time : micros) total += time;
  const auto at = [&](double quantile) {
    return micros[static_cast<std::size_t>(quantile * static_cast<double>(micros.size() - 1))];
  };
  state.counters["layers"] = static_cast<double>(micros.size());
  state.counters["mean_us"] = total / static_cast<double>(micros.size());
  state.counters["median_us"] = at(0.5);
  state.counters["p99_us"] = at(0.99);
  state.counters["p99.9_us"] = at(0.999);
  state.counters["worst_us"] = micros.back();
  state.counters["unproven"] = static_cast<double>(unproven);
  state.counters["mean_gap"] = unproven > 0 ? gaps / static_cast<double>(unproven) : 0;
  state.counters["worst_gap"] = worst_gap;
}
BENCHMARK(zoo_layers_on_drawn_chips)
    ->Arg(static_cast<int>(Model::kPhaze))
    ->Arg(static_cast<int>(Model::kMoldable))
    ->ArgName("model")
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

// A chain has no block to solve: what remains is the fixed cost of an instance.
void chain_of_twenty(benchmark::State& state) {
  Instance instance;
  instance.resources = {{"tc", 8}};
  for (int i = 0; i < 20; ++i) {
    const OpId op = instance.add_op("op");
    instance.add_mode(1.0 + i, std::array{8.0});
    instance.add_mode(7.0 + i, std::array{1.0});
    if (i > 0) instance.add_edge(OpId(op.index() - 1), op);
  }
  Solver solver;
  for (auto _ : state) {
    Stop stop;
    benchmark::DoNotOptimize(solver.solve(instance, stop).schedule.makespan);
  }
}
BENCHMARK(chain_of_twenty);

}  // namespace
}  // namespace phaze::schedule
