#include "phaze/placement/phaze2024/solve.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "phaze/base/check.h"
#include "phaze/placement/phaze2024/chain_stages.h"
#include "phaze/placement/phaze2024/graph.h"
#include "phaze/placement/phaze2024/pipeline_search.h"

namespace phaze::placement::phaze2024 {
namespace {

// How many of s stages can be single, for every s. In a chain, single stages lie in the runs of nodes between the
// tensor-parallel ones, each at most as many as the run is long; and if q runs that have tensor-parallel nodes on both
// sides hold any, at least q + 1 stages are not single. The longest runs hold most.
std::vector<std::size_t> most_single_stages(const Graph& graph, bool chain) {
  const std::size_t nodes = graph.size();
  std::vector<std::size_t> most(nodes + 1, 0);
  const auto others = static_cast<std::size_t>(std::ranges::count(graph.split, false));
  if (graph.width == 1 || others == 0) return most;
  const bool any_split = others < nodes;
  std::size_t outside = others;   // nodes of runs that begin or end the chain
  std::vector<std::size_t> runs;  // lengths of all others
  if (chain && any_split) {
    outside = 0;
    std::size_t run = 0;
    bool inside = false;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (!graph.split[i]) {
        ++run;
        continue;
      }
      if (inside && run > 0) runs.push_back(run);
      if (!inside) outside += run;
      inside = true;
      run = 0;
    }
    outside += run;
    std::ranges::sort(runs, std::greater<>());
  }
  const std::size_t split_stages = any_split ? 1 : 0;
  for (std::size_t s = 1; s <= nodes; ++s) {
    std::size_t held = outside;
    most[s] = std::min(held, s - split_stages);
    for (std::size_t q = 1; q <= runs.size() && s > q; ++q) {
      held += runs[q - 1];
      most[s] = std::max(most[s], std::min(held, s - q - 1));
      if (held >= s - q - 1) break;
    }
  }
  return most;
}

Work work_of(const Instance& instance, const Graph& graph, bool chain) {
  Work work{.width = graph.width, .nodes = graph.size(), .recompute = instance.recompute};
  work.most_single = most_single_stages(graph, chain);
  const auto add = [&](Work::Sum& sum, auto seconds) {
    double single = 0;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      sum.total += seconds(i);
      sum.heaviest = std::max(sum.heaviest, seconds(i));
      // In a chain a single stage lies between two tensor-parallel nodes; in general it may hold all others.
      if (graph.split[i] && chain) single = 0;
      if (!graph.split[i]) single += seconds(i);
      sum.single = std::max(sum.single, single);
    }
  };
  add(work.plain, [&](std::size_t i) { return graph.forward[i] + graph.backward[i]; });
  add(work.recomputing, [&](std::size_t i) { return 2 * graph.forward[i] + graph.backward[i]; });
  // A cut of a chain breaks the edge between two neighbours: the one behind waits for its input, the one before for its
  // gradient, unless it recomputes meanwhile. Different cuts break different edges.
  work.cuts.assign(graph.size(), 0);
  if (!chain) return work;
  for (std::size_t i = 1; i < graph.size(); ++i)
    work.cuts[i] = graph.inputs[i].back().seconds * (instance.recompute ? 1 : 2);
  std::sort(work.cuts.begin() + 1, work.cuts.end());
  std::partial_sum(work.cuts.begin(), work.cuts.end(), work.cuts.begin());
  return work;
}

class Solver {
 public:
  Solver(const Instance& instance, const Options& options, Progress& progress)
      : instance_(instance),
        options_(options),
        progress_(progress),
        order_(topological_order(instance)),
        degrees_(data_parallel_degrees(instance)),
        time_(options.below) {}

  Solution run() {
    std::vector<Graph> graphs;
    graphs.reserve(instance_.widths.size());
    for (const Width& width : instance_.widths) graphs.push_back(make_graph(instance_, width, order_));
    const bool chain = graphs.front().is_chain() && options_.use_chain_solver;
    solution_.statistics.chain = chain;
    // By what they promise, so that widths that promise too little are not looked into.
    struct Promise {
      const Graph* graph;
      Work work;
      Bounds bounds;
    };
    std::vector<Promise> promises;
    for (const Graph& graph : graphs) {
      Work work = work_of(instance_, graph, chain);
      Bounds bounds(work, degrees_);
      promises.push_back({&graph, std::move(work), std::move(bounds)});
    }
    std::ranges::stable_sort(promises, {}, [](const Promise& promise) { return promise.bounds.least_time(); });
    for (const auto& [graph, work, bounds] : promises) {
      if (bounds.least_time() >= time_) break;
      if (chain)
        solve_chain(*graph, work, bounds);
      else
        solve_any(*graph, work, bounds);
      if (stopped_) return {.termination = Termination::kStopped};
    }
    if (options_.expert) solution_.expert = evaluate_expert(instance_, order_);
    if (solution_.plan) {
      solution_.termination = limited_ ? Termination::kLimit : Termination::kOptimal;
      accept();
    } else {
      solution_.termination = limited_ ? Termination::kLimit : Termination::kInfeasible;
      if (options_.explain) {
        solution_.shortage = explain_shortage(instance_, order_, graphs, options_.stage_limit, progress_);
        if (!solution_.shortage) return {.termination = Termination::kStopped};
      }
    }
    return std::move(solution_);
  }

 private:
  template <typename Stages, typename NodesBetween>
  void search(const Stages& stages, const Graph& graph, const Work& work, const Bounds& bounds,
              NodesBetween nodes_between) {
    PipelineSearch<Stages> search(stages, work, bounds, degrees_);
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

  void solve_chain(const Graph& graph, const Work& work, const Bounds& bounds) {
    search(ChainStages(instance_, graph), graph, work, bounds, [](std::uint32_t from, std::uint32_t to, auto take) {
      for (std::uint32_t i = from; i < to; ++i) take(i);
    });
  }

  void solve_any(const Graph& graph, const Work& work, const Bounds& bounds) {
    const StageList list(instance_, graph, instance_.memory_per_device, options_.stage_limit, progress_);
    stopped_ = list.stopped();
    if (stopped_) return;
    limited_ = limited_ || !list.complete();
    search(list, graph, work, bounds, [&](std::uint32_t from, std::uint32_t to, auto take) {
      for (const std::uint32_t i : list.nodes_between(from, to)) take(i);
    });
  }

  // Nothing leaves before the checker has agreed.
  void accept() {
    solution_.evaluation = evaluate(instance_, *solution_.plan);
    check(solution_.evaluation.violations.empty(), "the plan keeps the rules");
    check(std::abs(solution_.evaluation.time_per_batch - time_) <= 1e-9 * time_ + 1e-200,
          "the plan takes what the search says");
  }

  const Instance& instance_;
  const Options& options_;
  Progress& progress_;
  const std::vector<std::int64_t> order_;
  const std::vector<Degree> degrees_;
  double time_;
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
