#include "phaze/run_db/reader.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "phaze/run_db/schema.h"

namespace phaze::run_db {
namespace {

// A value for every row of the query.
template <typename Row, typename Make>
Result<std::vector<Row>> read_all(Result<Statement> statement, const Make& make) {
  if (!statement) return statement.error();
  std::vector<Row> rows;
  while (true) {
    auto more = statement->step();
    if (!more) return more.error();
    if (!*more) return rows;
    rows.push_back(make(*statement));
  }
}

Result<std::vector<std::pair<std::string, std::string>>> pairs(Database& database, std::string_view sql) {
  return read_all<std::pair<std::string, std::string>>(
      database.prepare(sql), [](const Statement& row) { return std::pair(row.text(0), row.text(1)); });
}

RunStatus status_of(const std::string& text) {
  for (const RunStatus status : {RunStatus::kStopped, RunStatus::kFinished})
    if (text == to_string(status)) return status;
  return RunStatus::kRunning;
}

Result<Statement> about(Database& database, std::string_view sql, std::int64_t search) {
  auto statement = database.prepare(sql);
  if (statement) statement->bind(1, search);
  return statement;
}

}  // namespace

Result<Description> read_description(Database& database) {
  Description description;
  auto meta = pairs(database, "SELECT key, value FROM meta");
  if (!meta) return meta.error();
  for (const auto& [key, value] : *meta) {
    if (key == "phaze_version") description.phaze_version = value;
    if (key != "arguments") continue;
    const auto list = nlohmann::json::parse(value, nullptr, false);
    if (!list.is_array()) return Error{"its arguments are damaged", database.path()};
    for (const auto& argument : list)
      description.arguments.push_back(argument.is_string() ? argument.get<std::string>() : argument.dump());
  }
  auto settings = pairs(database, "SELECT key, value FROM settings");
  if (!settings) return settings.error();
  description.settings = {settings->begin(), settings->end()};
  auto inputs = read_all<Input>(
      database.prepare("SELECT kind, name, hash FROM inputs ORDER BY input"),
      [](const Statement& row) { return Input{.kind = row.text(0), .name = row.text(1), .hash = row.text(2)}; });
  if (!inputs) return inputs.error();
  description.inputs = std::move(*inputs);
  return description;
}

Result<Summary> read_summary(Database& database) {
  Summary summary;
  auto meta = pairs(database, "SELECT key, value FROM meta");
  if (!meta) return meta.error();
  for (const auto& [key, value] : *meta) {
    if (key == "status") summary.status = status_of(value);
    if (key == "started") summary.started = value;
    if (key == "seconds") summary.seconds = std::strtod(value.c_str(), nullptr);
  }
  return summary;
}

Result<std::vector<SearchRow>> read_searches(Database& database) {
  auto rows = read_all<SearchRow>(
      database.prepare("SELECT search, status, evaluated, pruned, infeasible, open, optimal, gap FROM searches "
                       "ORDER BY search"),
      [](const Statement& row) {
        return SearchRow{.search = row.integer(0),
                         .status = status_of(row.text(1)),
                         .evaluated = row.integer(2),
                         .pruned = row.integer(3),
                         .infeasible = row.integer(4),
                         .open = row.integer(5),
                         .optimal = row.integer(6) != 0,
                         .gap = row.real(7)};
      });
  if (!rows) return rows;
  for (SearchRow& search : *rows) {
    auto models = read_all<std::int64_t>(
        about(database, "SELECT model FROM search_models WHERE search = ? ORDER BY position", search.search),
        [](const Statement& row) { return row.integer(0); });
    if (!models) return models.error();
    search.models = std::move(*models);
  }
  return rows;
}

Result<std::vector<FateRow>> read_fates(Database& database, std::int64_t search) {
  return read_all<FateRow>(
      about(database,
            "SELECT search, chip, fate, level, bound, score, reason FROM fates WHERE search = ? ORDER BY chip", search),
      [](const Statement& row) {
        FateRow fate{.search = row.integer(0),
                     .chip = row.integer(1),
                     .fate = row.text(2),
                     .level = row.text(3),
                     .bound = row.real(4),
                     .reason = row.text(6)};
        if (!row.null(5)) fate.score = row.real(5);
        return fate;
      });
}

Result<std::vector<StateRow>> read_states(Database& database) {
  return read_all<StateRow>(database.prepare("SELECT chip, model, state FROM chip_states ORDER BY chip, model"),
                            [](const Statement& row) {
                              return StateRow{.chip = row.integer(0), .model = row.integer(1), .state = row.text(2)};
                            });
}

Result<std::vector<EvaluationRow>> read_evaluations(Database& database) {
  return read_all<EvaluationRow>(
      database.prepare("SELECT chip, model, seconds, least_seconds, configuration, tensor_parallel, sequence_parallel, "
                       "microbatch, pipeline, data_parallel, interleave, zero, peak_memory, hbm_bytes "
                       "FROM evaluations ORDER BY chip, model"),
      [](const Statement& row) {
        return EvaluationRow{.chip = row.integer(0),
                             .model = row.integer(1),
                             .seconds = row.real(2),
                             .least_seconds = row.real(3),
                             .configuration = row.integer(4),
                             .tensor_parallel = row.integer(5),
                             .sequence_parallel = row.integer(6) != 0,
                             .microbatch = row.integer(7),
                             .pipeline = row.integer(8),
                             .data_parallel = row.integer(9),
                             .interleave = row.integer(10),
                             .zero = row.integer(11),
                             .peak_memory = row.real(12),
                             .hbm_bytes = row.integer(13)};
      });
}

Result<Reader> Reader::open(const std::string& path) {
  // SQLite says "unable to open" or "disk I/O error" whatever the cause.
  if (access(path.c_str(), R_OK) != 0) return Error{std::string("cannot be read: ") + std::strerror(errno), path};
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return Error{"is a folder, not a file", path};
  auto database = Database::open_for_reading(path);
  if (!database) return database.error();
  const auto content = identify(*database);
  if (!content) return content.error();
  if (*content == Content::kNothing)
    return Error{"holds no run yet", path, "run 'phaze search ... --out " + path + " --resume' first"};
  return Reader(std::move(*database));
}

Result<Description> Reader::description() { return read_description(database_); }
Result<Summary> Reader::summary() { return read_summary(database_); }
Result<std::vector<SearchRow>> Reader::searches() { return read_searches(database_); }
Result<std::vector<FateRow>> Reader::fates(std::int64_t search) { return read_fates(database_, search); }
Result<std::vector<EvaluationRow>> Reader::evaluations() { return read_evaluations(database_); }

Result<std::vector<ModelRow>> Reader::models() {
  return read_all<ModelRow>(
      database_.prepare(
          "SELECT name, weight, baseline_throughput, sequence, global_batch, parameters, flops_per_sample "
          "FROM models ORDER BY model"),
      [](const Statement& row) {
        return ModelRow{.name = row.text(0),
                        .weight = row.real(1),
                        .baseline_throughput = row.real(2),
                        .sequence = row.integer(3),
                        .global_batch = row.integer(4),
                        .parameters = row.real(5),
                        .flops_per_sample = row.real(6)};
      });
}

Result<std::vector<ChipRow>> Reader::chips() {
  return read_all<ChipRow>(
      database_.prepare("SELECT tensor_cores, rows, cols, vector_cores, lanes, global_buffer_bytes, "
                        "global_buffer_bytes_per_cycle, hbm_bytes, hbm_bandwidth, core_buffer_bytes, clock_hz, "
                        "process_nm, area_um2, tdp_watts FROM chips ORDER BY chip"),
      [](const Statement& row) {
        ChipRow made;
        made.chip.tensor_cores = {.count = row.integer(0), .rows = row.integer(1), .cols = row.integer(2)};
        made.chip.vector_cores = {.count = row.integer(3), .lanes = row.integer(4)};
        made.chip.global_buffer = Bytes(row.integer(5));
        made.chip.global_buffer_bytes_per_cycle = row.real(6);
        made.chip.hbm = Bytes(row.integer(7));
        made.chip.hbm_bandwidth = row.real(8);
        made.chip.core_buffer = Bytes(row.integer(9));
        made.chip.clock_hz = row.real(10);
        made.chip.process_nm = row.real(11);
        made.area_um2 = row.real(12);
        made.tdp_watts = row.real(13);
        return made;
      });
}

Result<std::vector<BestRow>> Reader::best(std::int64_t search) {
  return read_all<BestRow>(
      about(database_, "SELECT search, rank, chip, score FROM best WHERE search = ? ORDER BY rank", search),
      [](const Statement& row) {
        return BestRow{.search = row.integer(0), .rank = row.integer(1), .chip = row.integer(2), .score = row.real(3)};
      });
}

Result<std::optional<std::string>> Reader::artefact(std::int64_t search, std::string_view name,
                                                    std::string_view model) {
  auto statement = database_.prepare("SELECT json FROM artefacts WHERE search = ? AND name = ? AND model = ?");
  if (!statement) return statement.error();
  statement->bind(1, search);
  statement->bind(2, name);
  statement->bind(3, model);
  auto row = statement->step();
  if (!row) return row.error();
  if (!*row) return std::optional<std::string>();
  return std::optional(statement->text(0));
}

}  // namespace phaze::run_db
