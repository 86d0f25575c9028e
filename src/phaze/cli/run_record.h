// A search and the database that it is kept in: what tells the run apart, and the documents about its answer.
#pragma once

#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/cli/search_request.h"
#include "phaze/report/search_report.h"
#include "phaze/run_db/rows.h"

namespace CLI {
class App;
}

namespace phaze::cli {

// The run that `command` asks for, after parsing: its flags as they were given, apart from those that change nothing
// about the answer, and what it reads by content.
Result<run_db::Description> describe_run(const CLI::App& command, const std::vector<std::string>& arguments,
                                         const SearchRequest& request, const search::Problem& problem);

// The answer as a whole, the best chip of every search, and its plans.
std::vector<run_db::Artefact> documents(const report::SearchAnswer& answer);

}  // namespace phaze::cli
