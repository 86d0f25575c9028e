#include "phaze/exports/run_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "phaze/base/nearest.h"
#include "phaze/exports/quote.h"

namespace phaze::exports {
namespace {

constexpr std::string_view kHeader =
    "chip,tensor_cores,rows,cols,vector_cores,lanes,global_buffer_bytes,hbm_bandwidth,clock_hz,area_um2,tdp_watts,fate,"
    "level,bound,"
    "score,reason,model,seconds_per_batch,throughput,tensor_parallel,sequence_parallel,microbatch,pipeline,data_"
    "parallel,"
    "interleave,zero,peak_memory_bytes,hbm_bytes\n";

Result<std::string> chosen_model(run_db::Reader& run, const std::string& wanted) {
  const auto models = run.models();
  if (!models) return models.error();
  std::vector<std::string> names;
  names.reserve(models->size());
  for (const run_db::ModelRow& model : *models) names.push_back(model.name);
  if (std::ranges::find(names, wanted) != names.end()) return wanted;
  if (!wanted.empty()) return Error{"the run has no model '" + wanted + "'", "--model", suggest(wanted, names)};
  if (names.size() == 1) return names.front();
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return Error{"the run has several models", "--model", "choose one of: " + list};
}

// Chips found without a name are told by their cores.
std::string name_of(const hardware::Chip& chip) {
  return fmt::format("{}x{}x{}-{}x{}", chip.tensor_cores.count, chip.tensor_cores.rows, chip.tensor_cores.cols,
                     chip.vector_cores.count, chip.vector_cores.lanes);
}

}  // namespace

Result<RunPlan> read_run_plan(run_db::Reader& run, const std::string& model) {
  const auto name = chosen_model(run, model);
  if (!name) return name.error();
  auto text = run.artefact(0, "plan", *name);
  if (!text) return text.error();
  if (!*text)
    return Error{"the run holds no plan of '" + *name + "'", run.path(),
                 "it found no chip, or was stopped before; see 'phaze search --resume'"};
  auto plan = read_plan(**text);
  if (!plan) return within(run.path() + ": plan of '" + *name + "'", plan.error());
  if (!plan->chip) {
    const auto best = run.best(0);
    if (!best) return best.error();
    const auto chips = run.chips();
    if (!chips) return chips.error();
    if (!best->empty() && static_cast<std::size_t>(best->front().chip) < chips->size()) {
      plan->chip = (*chips)[static_cast<std::size_t>(best->front().chip)].chip;
      plan->chip->name = name_of(*plan->chip);
    }
  }
  return RunPlan{std::move(*plan), std::move(**text)};
}

Result<Exported> evaluations_csv(run_db::Reader& run) {
  const auto models = run.models();
  if (!models) return models.error();
  const auto chips = run.chips();
  if (!chips) return chips.error();
  const auto fates = run.fates(0);
  if (!fates) return fates.error();
  const auto evaluations = run.evaluations();
  if (!evaluations) return evaluations.error();
  std::multimap<std::int64_t, const run_db::EvaluationRow*> by_chip;
  for (const run_db::EvaluationRow& row : *evaluations) by_chip.emplace(row.chip, &row);

  Exported out{.text = std::string(kHeader)};
  const auto to = std::back_inserter(out.text);
  for (const run_db::FateRow& fate : *fates) {
    if (fate.chip < 0 || static_cast<std::size_t>(fate.chip) >= chips->size())
      return Error{fmt::format("chip {} has a fate but no row", fate.chip), run.path() + ": table fates"};
    const run_db::ChipRow& row = (*chips)[static_cast<std::size_t>(fate.chip)];
    const hardware::Chip& chip = row.chip;
    const std::string start = fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", fate.chip, chip.tensor_cores.count, chip.tensor_cores.rows,
        chip.tensor_cores.cols, chip.vector_cores.count, chip.vector_cores.lanes, chip.global_buffer.value(),
        chip.hbm_bandwidth, chip.clock_hz, row.area_um2, row.tdp_watts, csv_field(fate.fate), csv_field(fate.level),
        fate.bound, fate.score ? fmt::format("{}", *fate.score) : std::string(), csv_field(fate.reason));
    const auto [first, last] = by_chip.equal_range(fate.chip);
    if (first == last) fmt::format_to(to, "{},,,,,,,,,,,,\n", start);
    for (auto it = first; it != last; ++it) {
      const run_db::EvaluationRow& plan = *it->second;
      if (plan.model < 0 || static_cast<std::size_t>(plan.model) >= models->size())
        return Error{fmt::format("model {} is evaluated but has no row", plan.model),
                     run.path() + ": table evaluations"};
      const run_db::ModelRow& model = (*models)[static_cast<std::size_t>(plan.model)];
      fmt::format_to(to, "{},{},{},{},{},{},{},{},{},{},{},{},{}\n", start, csv_field(model.name), plan.seconds,
                     static_cast<double>(model.global_batch) / plan.seconds, plan.tensor_parallel,
                     plan.sequence_parallel ? 1 : 0, plan.microbatch, plan.pipeline, plan.data_parallel,
                     plan.interleave, plan.zero, plan.peak_memory, plan.hbm_bytes);
    }
  }
  return out;
}

}  // namespace phaze::exports
