// For tests: searches over chips drawn at random from the space of 2024, small enough that a chip takes milliseconds.
#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "phaze/hardware/design_space.h"
#include "phaze/search/search.h"

namespace phaze::search {

inline constexpr std::int64_t kRandomDevices = 16;

inline hardware::Network random_network() { return *hardware::load_network("8x50GB/s@1us,4GB/s@2us"); }

inline layer_times::Workload random_workload(const std::string& model) {
  NoProgress silent;
  const layer_times::PlanOptions options{.sequence = 128, .widths = {1, 2}, .microbatches = {2}, .global_batch = 32};
  auto loaded = layer_times::load_workload(model, kRandomDevices, random_network(), options, silent);
  check(static_cast<bool>(loaded), "a model of the zoo does not load");
  return std::move(*loaded);
}

// An encoder, a decoder, and both in one.
inline const std::vector<layer_times::Workload>& random_workloads() {
  static const std::vector<layer_times::Workload> loaded = {
      random_workload("bert-base"), random_workload("opt-350m"),
      random_workload(PHAZE_SOURCE_DIR "/tests/search/t5-small.json")};
  return loaded;
}

// All chips of the space of 2024.
inline const std::vector<hardware::Chip>& chips_of_2024() {
  static const std::vector<hardware::Chip> all = [] {
    std::vector<hardware::Chip> kept;
    hardware::phaze_space().for_each_kept([&](const hardware::Chip& chip) {
      kept.push_back(chip);
      return true;
    });
    return kept;
  }();
  return all;
}

// Without chips: what a search with this seed asks. Objectives, means and choices of models all come up in turn.
inline Problem random_question(std::uint32_t seed, std::size_t models) {
  Problem problem{.devices = kRandomDevices, .network = random_network()};
  for (std::size_t i = 0; i < models; ++i)
    problem.workloads.push_back(random_workloads()[(seed + i) % random_workloads().size()]);
  problem.objective =
      std::array{Objective::kThroughput, Objective::kPerWatt, Objective::kPerArea, Objective::kPareto}[seed % 4];
  problem.mean = seed % 2 == 0 ? Mean::kGeometric : Mean::kArithmetic;
  problem.states_per_layer = 50;
  problem.hbm = {Bytes(std::int64_t{32} << 30), Bytes(std::int64_t{80} << 30)};
  return problem;
}

// With so many chips; one may come twice, which makes a tie.
inline Problem random_problem(std::uint32_t seed, std::size_t chips, std::size_t models) {
  std::mt19937 random(seed);
  Problem problem = random_question(seed, models);
  for (std::size_t i = 0; i < chips; ++i) problem.chips.push_back(chips_of_2024()[random() % chips_of_2024().size()]);
  return problem;
}

inline std::vector<std::size_t> all_models(const Problem& problem) {
  std::vector<std::size_t> models(problem.workloads.size());
  for (std::size_t i = 0; i < models.size(); ++i) models[i] = i;
  return models;
}

// Over all models of the problem.
inline Outcome outcome_of(const Problem& problem, const Options& options) {
  NoProgress silent;
  Search search(problem, options);
  auto outcome = search.run(all_models(problem), silent);
  check(static_cast<bool>(outcome), "a search without a ledger fails");
  return std::move(*outcome);
}

}  // namespace phaze::search
