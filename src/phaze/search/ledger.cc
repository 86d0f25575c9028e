#include "phaze/search/ledger.h"

#include <array>

#include "phaze/hardware/area.h"
#include "phaze/hardware/power.h"
#include "phaze/run_db/reader.h"

namespace phaze::search {
namespace {

constexpr std::chrono::milliseconds kBetweenEntries(250);

std::int64_t whole(std::size_t value) { return static_cast<std::int64_t>(value); }

Status write_problem(run_db::Writer& writer, const Problem& problem) {
  std::vector<run_db::ModelRow> models;
  for (std::size_t i = 0; i < problem.workloads.size(); ++i) {
    const layer_times::Workload& workload = problem.workloads[i];
    models.push_back({.name = workload.model,
                      .weight = problem.weights.empty() ? 1 : problem.weights[i],
                      .baseline_throughput = problem.baseline.empty() ? 1 : problem.baseline[i],
                      .sequence = workload.sequence,
                      .global_batch = workload.training.global_batch,
                      .parameters = workload.parameters,
                      .flops_per_sample = workload.flops_per_sample});
  }
  std::vector<run_db::ChipRow> chips;
  chips.reserve(problem.chips.size());
  for (const hardware::Chip& chip : problem.chips)
    chips.push_back({.chip = chip,
                     .area_um2 = hardware::area(chip, problem.area_model).total,
                     .tdp_watts = hardware::thermal_design_power(chip).total});
  return writer.write_problem(models, chips);
}

template <typename Enum, std::size_t N>
std::optional<Enum> named(const std::array<Enum, N>& values, const std::string& name) {
  for (const Enum value : values)
    if (name == to_string(value)) return value;
  return std::nullopt;
}

run_db::FateRow fate_row(std::size_t search, std::size_t chip, const ChipRecord& record) {
  run_db::FateRow row{.search = whole(search),
                      .chip = whole(chip),
                      .fate = to_string(record.fate),
                      .level = to_string(record.level),
                      .bound = record.bound,
                      .reason = record.reason};
  if (record.score > 0) row.score = record.score;
  return row;
}

}  // namespace

Result<Ledger> Ledger::open(const std::string& path, bool resume, const run_db::Description& description,
                            const Problem& problem) {
  using Mode = run_db::Writer::Mode;
  auto writer = run_db::Writer::open(path, resume ? Mode::kResume : Mode::kNew, description);
  if (!writer) return writer.error();
  if (writer->fresh())
    if (auto status = write_problem(*writer, problem); !status) return status.error();
  const auto summary = run_db::read_summary(writer->database());
  if (!summary) return summary.error();
  return Ledger(std::move(*writer), problem, summary->seconds);
}

double Ledger::seconds() const {
  return seconds_before_ + std::chrono::duration<double>(Clock::now() - started_).count();
}

Result<std::vector<Ledger::SavedState>> Ledger::states() {
  auto rows = run_db::read_states(writer_.database());
  if (!rows) return rows.error();
  std::vector<SavedState> states;
  states.reserve(rows->size());
  for (run_db::StateRow& row : *rows)
    states.push_back({static_cast<std::size_t>(row.chip), static_cast<std::size_t>(row.model), std::move(row.state)});
  return states;
}

Result<Ledger::SavedSearch> Ledger::search(std::size_t search) {
  SavedSearch saved;
  auto searches = run_db::read_searches(writer_.database());
  if (!searches) return searches.error();
  for (const run_db::SearchRow& row : *searches)
    if (row.search == whole(search)) saved.ended = row.status == run_db::RunStatus::kFinished;
  auto rows = run_db::read_fates(writer_.database(), whole(search));
  if (!rows) return rows.error();
  constexpr std::array kFates = {Fate::kOpen, Fate::kEvaluated, Fate::kPruned, Fate::kInfeasible};
  std::array<Level, kLevels> levels = {};
  for (std::size_t i = 0; i < kLevels; ++i) levels[i] = static_cast<Level>(i);
  for (run_db::FateRow& row : *rows) {
    const auto fate = named(kFates, row.fate);
    const auto level = named(levels, row.level);
    const auto chip = static_cast<std::size_t>(row.chip);
    if (!fate || !level || chip >= problem_->chips.size())
      return Error{"its fate of chip " + std::to_string(row.chip) + " is damaged", writer_.database().path(),
                   "run the search again with another --out"};
    saved.records.emplace_back(chip, ChipRecord{.fate = *fate,
                                                .level = *level,
                                                .bound = row.bound,
                                                .score = row.score.value_or(0),
                                                .reason = std::move(row.reason)});
  }
  return saved;
}

Status Ledger::write(const Entry& entry) {
  const Outcome& outcome = *entry.outcome;
  run_db::SearchRow search{.search = whole(entry.search),
                           .status = entry.status,
                           .evaluated = outcome.evaluated,
                           .pruned = outcome.pruned,
                           .infeasible = outcome.infeasible,
                           .open = outcome.open,
                           .optimal = outcome.optimal,
                           .gap = outcome.gap};
  for (const std::size_t model : *entry.models) search.models.push_back(whole(model));
  run_db::Batch batch{.searches = {std::move(search)}, .status = run_db::RunStatus::kRunning, .seconds = seconds()};
  batch.fates.reserve(entry.records.size());
  for (const std::size_t chip : entry.records) batch.fates.push_back(fate_row(entry.search, chip, outcome.chips[chip]));
  batch.states.reserve(entry.states.size());
  for (const auto& [chip, model, state] : entry.states) {
    batch.states.push_back({whole(chip), whole(model), state->saved});
    if (!state->evaluation) continue;
    const Evaluation& found = *state->evaluation;
    const workload::LayerGraph& graph = problem_->workloads[model].graphs[found.configuration];
    batch.evaluations.push_back({.chip = whole(chip),
                                 .model = whole(model),
                                 .seconds = found.seconds,
                                 .least_seconds = found.least_seconds,
                                 .configuration = whole(found.configuration),
                                 .tensor_parallel = graph.parallel.width,
                                 .sequence_parallel = graph.parallel.sequence,
                                 .microbatch = graph.microbatch,
                                 .pipeline = found.strategy.pipeline,
                                 .data_parallel = found.strategy.data_parallel,
                                 .interleave = found.strategy.interleave,
                                 .zero = found.strategy.zero,
                                 .peak_memory = found.peak_memory,
                                 .hbm_bytes = least_hbm(*problem_, chip, found.peak_memory).value()});
  }
  for (std::size_t rank = 0; rank < outcome.best.size(); ++rank)
    batch.best.push_back({whole(entry.search), whole(rank), whole(outcome.best[rank].chip), outcome.best[rank].score});
  next_ = Clock::now() + kBetweenEntries;
  return writer_.commit(batch);
}

Status Ledger::finish(std::vector<run_db::Artefact> artefacts, run_db::RunStatus status) {
  auto written = writer_.commit({.artefacts = std::move(artefacts), .status = status, .seconds = seconds()});
  if (!written || status != run_db::RunStatus::kFinished) return written;
  return writer_.finish();
}

}  // namespace phaze::search
