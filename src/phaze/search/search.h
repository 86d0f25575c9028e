// The best chip of many for one or several models, with the account of every chip.
//
//   Problem problem{.chips = chips, .workloads = workloads, .devices = 1024, .network = network};
//   Search search(problem, {});
//   const Result<Outcome> best = search.run({0}, progress);
//
// Every chip has an upper bound on its score, from the bounds of its models (chip_search.h). In rounds, the chips with
// the highest bounds go up one level each; a chip that reaches the last level is evaluated, and one whose bound cannot
// be among the answer (selection.h) is pruned. The size of a round follows from the number of chips that are left, and
// the incumbent changes only between rounds, so that neither the answer nor any count depends on who does the work
// (executor.h). A chip that is evaluated, but whose bound is still above the incumbent because schedules of its layers
// are not proven optimal, waits until nothing else is left, and is then evaluated again with more effort. Ties go to
// the chip with the lower number: a bound that equals the incumbent's score prunes only chips behind it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/base/result.h"
#include "phaze/search/chip_search.h"
#include "phaze/search/executor.h"
#include "phaze/search/level.h"
#include "phaze/search/problem.h"
#include "phaze/search/selection.h"

namespace phaze::search {

class Ledger;

// What a limit of seconds holds for.
enum class Limit : std::uint8_t {
  kAllRuns,  // of a search together, from the moment it is made
  kEachRun,
};

struct Options {
  unsigned threads = 0;     // 0: all cores
  bool exhaustive = false;  // evaluate all chips whatever their bounds: the same answer
  std::size_t keep = 1;     // the best so many chips, proven; of a Pareto front all are kept
  double seconds = std::numeric_limits<double>::infinity();
  Limit limit = Limit::kAllRuns;
  Ledger* ledger = nullptr;  // keeps what is found, and knows what was found before; must outlive the search
  std::function<std::unique_ptr<Executor>(Work)> executor = {};  // who does the work; empty: threads
};

enum class Fate : std::uint8_t { kOpen, kEvaluated, kPruned, kInfeasible };
const char* to_string(Fate fate);

struct ChipRecord {
  Fate fate = Fate::kOpen;
  Level level = Level::kRoofline;  // of the bound
  double bound = 0;                // the score is no higher
  double score = 0;                // of evaluated chips
  std::string reason;              // of infeasible chips
};

struct Outcome {
  std::vector<Ranked> best;  // the best first
  std::vector<ChipRecord> chips;
  std::int64_t evaluated = 0, pruned = 0, infeasible = 0, open = 0;
  std::array<std::int64_t, kLevels> pruned_at = {};
  std::string reason;    // where every chip is infeasible: that of the chip with the most memory, the first of equals
  bool optimal = false;  // every chip accounted for, and no bound above the answer, which may be that there is none
  double gap = 0;        // the best chip may be better by this fraction, 0 where optimal
  bool stopped = false;  // by the time limit, or from outside
};

class Search {
 public:
  // The problem must outlive it.
  Search(const Problem& problem, const Options& options);
  ~Search();

  // Over these models. Searches over other models of the same problem reuse what was found. An error where the ledger
  // cannot be written or read, or a process of the executor fails.
  // `first` are chips that are known to be good: they are evaluated before all others, so that much is pruned from the
  // beginning. The answer is the same without them, apart from a search that is stopped.
  Result<Outcome> run(const std::vector<std::size_t>& models, Progress& progress,
                      const std::vector<std::size_t>& first = {});

  // No chip is better for several models than the best there is for each alone. Where these have been searched for, the
  // outcome of an earlier run (they count from 0) is brought up to date, if it is complete: bounds of its chips go down
  // to that, and its gap with them.
  Status tighten(std::size_t run, Outcome& outcome);

  // The plans of a chip for a model, the best first; empty where there is none.
  ChipSearch::Planned plans(std::size_t chip, std::size_t model, std::size_t keep);
  double throughput(std::size_t chip, std::size_t model);
  // Bytes on the fullest device of the fastest plan; 0 where there is none.
  double peak_memory(std::size_t chip, std::size_t model);

  struct State;

 private:
  const std::optional<Evaluation>& evaluation(std::size_t chip, std::size_t model);

  std::unique_ptr<State> state_;
};

}  // namespace phaze::search
