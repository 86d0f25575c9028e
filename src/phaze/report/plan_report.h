// Plans for a model on a cluster: JSON for programs, tables for people.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/layer_times/study.h"
#include "phaze/placement/solve.h"
#include "phaze/sim/pipeline.h"

namespace phaze::report {

struct SimulatedPlan {
  placement::Plan plan;
  placement::Evaluation evaluation;
  sim::Pipeline pipeline;
  sim::Run run;
};

struct PlanAnswer {
  std::string model;
  std::string chip;
  std::int64_t sequence = 0;
  double flops_per_sample = 0;
  double peak_flops = 0;  // of one device
  // What the plan's file carries so that it stands on its own: the model's config.json (empty: there is none), the chip
  // as a YAML file, the kind of attention, whether operators are fused.
  std::string model_config;
  std::string chip_file;
  bool flash_attention = false;
  bool fuse = true;
  const placement::Request* request = nullptr;
  std::uint64_t states_per_layer = 0;           // that the layers of its table were scheduled with
  std::vector<SimulatedPlan> plans;             // the answer first
  std::vector<SimulatedPlan> front;             // of time against memory, the fastest first; empty: not asked for
  std::optional<layer_times::StudyPlan> study;  // or the one of the 2024 problem
  placement::Statistics statistics;
  std::optional<placement::Shortage> shortage;  // without a plan
};

// The answer and, if more than one is asked for, the `top` best strategies.
std::string plan_json(const PlanAnswer& answer, std::size_t top);
std::string plan_text(const PlanAnswer& answer, std::size_t top);

// The pipeline in a plan's JSON, under "simulation".
Result<sim::Pipeline> read_pipeline(const std::string& text);

std::string simulation_json(const sim::Pipeline& pipeline, const sim::Run& run);
std::string simulation_text(const sim::Pipeline& pipeline, const sim::Run& run);

}  // namespace phaze::report
