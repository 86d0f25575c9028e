// A run and the database that it is kept in: what tells the run apart, and the documents about its answer.
#pragma once

#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/cli/search_request.h"
#include "phaze/report/search_report.h"
#include "phaze/run_db/rows.h"
#include "phaze/search/ledger.h"

namespace CLI {
class App;
}

namespace phaze::cli {

// --out and --resume: where a run is kept.
struct RunFile {
  std::string path;  // empty: nowhere
  bool resume = false;

  void add_to(CLI::App& command);
  // For the run that `command` asks for, after parsing, which its flags as they were given (apart from those that
  // change nothing about the answer) and what it reads by content tell apart from others.
  Result<search::Ledger> open(const CLI::App& command, const std::vector<std::string>& arguments,
                              const SearchRequest& request, const search::Problem& problem) const;
};

// The answer as a whole, the best chip of every search, its plans, and the schedules of its layers.
std::vector<run_db::Artefact> documents(const report::SearchAnswer& answer, const search::Problem& problem);

}  // namespace phaze::cli
