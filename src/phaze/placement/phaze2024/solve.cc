#include "phaze/placement/phaze2024/solve.h"

#include <algorithm>
#include <cmath>

#include "phaze/base/check.h"
#include "phaze/placement/phaze2024/chain_stages.h"
#include "phaze/placement/phaze2024/graph.h"
#include "phaze/placement/phaze2024/pipeline_search.h"

namespace phaze::placement::phaze2024 {
namespace {

Work work_of(const Instance& instance, const Graph& graph) {
  Work work{.recompute = instance.recompute};
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const double seconds = graph.forward[i] + graph.backward[i];
    work.heaviest = std::max(work.heaviest, seconds);
    work.total += seconds;
    work.with_recompute += seconds + graph.forward[i];
  }
  return work;
}

class Solver {
 public:
  Solver(const Instance& instance, const Options& options, Progress& progress)
      : instance_(instance),
        options_(options),
        progress_(progress),
        order_(topological_order(instance)),
        degrees_(data_parallel_degrees(instance)) {}

  Solution run() {
    std::vector<Graph> graphs;
    for (const Width& width : instance_.widths) graphs.push_back(make_graph(instance_, width, order_));
    solution_.statistics.chain = graphs.front().is_chain() && options_.use_chain_solver;
    for (const Graph& graph : graphs) {
      if (solution_.statistics.chain)
        solve_chain(graph);
      else
        solve_any(graph);
      if (stopped_) return {.termination = Termination::kStopped};
    }
    solution_.expert = evaluate_expert(instance_, order_);
    if (solution_.plan) {
      solution_.termination = limited_ ? Termination::kLimit : Termination::kOptimal;
      accept();
    } else {
      solution_.termination = limited_ ? Termination::kLimit : Termination::kInfeasible;
      if (options_.explain) {
        solution_.shortage = explain_shortage(instance_, graphs, options_.limits, progress_);
        if (!solution_.shortage) return {.termination = Termination::kStopped};
      }
    }
    return std::move(solution_);
  }

 private:
  template <typename Stages, typename NodesBetween>
  void search(const Stages& stages, const Graph& graph, NodesBetween nodes_between) {
    PipelineSearch<Stages> search(stages, work_of(instance_, graph), graph.width, degrees_);
    const auto pipeline = search.run(time_);
    solution_.statistics.rows += search.statistics().rows;
    solution_.statistics.planes += search.statistics().planes;
    if (!pipeline) return;
    time_ = pipeline->time;
    Plan plan{.tensor_parallel = graph.width, .data_parallel = pipeline->data_parallel};
    std::uint32_t from = 0;
    for (const std::uint32_t to : pipeline->states) {
      Stage& stage = plan.stages.emplace_back();
      nodes_between(from, to, [&](std::size_t position) {
        stage.nodes.push_back(order_[position]);
        if (graph.split[position]) stage.devices = graph.width;
      });
      from = to;
    }
    solution_.plan = std::move(plan);
  }

  void solve_chain(const Graph& graph) {
    search(ChainStages(instance_, graph), graph, [](std::uint32_t from, std::uint32_t to, auto take) {
      for (std::uint32_t i = from; i < to; ++i) take(i);
    });
  }

  void solve_any(const Graph& graph) {
    const StageList list(instance_, graph, instance_.memory_per_device, options_.limits, progress_);
    stopped_ = list.stopped();
    if (stopped_) return;
    limited_ = limited_ || !list.complete();
    search(list, graph, [&](std::uint32_t from, std::uint32_t to, auto take) {
      for (const std::uint32_t i : list.nodes_between(from, to)) take(i);
    });
  }

  // Nothing leaves before the checker has agreed.
  void accept() {
    solution_.evaluation = evaluate(instance_, *solution_.plan);
    check(solution_.evaluation.violations.empty(), "the plan keeps the rules");
    check(std::abs(solution_.evaluation.time_per_batch - time_) <= 1e-9 * time_, "the plan takes what the search says");
  }

  const Instance& instance_;
  const Options& options_;
  Progress& progress_;
  const std::vector<std::int64_t> order_;
  const std::vector<Degree> degrees_;
  double time_ = kInfinite;
  bool limited_ = false;
  bool stopped_ = false;
  Solution solution_;
};

}  // namespace

Solution solve(const Instance& instance, const Options& options, Progress& progress) {
  return Solver(instance, options, progress).run();
}

Solution solve(const Instance& instance) {
  NoProgress progress;
  return solve(instance, {}, progress);
}

}  // namespace phaze::placement::phaze2024
