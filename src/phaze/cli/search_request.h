// What `search` and `compare` ask about: models, a space of chips, a cluster and how to train, from flags to a Problem.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/search/search.h"

namespace CLI {
class App;
}

namespace phaze::cli {

struct Session;

struct SearchRequest {
  std::string asked_by;  // the command whose flags these are
  std::vector<std::string> models;
  std::string space = "phaze";
  std::string network;
  std::string baseline = "tpuv4-phaze";
  std::vector<double> weights;
  std::vector<std::int64_t> hbm_gib;  // empty: every chip its own
  search::Problem problem;            // objective, mean and devices; make_problem() adds the rest
  search::Options search;
  layer_times::PlanOptions plan;

  // MODEL, --profile, --space, --devices, --global-batch, --seq, --network, --objective, --mean, --weights, --baseline,
  // --hbm,
  // --microbatch, --tensor-parallel, --attention, --solver, --effort, --threads, --time-limit
  void add_to(CLI::App& command);
};

// With what the profile says about everything that was left open. An error where something needed is missing.
Result<SearchRequest> completed(SearchRequest request);

// Loads space, network and models of a completed request. With several models and a geometric mean, what the baseline
// chip reaches too.
Result<search::Problem> make_problem(const SearchRequest& request, Session& session);

}  // namespace phaze::cli
