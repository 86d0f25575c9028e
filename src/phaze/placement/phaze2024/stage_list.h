// The stages of any DAG, one by one: all contiguous sets, found as differences of downsets.
//
// A downset holds, with each node, all that it needs; what has been placed is always one. A stage takes one downset to
// a larger one, and the differences of two downsets are exactly the contiguous sets. The number of downsets is the
// product of the branch lengths at worst: two towers of 24 layers have 625, and 105,000 stages. Both numbers are
// limited; beyond the limit only prefixes of one topological order are kept, evenly spread, which is said in
// complete().
//
// A stage runs one node at a time. Let r(v) be the arrival of the last input from outside among v and all that v needs
// inside the stage; v cannot start before. Then the pass takes
//
//   max over nodes w of  r(w) + seconds of all v with r(v) >= r(w),      and at least the sum of all seconds:
//
// no order is faster, since those v can only start at r(w); and every order that never waits while a node could run is
// as fast: look at its last wait, ending at moment x. When it began, each node left over had, of what it needs (itself
// included), a first one that had not arrived, so r >= x for all of them, and they follow without a gap. So the pass
// takes equally long for all such orders, and sorting by r gives one. In a chain this is the rule of the released tool,
// which refuses branches.
#pragma once

#include <cstdint>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/placement/phaze2024/graph.h"
#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

// Of 56 bytes each, so 235 MB.
inline constexpr std::size_t kDefaultStageLimit = std::size_t{1} << 22U;

class StageList {
 public:
  struct Entry {
    std::uint32_t to = 0;
    bool single = false;      // runs on one device
    double load_last = 0;     // as the last stage of the pipeline
    double load = 0;          // as any other
    double parameters = 0;    // bytes
    double fixed_memory = 0;  // bytes whatever the depth
    double stash = 0;         // bytes for each further stage behind it

    bool fits(std::size_t k, double memory) const {
      return fixed_memory + static_cast<double>(k - 1) * stash <= memory;
    }
  };

  // Stages that fit into `memory` bytes as the last of a pipeline.
  StageList(const Instance& instance, const Graph& graph, double memory, std::size_t stage_limit, Progress& progress);

  bool complete() const { return complete_; }
  bool stopped() const { return stopped_; }  // by progress
  std::size_t stages() const { return entries_.size(); }
  // Positions in topological order of what the stage between two states holds.
  std::vector<std::uint32_t> nodes_between(std::uint32_t from, std::uint32_t to) const;

  std::size_t states() const { return begin_.size() - 1; }
  std::size_t most_stages() const { return nodes_; }
  void row(std::size_t k, double cap, const double* same, const double* fewer, double* out) const;

  void most_single_row(std::size_t k, double limit, const double* fewer, double* out) const;

  template <typename Visit>
  void each(std::size_t state, std::size_t k, Visit visit) const {
    for (std::size_t at = begin_[state]; at < begin_[state + 1]; ++at) {
      const Entry& entry = entries_[at];
      if (entry.fits(k, memory_))
        visit(entry.to, k == 1 ? entry.load_last : entry.load, entry.single, entry.parameters);
    }
  }

  // All stages from a state, whatever their depth.
  template <typename Visit>
  void each_entry(std::size_t state, Visit visit) const {
    for (std::size_t at = begin_[state]; at < begin_[state + 1]; ++at) visit(entries_[at]);
  }

 private:
  using Word = std::uint64_t;
  bool find_downsets(const Graph& graph, std::size_t limit);
  void keep_prefixes(std::size_t stage_limit);
  bool find_stages(const Instance& instance, const Graph& graph, std::size_t limit, Progress& progress);
  bool holds(std::uint32_t state, std::size_t node) const {
    return (downsets_[state * words_ + node / 64] >> (node % 64) & 1U) != 0;
  }

  std::size_t nodes_ = 0;
  std::size_t words_ = 0;  // per downset
  double memory_ = 0;
  bool complete_ = true;
  bool stopped_ = false;
  std::vector<Word> downsets_;                       // state 0 is empty, the last is full
  std::vector<std::vector<std::uint32_t>> growths_;  // by state: the states with one node more
  std::vector<std::size_t> begin_;                   // by state: its first entry
  std::vector<Entry> entries_;
};

}  // namespace phaze::placement::phaze2024
