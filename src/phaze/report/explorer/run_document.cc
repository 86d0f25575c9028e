// From a run database to the explorer's document.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "phaze/report/explorer/document.h"
#include "phaze/report/explorer/document_parts.h"
#include "phaze/report/explorer/packed.h"
#include "phaze/report/explorer/timeline.h"
#include "phaze/report/json_text.h"
#include "phaze/run_db/reader.h"
#include "phaze/search/level.h"

namespace phaze::report {
namespace {

using run_db::ChipRow;
using run_db::EvaluationRow;
using run_db::FateRow;
using run_db::ModelRow;
using run_db::SearchRow;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What is read from the database, all of it before anything is written.
struct Run {
  run_db::Description description;
  run_db::Summary summary;
  std::vector<ModelRow> models;
  std::vector<ChipRow> chips;
  std::vector<SearchRow> searches;
  std::vector<FateRow> fates;                      // of search 0
  std::vector<std::vector<run_db::BestRow>> best;  // by search
  std::vector<EvaluationRow> evaluations;
};

// Takes the value of a result, or the first error.
class Fetch {
 public:
  template <typename T>
  void operator()(Result<T> from, T& to) {
    if (error_) return;
    if (from)
      to = std::move(*from);
    else
      error_ = from.error();
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  std::optional<Error> error_;
};

Result<Run> read(run_db::Reader& reader) {
  Run run;
  Fetch fetch;
  fetch(reader.description(), run.description);
  fetch(reader.summary(), run.summary);
  fetch(reader.models(), run.models);
  fetch(reader.chips(), run.chips);
  fetch(reader.searches(), run.searches);
  fetch(reader.evaluations(), run.evaluations);
  if (fetch.error()) return *fetch.error();
  if (run.searches.empty() || run.chips.empty() || run.models.empty())
    return Error{"the search has not begun", reader.path(), "let 'phaze search' go on for a while"};
  fetch(reader.fates(run.searches.front().search), run.fates);
  for (const SearchRow& search : run.searches) fetch(reader.best(search.search), run.best.emplace_back());
  if (fetch.error()) return *fetch.error();
  const auto known = [&](std::int64_t chip) { return chip >= 0 && static_cast<std::size_t>(chip) < run.chips.size(); };
  const bool sound = std::ranges::all_of(run.fates, known, &FateRow::chip) &&
                     std::ranges::all_of(run.evaluations, known, &EvaluationRow::chip) &&
                     std::ranges::all_of(run.best, [&](const auto& rows) {
                       return std::ranges::all_of(rows, known, &run_db::BestRow::chip);
                     });
  if (!sound)
    return Error{"names a chip that is not in it", reader.path(), "the file is damaged; run the search again"};
  return run;
}

std::string setting(const Run& run, const std::string& key, const std::string& otherwise) {
  const auto found = run.description.settings.find(key);
  return found == run.description.settings.end() ? otherwise : found->second;
}

// What the score of the search over all models means.
struct Score {
  std::string label, unit, objective;
};

Score score_of(const Run& run) {
  const std::string objective = setting(run, "--objective", "throughput");
  const std::string per = objective == "throughput-per-tdp"    ? " per watt"
                          : objective == "throughput-per-area" ? " per area"
                                                               : "";
  if (run.models.size() == 1)
    return {"Throughput" + per, per.empty() ? "samples/s" : "score",
            per.empty() ? "samples per second" : "samples per second" + per};
  const bool arithmetic = setting(run, "--mean", "geometric") == "arithmetic";
  return {
      "Score", "score",
      (arithmetic ? "arithmetic mean of throughputs" : "geometric mean of throughput over the baseline chip") + per};
}

std::string models_text(const Run& run) {
  constexpr std::size_t kNamed = 3;
  if (run.models.size() > kNamed) return fmt::format("{} models, one chip", run.models.size());
  std::string text;
  for (const ModelRow& model : run.models) text += (text.empty() ? "" : ", ") + model.name;
  return text;
}

Json search_part(const Run& run) {
  const SearchRow& search = run.searches.front();
  const Score score = score_of(run);
  std::map<std::string, std::int64_t> by;
  for (const FateRow& fate : run.fates)
    if (fate.fate == "pruned") ++by[fate.level];
  Json pruned_by = Json::object();
  // Cheap bounds first, as they are tried.
  for (std::size_t i = 0; i < search::kLevels; ++i)
    if (const auto found = by.find(search::to_string(static_cast<search::Level>(i))); found != by.end()) {
      pruned_by[found->first] = found->second;
      by.erase(found);
    }
  for (const auto& [level, count] : by) pruned_by[level] = count;
  const auto& best = run.best.front();
  return {{"status", run_db::to_string(search.status)},
          {"score", best.empty() ? Json(nullptr) : Json(best.front().score)},
          {"score_label", score.label},
          {"score_unit", score.unit},
          {"objective", score.objective},
          {"optimal", search.optimal},
          {"gap", std::isfinite(search.gap) ? Json(search.gap) : Json(nullptr)},
          {"evaluated", search.evaluated},
          {"pruned", search.pruned},
          {"infeasible", search.infeasible},
          {"open", search.open},
          {"pruned_by", std::move(pruned_by)},
          {"seconds", run.summary.seconds}};
}

Json column(const char* key, const std::string& label, const char* unit, const char* role,
            const std::vector<double>& of) {
  Json json = {{"key", key}, {"label", label}, {"unit", unit}, {"role", role}};
  const bool numbers = std::ranges::none_of(of, [](double value) { return std::isnan(value); });
  if (const Listed few = numbers ? listed(of) : Listed{}; !few.values.empty()) {
    json["values"] = few.values;
    json["codes"] = packed_u8(few.codes);
  } else {
    json["floats"] = packed_f32(of);
  }
  return json;
}

// Throughput of each model where it was evaluated.
std::vector<std::vector<double>> throughputs(const Run& run) {
  std::vector<std::vector<double>> by_model(run.models.size(), std::vector<double>(run.chips.size(), kNone));
  for (const EvaluationRow& row : run.evaluations) {
    const auto model = static_cast<std::size_t>(row.model);
    if (row.model < 0 || model >= run.models.size() || row.seconds <= 0) continue;
    by_model[model][static_cast<std::size_t>(row.chip)] =
        static_cast<double>(run.models[model].global_batch) / row.seconds;
  }
  return by_model;
}

Json columns_part(const Run& run, const Score& score) {
  Json columns = Json::array();
  const auto of = [&](const std::function<double(const ChipRow&)>& value) {
    std::vector<double> values;
    values.reserve(run.chips.size());
    for (const ChipRow& chip : run.chips) values.push_back(value(chip));
    return values;
  };
  const auto add = [&](const char* key, const char* label, const char* unit, const char* role,
                       const std::function<double(const ChipRow&)>& value, bool always = true) {
    const std::vector<double> values = of(value);
    // A property that all chips share is not one of the space.
    if (always || std::ranges::adjacent_find(values, std::not_equal_to{}) != values.end())
      columns.push_back(column(key, label, unit, role, values));
  };
  const auto real = [](auto number) { return static_cast<double>(number); };
  const char* parameter = "parameter";
  add("tensor_cores", "Tensor cores", "count", parameter,
      [&](const ChipRow& r) { return real(r.chip.tensor_cores.count); });
  add("rows", "Array rows", "count", parameter, [&](const ChipRow& r) { return real(r.chip.tensor_cores.rows); });
  add("cols", "Array columns", "count", parameter, [&](const ChipRow& r) { return real(r.chip.tensor_cores.cols); });
  add("vector_cores", "Vector cores", "count", parameter,
      [&](const ChipRow& r) { return real(r.chip.vector_cores.count); });
  add("lanes", "Lanes per vector core", "count", parameter,
      [&](const ChipRow& r) { return real(r.chip.vector_cores.lanes); });
  add("global_buffer_bytes", "Global buffer", "bytes", parameter,
      [&](const ChipRow& r) { return real(r.chip.global_buffer.value()); });
  add(
      "global_buffer_bytes_per_cycle", "Buffer bytes per cycle", "count", parameter,
      [](const ChipRow& r) { return r.chip.global_buffer_bytes_per_cycle; }, false);
  add(
      "core_buffer_bytes", "Buffer per tensor core", "bytes", parameter,
      [&](const ChipRow& r) { return real(r.chip.tensor_core_buffer().value()); }, false);
  add(
      "hbm_bytes", "HBM", "bytes", parameter, [&](const ChipRow& r) { return real(r.chip.hbm.value()); }, false);
  add(
      "hbm_bandwidth", "HBM bandwidth", "bytes/s", parameter, [](const ChipRow& r) { return r.chip.hbm_bandwidth; },
      false);
  add(
      "clock_hz", "Clock", "hz", parameter, [](const ChipRow& r) { return r.chip.clock_hz; }, false);
  add(
      "process_nm", "Process", "nm", parameter, [](const ChipRow& r) { return r.chip.process_nm; }, false);
  add("macs", "Multiply-accumulate units", "count", "metric", [&](const ChipRow& r) { return real(r.chip.macs()); });
  add("area_um2", "Area", "um2", "metric", [](const ChipRow& r) { return r.area_um2; });
  add("tdp_watts", "Thermal design power", "watts", "metric", [](const ChipRow& r) { return r.tdp_watts; });
  std::vector<double> scores(run.chips.size(), kNone), bounds(run.chips.size(), kNone);
  for (const FateRow& fate : run.fates) {
    const auto chip = static_cast<std::size_t>(fate.chip);
    if (fate.score) scores[chip] = *fate.score;
    if (std::isfinite(fate.bound)) bounds[chip] = fate.bound;
  }
  columns.push_back(column("score", score.label, score.unit.c_str(), "metric", scores));
  columns.push_back(column("bound", "Bound", score.unit.c_str(), "metric", bounds));
  if (run.models.size() > 1) {
    const auto by_model = throughputs(run);
    for (std::size_t m = 0; m < run.models.size(); ++m)
      columns.push_back(
          column(fmt::format("model_{}", m).c_str(), run.models[m].name, "samples/s", "metric", by_model[m]));
  }
  return columns;
}

// A byte per chip that says what became of it.
Json outcomes_part(const Run& run, const Json& pruned_by) {
  Json values = Json::array();
  std::map<std::string, std::uint8_t> codes;
  const auto add = [&](const std::string& key, const std::string& label, const char* kind) {
    codes[key] = static_cast<std::uint8_t>(values.size());
    values.push_back({{"key", key}, {"label", label}, {"kind", kind}});
  };
  add("evaluated", "evaluated", "evaluated");
  for (const auto& [level, count] : pruned_by.items()) add("pruned " + level, "pruned by " + level, "pruned");
  add("infeasible", "infeasible", "infeasible");
  add("open", "open", "open");
  std::vector<std::uint8_t> of(run.chips.size(), codes.at("open"));
  for (const FateRow& fate : run.fates) {
    const auto found = codes.find(fate.fate == "pruned" ? "pruned " + fate.level : fate.fate);
    if (found != codes.end()) of[static_cast<std::size_t>(fate.chip)] = found->second;
  }
  return {{"values", std::move(values)}, {"codes", packed_u8(of)}};
}

Json space_part(const Run& run, const Json& pruned_by) {
  const Score score = score_of(run);
  const auto& best = run.best.front();
  return {{"chips", run.chips.size()},           {"winner", best.empty() ? Json(nullptr) : Json(best.front().chip)},
          {"score_label", score.label},          {"score_unit", score.unit},
          {"columns", columns_part(run, score)}, {"outcomes", outcomes_part(run, pruned_by)}};
}

std::string shape(const hardware::Chip& chip) {
  return fmt::format("{} × ({} × {}) tensor, {} × {} vector, {:.4g} MiB", grouped(chip.tensor_cores.count),
                     chip.tensor_cores.rows, chip.tensor_cores.cols, grouped(chip.vector_cores.count),
                     chip.vector_cores.lanes, static_cast<double>(chip.global_buffer.value()) / 1048576);
}

// The best chip for one model alone, where there was such a search.
Json alone_part(const Run& run, std::size_t model, const std::vector<std::vector<double>>& by_model) {
  for (std::size_t s = 1; s < run.searches.size(); ++s) {
    const SearchRow& search = run.searches[s];
    if (search.models != std::vector<std::int64_t>{static_cast<std::int64_t>(model)} || run.best[s].empty()) continue;
    const run_db::BestRow& best = run.best[s].front();
    const auto chip = static_cast<std::size_t>(best.chip);
    const double throughput = by_model[model][chip];
    return {{"chip", shape(run.chips[chip].chip)},
            {"area_um2", run.chips[chip].area_um2},
            {"score", best.score},
            {"optimal", search.optimal},
            {"throughput", std::isnan(throughput) ? Json(nullptr) : Json(throughput)}};
  }
  return nullptr;
}

// An artefact as JSON; null where there is none.
Result<Json> artefact(run_db::Reader& reader, const std::string& name, const std::string& model = "") {
  auto text = reader.artefact(0, name, model);
  if (!text) return text.error();
  if (!*text) return Json(nullptr);
  Json json = Json::parse(**text, nullptr, false);
  if (json.is_discarded())
    return Error{"is not JSON", reader.path() + ": artefact '" + name + "'", "the file is damaged"};
  return json;
}

Result<Json> model_part(run_db::Reader& reader, const Run& run, std::size_t m,
                        const std::vector<std::vector<double>>& by_model) {
  const ModelRow& model = run.models[m];
  auto plan = artefact(reader, "plan", model.name);
  if (!plan) return plan.error();
  auto schedules = artefact(reader, "layer_schedules", model.name);
  if (!schedules) return schedules.error();
  Json timeline = nullptr;
  std::int64_t devices = 0;
  if (plan->is_object()) {
    devices = plan->value("devices", std::int64_t{0});
    if (plan->contains("simulation")) {
      const auto pipeline = read_pipeline(compact(*plan));
      if (!pipeline) return within(reader.path() + ": artefact 'plan'", pipeline.error());
      timeline = timeline_json(*pipeline, sim::simulate(*pipeline));
      plan->erase("simulation");
    }
  }
  const std::string given = setting(run, "--devices", "");
  if (const std::int64_t all = std::atoll(given.c_str()); all > 0) devices = all;
  return Json{{"name", model.name},
              {"sequence", model.sequence},
              {"global_batch", model.global_batch},
              {"parameters", model.parameters},
              {"devices", devices},
              {"plan", std::move(*plan)},
              {"timeline", std::move(timeline)},
              {"layer_schedules", std::move(*schedules)},
              {"alone", alone_part(run, m, by_model)}};
}

Json settings_part(const Run& run) {
  Json settings = Json::array();
  for (const auto& [key, value] : run.description.settings) settings.push_back({key, value});
  for (const run_db::Input& input : run.description.inputs)
    settings.push_back({input.kind + " " + input.name, "content " + input.hash});
  return settings;
}

}  // namespace

Result<std::string> run_document(run_db::Reader& reader) {
  auto run = read(reader);
  if (!run) return run.error();
  Json search = search_part(*run);
  Json space = space_part(*run, search["pruned_by"]);
  Json chip = nullptr;
  if (!run->best.front().empty()) {
    auto found = artefact(reader, "chip");
    if (!found) return found.error();
    const double area = run->chips[static_cast<std::size_t>(run->best.front().front().chip)].area_um2;
    if (found->is_object()) chip = chip_part(*found, area);
  }
  Json models = Json::array();
  const auto by_model = throughputs(*run);
  for (std::size_t m = 0; m < run->models.size(); ++m) {
    auto model = model_part(reader, *run, m, by_model);
    if (!model) return model.error();
    models.push_back(std::move(*model));
  }
  auto comparison = artefact(reader, "comparison");
  if (!comparison) return comparison.error();
  auto insight = artefact(reader, "insight");
  if (!insight) return insight.error();
  const std::int64_t batch = run->models.front().global_batch;
  const std::string devices = setting(*run, "--devices", "");
  std::string subtitle = fmt::format("The best of {} chips", grouped(static_cast<std::int64_t>(run->chips.size())));
  if (const std::int64_t count = std::atoll(devices.c_str()); count > 0)
    subtitle += fmt::format(", trained on {} of them", grouped(count));
  if (batch > 0) subtitle += fmt::format(" in batches of {} samples", grouped(batch));
  return compact({{"format", kDocumentFormat},
                  {"kind", "search"},
                  {"title", models_text(*run)},
                  {"subtitle", subtitle},
                  {"phaze_version", run->description.phaze_version},
                  {"command", command_text(run->description.arguments)},
                  {"created", run->summary.started},
                  {"settings", settings_part(*run)},
                  {"search", std::move(search)},
                  {"chip", std::move(chip)},
                  {"space", std::move(space)},
                  {"models", std::move(models)},
                  {"comparison", std::move(*comparison)},
                  {"insight", std::move(*insight)}});
}

}  // namespace phaze::report
