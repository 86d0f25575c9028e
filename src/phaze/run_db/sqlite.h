// SQLite with errors as values: a connection, and statements whose parameters and columns are C++ types.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "phaze/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace phaze::run_db {

class Statement {
 public:
  // Parameters are numbered from 1, columns from 0.
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, double value);
  void bind(int parameter, std::string_view value);
  void bind_blob(int parameter, std::string_view value);
  void bind_null(int parameter);

  // True while there is a row; at the end the statement is ready to run again.
  Result<bool> step();
  // Runs a statement that has no rows.
  Status run();

  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool null(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, std::string path) : statement_(statement), path_(std::move(path)) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string path_;
};

class Database {
 public:
  static Result<Database> open_for_reading(const std::string& path);
  static Result<Database> open_for_writing(const std::string& path);

  const std::string& path() const { return path_; }
  Status execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  // The one number that a query gives, such as that of a PRAGMA.
  Result<std::int64_t> number(std::string_view sql);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  static Result<Database> open(const std::string& path, int flags);
  Database(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

// All or nothing: rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(other.database_) { other.database_ = nullptr; }
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();

  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}

  Database* database_;
};

}  // namespace phaze::run_db
