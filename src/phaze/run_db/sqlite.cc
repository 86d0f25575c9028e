#include "phaze/run_db/sqlite.h"

#include <sqlite3.h>

namespace phaze::run_db {
namespace {

Error failure(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database);
  if (code == SQLITE_NOTADB) return {"is not a run database", path};
  if (code == SQLITE_FULL) return {"cannot be written: the disk is full", path, "make room and give --resume"};
  if (code == SQLITE_CORRUPT)
    return {std::string("is damaged: ") + sqlite3_errmsg(database), path, "run the search again with another --out"};
  if (code == SQLITE_READONLY || code == SQLITE_CANTOPEN)
    return {std::string("cannot be opened: ") + sqlite3_errmsg(database), path, "is its folder there and writable?"};
  return {sqlite3_errmsg(database), path};
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int parameter, std::int64_t value) { sqlite3_bind_int64(statement_.get(), parameter, value); }
void Statement::bind(int parameter, double value) { sqlite3_bind_double(statement_.get(), parameter, value); }
void Statement::bind(int parameter, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
void Statement::bind_blob(int parameter, std::string_view value) {
  sqlite3_bind_blob64(statement_.get(), parameter, value.data(), value.size(), SQLITE_TRANSIENT);
}
void Statement::bind_null(int parameter) { sqlite3_bind_null(statement_.get(), parameter); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  // reset() repeats the code of a step that failed, and its message stays.
  sqlite3_reset(statement_.get());
  if (code == SQLITE_DONE) return false;
  return failure(sqlite3_db_handle(statement_.get()), path_);
}

Status Statement::run() {
  if (auto row = step(); !row) return row.error();
  return Done{};
}

std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  // Through blob, so that a text with a zero byte comes back whole.
  const auto* begin = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return begin == nullptr
             ? std::string()
             : std::string(begin, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}
bool Statement::null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Result<Database> Database::open(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw, path);
  if (raw == nullptr) return Error{"not enough memory", path};
  if (code != SQLITE_OK) return failure(raw, path);
  // Readers meet a writer for moments only.
  sqlite3_busy_timeout(raw, 10'000);
  return database;
}

Result<Database> Database::open_for_reading(const std::string& path) { return open(path, SQLITE_OPEN_READONLY); }
Result<Database> Database::open_for_writing(const std::string& path) {
  return open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Status Database::execute(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return failure(database_.get(), path_);
  return Done{};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
    return failure(database_.get(), path_);
  return Statement(statement, path_);
}

Result<std::int64_t> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  auto row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

Result<Transaction> Transaction::begin(Database& database) {
  if (auto status = database.execute("BEGIN IMMEDIATE"); !status) return status.error();
  return Transaction(database);
}

Status Transaction::commit() {
  if (auto status = database_->execute("COMMIT"); !status) return status;
  database_ = nullptr;
  return Done{};
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (a full disk); then this fails, which is as well.
  if (database_ != nullptr) static_cast<void>(database_->execute("ROLLBACK"));
}

}  // namespace phaze::run_db
