// The options that every command about a model takes.
#pragma once

#include <string>

#include "phaze/workload/backward.h"
#include "phaze/workload/transformer/build.h"

namespace CLI {
class App;
}

namespace phaze::cli {

struct ModelOptions {
  std::string model;
  workload::WorkloadOptions workload;
  workload::Recompute recompute = workload::Recompute::kNone;

  // MODEL (optional where something else can take its place), --seq, --microbatch, --tensor-parallel,
  // --sequence-parallel, --attention, --recompute, --fuse
  void add_to(CLI::App& command, bool required = true);
};

}  // namespace phaze::cli
