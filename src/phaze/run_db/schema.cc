#include "phaze/run_db/schema.h"

#include <array>
#include <fstream>
#include <string>

namespace phaze::run_db {
namespace {

constexpr const char* kTables = R"sql(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE settings(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE inputs(input INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE models(
  model INTEGER PRIMARY KEY, name TEXT NOT NULL, weight REAL NOT NULL, baseline_throughput REAL NOT NULL,
  sequence INTEGER NOT NULL, global_batch INTEGER NOT NULL, parameters REAL NOT NULL, flops_per_sample REAL NOT NULL);
CREATE TABLE chips(
  chip INTEGER PRIMARY KEY, tensor_cores INTEGER NOT NULL, rows INTEGER NOT NULL, cols INTEGER NOT NULL,
  vector_cores INTEGER NOT NULL, lanes INTEGER NOT NULL, global_buffer_bytes INTEGER NOT NULL,
  global_buffer_bytes_per_cycle REAL NOT NULL, hbm_bytes INTEGER NOT NULL, hbm_bandwidth REAL NOT NULL,
  core_buffer_bytes INTEGER NOT NULL, clock_hz REAL NOT NULL, process_nm REAL NOT NULL, area_um2 REAL NOT NULL,
  tdp_watts REAL NOT NULL);
CREATE TABLE searches(
  search INTEGER PRIMARY KEY, status TEXT NOT NULL, evaluated INTEGER NOT NULL, pruned INTEGER NOT NULL,
  infeasible INTEGER NOT NULL, open INTEGER NOT NULL, optimal INTEGER NOT NULL, gap REAL NOT NULL);
CREATE TABLE search_models(
  search INTEGER NOT NULL, position INTEGER NOT NULL, model INTEGER NOT NULL, PRIMARY KEY(search, position)) WITHOUT ROWID;
CREATE TABLE fates(
  search INTEGER NOT NULL, chip INTEGER NOT NULL, fate TEXT NOT NULL, level TEXT NOT NULL, bound REAL NOT NULL,
  score REAL, reason TEXT, PRIMARY KEY(search, chip)) WITHOUT ROWID;
CREATE TABLE best(
  search INTEGER NOT NULL, rank INTEGER NOT NULL, chip INTEGER NOT NULL, score REAL NOT NULL,
  PRIMARY KEY(search, rank)) WITHOUT ROWID;
CREATE TABLE evaluations(
  chip INTEGER NOT NULL, model INTEGER NOT NULL, seconds REAL NOT NULL, least_seconds REAL NOT NULL,
  configuration INTEGER NOT NULL, tensor_parallel INTEGER NOT NULL, sequence_parallel INTEGER NOT NULL,
  microbatch INTEGER NOT NULL, pipeline INTEGER NOT NULL, data_parallel INTEGER NOT NULL, interleave INTEGER NOT NULL,
  zero INTEGER NOT NULL, peak_memory REAL NOT NULL, hbm_bytes INTEGER NOT NULL, PRIMARY KEY(chip, model)) WITHOUT ROWID;
CREATE TABLE artefacts(
  search INTEGER NOT NULL, name TEXT NOT NULL, model TEXT NOT NULL, json TEXT NOT NULL,
  PRIMARY KEY(search, name, model));
CREATE TABLE chip_states(chip INTEGER NOT NULL, model INTEGER NOT NULL, state BLOB NOT NULL, PRIMARY KEY(chip, model));
)sql";

// SQLite takes a short text file for an empty database, and would write over it.
bool is_foreign(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  constexpr std::string_view kHeader("SQLite format 3\0", 16);
  std::array<char, 16> begin = {};
  file.read(begin.data(), begin.size());
  return file.gcount() > 0 && std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())) != kHeader;
}

}  // namespace

Status create_schema(Database& database) {
  return database.execute(kTables + ("PRAGMA application_id = " + std::to_string(kApplicationId)) +
                          "; PRAGMA user_version = " + std::to_string(kSchemaVersion));
}

Result<Content> identify(Database& database) {
  if (is_foreign(database.path())) return Error{"is not a run database", database.path()};
  const auto application = database.number("PRAGMA application_id");
  if (!application) return application.error();
  const auto version = database.number("PRAGMA user_version");
  if (!version) return version.error();
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  if (*application == 0 && *version == 0 && *tables == 0) return Content::kNothing;
  if (*application != kApplicationId) return Error{"is not a run database", database.path()};
  if (*version != kSchemaVersion)
    return Error{"is a run database of format " + std::to_string(*version) + ", this program reads format " +
                     std::to_string(kSchemaVersion),
                 database.path(), "use the version of phaze that wrote it, or run the search again"};
  return Content::kRun;
}

}  // namespace phaze::run_db
