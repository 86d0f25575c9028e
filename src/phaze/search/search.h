// The best chip of many for one or several models, with the account of every chip.
//
//   Problem problem{.chips = chips, .workloads = workloads, .devices = 1024, .network = network};
//   Search search(problem, {});
//   const Outcome best = search.run({.models = {0}}, progress);
//
// Every chip has an upper bound on its score, from the bounds of its models (model_search.h). Rounds of kRound chips,
// the highest bounds first, go up one level each; a chip that reaches the last level is evaluated, and one whose bound
// cannot beat the incumbent is pruned. Rounds have a fixed size and meet between them, so that neither the answer nor
// any count depends on the number of threads. Ties go to the chip with the lower number: a bound that equals the
// incumbent's score prunes only chips behind it.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/hardware/area.h"
#include "phaze/search/model_search.h"

namespace phaze::search {

enum class Objective : std::uint8_t { kThroughput, kPerWatt, kPerArea };
// Several models: the weighted geometric mean of throughputs relative to the baseline's, or the weighted arithmetic
// mean of throughputs, as in 2024. One model: its throughput.
enum class Mean : std::uint8_t { kGeometric, kArithmetic };

struct Problem {
  std::vector<hardware::Chip> chips;
  std::vector<layer_times::Workload> workloads;
  std::vector<double> weights;  // of the workloads; empty: all equal
  std::int64_t devices = 1;
  hardware::Network network;
  std::vector<Bytes> hbm;  // capacities to choose from; empty: the chip's own
  Objective objective = Objective::kThroughput;
  Mean mean = Mean::kGeometric;
  hardware::AreaModel area_model = hardware::AreaModel::kPhaze22;
  std::uint64_t states_per_layer = 2'000;  // of the schedulers; more of them close gaps, fewer are faster
  std::vector<double> baseline;            // throughput of each workload on the baseline chip; empty: one
};

struct Options {
  unsigned threads = 0;     // 0: all cores
  bool exhaustive = false;  // evaluate all chips whatever their bounds: the same answer
  std::size_t keep = 1;     // the best so many chips, proven
  double seconds = std::numeric_limits<double>::infinity();
};

enum class Fate : std::uint8_t { kOpen, kEvaluated, kPruned, kInfeasible };
const char* to_string(Fate fate);

struct ChipRecord {
  Fate fate = Fate::kOpen;
  Level level = Level::kRoofline;  // of the bound
  double bound = 0;                // the score is no higher
  double score = 0;                // of evaluated chips
};

struct Ranked {
  std::size_t chip = 0;
  double score = 0;
  bool operator==(const Ranked&) const = default;
};

struct Outcome {
  std::vector<Ranked> best;  // the best first
  std::vector<ChipRecord> chips;
  std::int64_t evaluated = 0, pruned = 0, infeasible = 0, open = 0;
  std::array<std::int64_t, kLevels> pruned_at = {};
  bool optimal = false;  // every chip accounted for, and no bound above the answer
  double gap = 0;        // the best chip may be better by this fraction, 0 where optimal
  bool stopped = false;  // by the time limit, or from outside
};

class Search {
 public:
  // The problem must outlive it.
  Search(const Problem& problem, const Options& options);
  ~Search();

  // Over these models. Searches over other models of the same problem reuse what was found.
  Result<Outcome> run(const std::vector<std::size_t>& models, Progress& progress);

  // The plans of a chip for a model, the best first; empty where there is none.
  ChipSearch::Planned plans(std::size_t chip, std::size_t model, std::size_t keep);
  // The least capacity of those to choose from that holds the plan.
  Bytes least_hbm(double peak_memory) const;
  double throughput(std::size_t chip, std::size_t model);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace phaze::search
