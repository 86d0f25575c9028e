// Reads a run database, finished or still growing.
//
//   auto run = Reader::open("run.db");
//   if (!run) return run.error();           // not a run database, another format, not readable: says which
//   auto chips = run->chips();
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/run_db/rows.h"
#include "phaze/run_db/sqlite.h"

namespace phaze::run_db {

struct Summary {
  RunStatus status = RunStatus::kRunning;
  std::string started;  // UTC, ISO 8601
  double seconds = 0;   // that all processes of the run took together
  bool operator==(const Summary&) const = default;
};

class Reader {
 public:
  static Result<Reader> open(const std::string& path);
  // Which all errors name.
  const std::string& path() const { return database_.path(); }

  Result<Description> description();
  Result<Summary> summary();
  // In the order of their numbers.
  Result<std::vector<ModelRow>> models();
  Result<std::vector<ChipRow>> chips();
  // The first one is over all models.
  Result<std::vector<SearchRow>> searches();
  // In the order of chips. Chips that a running search has not touched have none.
  Result<std::vector<FateRow>> fates(std::int64_t search);
  Result<std::vector<BestRow>> best(std::int64_t search);
  Result<std::vector<EvaluationRow>> evaluations();
  // The JSON text; nothing where there is no such document.
  Result<std::optional<std::string>> artefact(std::int64_t search, std::string_view name, std::string_view model = "");

 private:
  explicit Reader(Database database) : database_(std::move(database)) {}

  Database database_;
};

// The same over a connection that a writer has open.
Result<Description> read_description(Database& database);
Result<Summary> read_summary(Database& database);
Result<std::vector<SearchRow>> read_searches(Database& database);
Result<std::vector<FateRow>> read_fates(Database& database, std::int64_t search);
Result<std::vector<StateRow>> read_states(Database& database);
Result<std::vector<EvaluationRow>> read_evaluations(Database& database);

}  // namespace phaze::run_db
