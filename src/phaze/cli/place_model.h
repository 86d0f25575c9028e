// phaze place MODEL: the options of the real placement problem and what is done with them.
#pragma once

#include <cstdint>
#include <string>

#include "phaze/layer_times/request.h"
#include "phaze/placement/phaze2024/solve.h"

namespace CLI {
class App;
}

namespace phaze::cli {

struct Session;

struct PlaceModelOptions {
  std::string model;
  std::string cluster;  // a YAML file; or chip, devices and network
  std::string chip;
  std::string network;
  std::int64_t devices = 0;
  std::string microbatch = "auto";
  std::string tensor_parallel = "auto";
  std::string interleave = "auto";
  std::string zero = "auto";
  std::string recompute = "auto";
  std::string sequence_parallel = "auto";
  std::string order = "auto";
  std::int64_t gradient_bits = 32;
  bool no_overlap = false;
  bool no_fuse = false;
  bool study = false;                                                  // the problem of 2024
  std::size_t stage_limit = placement::phaze2024::kDefaultStageLimit;  // of that problem
  bool exhaustive = false;
  std::size_t top = 1;
  bool front = false;
  std::string plan_file;
  std::string trace_file;
  std::string report_file;
  layer_times::PlanOptions plan;

  void add_to(CLI::App& command);
};

void place_model(const PlaceModelOptions& options, Session& session);

}  // namespace phaze::cli
