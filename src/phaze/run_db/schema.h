// The tables of a run database, and how to tell one from any other file.
#pragma once

#include "phaze/run_db/sqlite.h"

namespace phaze::run_db {

// In the header of the file: "PHAZ", which the `file` program shows, and the version of the schema. A change of a table
// that a reader could notice counts the version up.
inline constexpr std::int64_t kApplicationId = 0x5048415A;
inline constexpr std::int64_t kSchemaVersion = 1;

// In a transaction of the caller.
Status create_schema(Database& database);

enum class Content : std::uint8_t { kNothing, kRun };
// What is in the file: nothing at all (its run was killed before it began), or a run of this version of the schema.
// Anything else is an error.
Result<Content> identify(Database& database);

}  // namespace phaze::run_db
