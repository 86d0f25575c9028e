// What a run database holds, as values. The tables are described in docs/run-database.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "phaze/hardware/chip.h"

namespace phaze::run_db {

enum class RunStatus : std::uint8_t {
  kRunning,   // or ended without a word: kill -9, a crash, a power cut
  kStopped,   // by Ctrl-C or a time limit
  kFinished,  // every chip is accounted for
};
const char* to_string(RunStatus status);

// A file or preset that the answer depends on, by its content.
struct Input {
  std::string kind;  // "model", "space", "network", "baseline"
  std::string name;  // as the user wrote it
  std::string hash;  // of the content, 32 hexadecimal digits (XXH3, 128 bits)
  bool operator==(const Input&) const = default;
};

// What run this is. Two runs with equal version, settings and inputs have the same answer.
struct Description {
  std::string phaze_version;
  std::vector<std::string> arguments;           // the whole command line, for people
  std::map<std::string, std::string> settings;  // flag → value, only what the answer depends on
  std::vector<Input> inputs;
  bool operator==(const Description&) const = default;
};

struct ModelRow {
  std::string name;
  double weight = 1;
  double baseline_throughput = 1;  // samples per second on the baseline chip; 1: no baseline
  std::int64_t sequence = 0;       // tokens per sample
  std::int64_t global_batch = 0;   // samples
  double parameters = 0;
  double flops_per_sample = 0;
  bool operator==(const ModelRow&) const = default;
};

struct ChipRow {
  hardware::Chip chip;  // its dimensions; name, network and calibration are those of the space and not kept
  double area_um2 = 0;
  double tdp_watts = 0;
  bool operator==(const ChipRow&) const = default;
};

// One search over all chips: for all models together, or for one of them alone.
struct SearchRow {
  std::int64_t search = 0;           // number, in the order in which they ran
  std::vector<std::int64_t> models;  // numbers
  RunStatus status = RunStatus::kRunning;
  std::int64_t evaluated = 0, pruned = 0, infeasible = 0, open = 0;
  bool optimal = false;
  double gap = 0;  // infinite where nothing is known
  bool operator==(const SearchRow&) const = default;
};

// What became of a chip in a search.
struct FateRow {
  std::int64_t search = 0;
  std::int64_t chip = 0;
  std::string fate;   // "evaluated", "pruned", "infeasible", "open"
  std::string level;  // of the bound: "roofline", ...
  double bound = 0;   // the score is no higher
  std::optional<double> score;
  std::string reason;  // of infeasible chips
  bool operator==(const FateRow&) const = default;
};

// The answer of a search: chips by rank, or the Pareto front.
struct BestRow {
  std::int64_t search = 0;
  std::int64_t rank = 0;  // from 0
  std::int64_t chip = 0;
  double score = 0;
  bool operator==(const BestRow&) const = default;
};

// The best plan of a model on a chip, in short.
struct EvaluationRow {
  std::int64_t chip = 0;
  std::int64_t model = 0;
  double seconds = 0;              // per batch
  double least_seconds = 0;        // below it where a schedule is not proven optimal
  std::int64_t configuration = 0;  // of the workload
  std::int64_t tensor_parallel = 1;
  bool sequence_parallel = false;
  std::int64_t microbatch = 1;
  std::int64_t pipeline = 1;
  std::int64_t data_parallel = 1;
  std::int64_t interleave = 1;
  std::int64_t zero = 0;
  double peak_memory = 0;      // bytes on the fullest device
  std::int64_t hbm_bytes = 0;  // the least capacity on offer that holds the plan
  bool operator==(const EvaluationRow&) const = default;
};

// A document: the whole answer, the winner's plan for a model, its sensitivity, ...
struct Artefact {
  std::int64_t search = 0;
  std::string name;   // "answer", "chip", "plan", ...
  std::string model;  // empty: of no model in particular
  std::string json;
  bool operator==(const Artefact&) const = default;
};

// How far the search for one model on one chip has come; opaque here. Only chips that are under way have one.
struct StateRow {
  std::int64_t chip = 0;
  std::int64_t model = 0;
  std::string state;
  bool operator==(const StateRow&) const = default;
};

// What is written together, or not at all. Rows replace those with the same key.
struct Batch {
  std::vector<SearchRow> searches;
  std::vector<FateRow> fates;
  std::vector<EvaluationRow> evaluations;
  std::vector<StateRow> states;
  std::vector<BestRow> best;  // of a search named here, all former ranks are replaced
  std::vector<Artefact> artefacts;
  std::optional<RunStatus> status;  // of the whole run
  std::optional<double> seconds;    // that the run took so far
};

}  // namespace phaze::run_db
