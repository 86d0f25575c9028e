#include "phaze/run_db/writer.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "phaze/run_db/reader.h"
#include "phaze/run_db/schema.h"

namespace phaze::run_db {
namespace {

// What is no text, though it is in a string.
struct Blob {
  std::string_view bytes;
};

void bind_all(Statement&, int) {}

template <typename First, typename... Rest>
void bind_all(Statement& statement, int parameter, const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<First, std::optional<double>>) {
    if (first)
      statement.bind(parameter, *first);
    else
      statement.bind_null(parameter);
  } else if constexpr (std::is_floating_point_v<First>) {
    statement.bind(parameter, first);
  } else if constexpr (std::is_integral_v<First>) {
    statement.bind(parameter, static_cast<std::int64_t>(first));
  } else if constexpr (std::is_same_v<First, Blob>) {
    statement.bind_blob(parameter, first.bytes);
  } else {
    statement.bind(parameter, std::string_view(first));
  }
  bind_all(statement, parameter + 1, rest...);
}

// One row for every element of `rows`; `insert` is called with a function that takes the columns.
template <typename Rows, typename Insert>
Status insert_all(Database& database, std::string_view sql, const Rows& rows, const Insert& insert) {
  if (rows.empty()) return Done{};
  auto statement = database.prepare(sql);
  if (!statement) return statement.error();
  for (const auto& row : rows) {
    Status status = Done{};
    insert(row, [&](const auto&... columns) {
      if (!status) return;
      bind_all(*statement, 1, columns...);
      status = statement->run();
    });
    if (!status) return status;
  }
  return Done{};
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  std::string text(20, '\0');
  std::strftime(text.data(), text.size() + 1, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Status write_meta(Database& database, const Pairs& pairs) {
  return insert_all(database, "INSERT OR REPLACE INTO meta VALUES(?, ?)", pairs,
                    [](const auto& pair, const auto& row) { row(pair.first, pair.second); });
}

// What tells two runs apart, for a person who gave the wrong file or the wrong flag.
Status same_run(const std::string& path, const Description& was, const Description& is) {
  const std::string hint = "give --out another name";
  if (was.phaze_version != is.phaze_version)
    return Error{"was written by phaze " + was.phaze_version + ", this is " + is.phaze_version, path, hint};
  const auto differs = [&](const std::string& what, const std::string& before, const std::string& now) {
    return Error{"is of another run: " + what + " was " + (before.empty() ? "not given" : before) + ", is " +
                     (now.empty() ? "not given" : now),
                 path, hint};
  };
  for (const auto& [key, value] : is.settings) {
    const auto before = was.settings.find(key);
    if (before == was.settings.end()) return differs(key, "", value);
    if (before->second != value) return differs(key, before->second, value);
  }
  for (const auto& [key, value] : was.settings)
    if (!is.settings.contains(key)) return differs(key, value, "");
  for (std::size_t i = 0; i < was.inputs.size() && i < is.inputs.size(); ++i) {
    if (was.inputs[i] == is.inputs[i]) continue;
    if (was.inputs[i].name != is.inputs[i].name || was.inputs[i].kind != is.inputs[i].kind)
      return differs(is.inputs[i].kind, was.inputs[i].name, is.inputs[i].name);
    return Error{
        "is of another run: the content of the " + is.inputs[i].kind + " " + is.inputs[i].name + " has changed since",
        path, hint};
  }
  if (was.inputs.size() != is.inputs.size())
    return differs("the number of models and other files", std::to_string(was.inputs.size()),
                   std::to_string(is.inputs.size()));
  return Done{};
}

}  // namespace

Result<Writer> Writer::open(const std::string& path, Mode mode, const Description& description) {
  auto lock = FileLock::acquire(path);
  if (!lock) return lock.error();
  auto database = Database::open_for_writing(path);
  if (!database) return database.error();
  const auto content = identify(*database);
  if (!content) return content.error();
  if (*content == Content::kRun && mode == Mode::kNew)
    return Error{"holds a run already", path, "give --resume to go on with it, or --out another name"};
  for (const char* pragma : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"})
    if (auto status = database->execute(pragma); !status) return status.error();
  Writer writer(std::move(*lock), std::move(*database));
  if (*content == Content::kNothing) {
    if (auto status = writer.begin(description); !status) return status.error();
  } else {
    auto was = read_description(writer.database_);
    if (!was) return was.error();
    if (auto status = same_run(path, *was, description); !status) return status.error();
  }
  const auto chips = writer.database_.number("SELECT count(*) FROM chips");
  if (!chips) return chips.error();
  writer.fresh_ = *chips == 0;
  return writer;
}

Status Writer::begin(const Description& description) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  if (auto status = create_schema(database_); !status) return status;
  const nlohmann::json arguments = description.arguments;
  auto status =
      write_meta(database_, {{"phaze_version", description.phaze_version},
                             {"arguments", arguments.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)},
                             {"started", now_utc()},
                             {"status", to_string(RunStatus::kRunning)},
                             {"seconds", "0"}});
  if (!status) return status;
  status = insert_all(database_, "INSERT INTO settings VALUES(?, ?)", description.settings,
                      [](const auto& pair, const auto& row) { row(pair.first, pair.second); });
  if (!status) return status;
  status = insert_all(database_, "INSERT INTO inputs(kind, name, hash) VALUES(?, ?, ?)", description.inputs,
                      [](const Input& input, const auto& row) { row(input.kind, input.name, input.hash); });
  if (!status) return status;
  return transaction->commit();
}

Status Writer::write_problem(const std::vector<ModelRow>& models, const std::vector<ChipRow>& chips) {
  check(fresh_, "the problem of a run is written once");
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  std::int64_t number = 0;
  auto status = insert_all(database_, "INSERT INTO models VALUES(?, ?, ?, ?, ?, ?, ?, ?)", models,
                           [&](const ModelRow& m, const auto& row) {
                             row(number++, m.name, m.weight, m.baseline_throughput, m.sequence, m.global_batch,
                                 m.parameters, m.flops_per_sample);
                           });
  if (!status) return status;
  number = 0;
  status = insert_all(database_, "INSERT INTO chips VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", chips,
                      [&](const ChipRow& c, const auto& row) {
                        const hardware::Chip& chip = c.chip;
                        row(number++, chip.tensor_cores.count, chip.tensor_cores.rows, chip.tensor_cores.cols,
                            chip.vector_cores.count, chip.vector_cores.lanes, chip.global_buffer.value(),
                            chip.global_buffer_bytes_per_cycle, chip.hbm.value(), chip.hbm_bandwidth,
                            chip.core_buffer.value(), chip.clock_hz, chip.process_nm, c.area_um2, c.tdp_watts);
                      });
  if (!status) return status;
  if (status = transaction->commit(); status) fresh_ = false;
  return status;
}

Status Writer::commit(const Batch& batch) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  const auto each = [&](std::string_view sql, const auto& rows, const auto& insert) {
    return insert_all(database_, sql, rows, insert);
  };
  auto status =
      each("INSERT OR REPLACE INTO searches VALUES(?, ?, ?, ?, ?, ?, ?, ?)", batch.searches,
           [](const SearchRow& s, const auto& row) {
             row(s.search, to_string(s.status), s.evaluated, s.pruned, s.infeasible, s.open, s.optimal, s.gap);
           });
  if (!status) return status;
  status = each("INSERT OR REPLACE INTO search_models VALUES(?, ?, ?)", batch.searches,
                [](const SearchRow& s, const auto& row) {
                  for (std::size_t i = 0; i < s.models.size(); ++i) row(s.search, i, s.models[i]);
                });
  if (!status) return status;
  status = each(
      "INSERT OR REPLACE INTO fates VALUES(?, ?, ?, ?, ?, ?, ?)", batch.fates,
      [](const FateRow& f, const auto& row) { row(f.search, f.chip, f.fate, f.level, f.bound, f.score, f.reason); });
  if (!status) return status;
  status =
      each("INSERT OR REPLACE INTO evaluations VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", batch.evaluations,
           [](const EvaluationRow& e, const auto& row) {
             row(e.chip, e.model, e.seconds, e.least_seconds, e.configuration, e.tensor_parallel, e.sequence_parallel,
                 e.microbatch, e.pipeline, e.data_parallel, e.interleave, e.zero, e.peak_memory, e.hbm_bytes);
           });
  if (!status) return status;
  status = each("INSERT OR REPLACE INTO chip_states VALUES(?, ?, ?)", batch.states,
                [](const StateRow& s, const auto& row) { row(s.chip, s.model, Blob{s.state}); });
  if (!status) return status;
  status =
      each("DELETE FROM best WHERE search = ?", batch.best, [](const BestRow& b, const auto& row) { row(b.search); });
  if (!status) return status;
  status = each("INSERT OR REPLACE INTO best VALUES(?, ?, ?, ?)", batch.best,
                [](const BestRow& b, const auto& row) { row(b.search, b.rank, b.chip, b.score); });
  if (!status) return status;
  status = each("INSERT OR REPLACE INTO artefacts VALUES(?, ?, ?, ?)", batch.artefacts,
                [](const Artefact& a, const auto& row) { row(a.search, a.name, a.model, a.json); });
  if (!status) return status;
  Pairs meta;
  if (batch.status) meta.emplace_back("status", to_string(*batch.status));
  if (batch.seconds) meta.emplace_back("seconds", std::to_string(*batch.seconds));
  if (status = write_meta(database_, meta); !status) return status;
  return transaction->commit();
}

Status Writer::finish() {
  for (const char* sql :
       {"DELETE FROM chip_states WHERE chip NOT IN (SELECT chip FROM best)", "VACUUM", "PRAGMA journal_mode = DELETE"})
    if (auto status = database_.execute(sql); !status) return status;
  return Done{};
}

}  // namespace phaze::run_db
