// Solves one block: bounds, heuristics, phases, the antichain bound, and the search, each only if those before it leave
// a gap.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/block_memo.h"
#include "phaze/schedule/block_search.h"
#include "phaze/schedule/bounds.h"
#include "phaze/schedule/goal.h"
#include "phaze/schedule/heuristics.h"
#include "phaze/schedule/large.h"
#include "phaze/schedule/local_search.h"
#include "phaze/schedule/phases.h"
#include "phaze/schedule/relax.h"
#include "phaze/schedule/statistics.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
class BlockSolver {
 public:
  // Whether schedules of barriers are looked at on the way (block_solver.cc).
  enum class Barriers : std::uint8_t { kFirst, kNo };
  // Whether blocks that are hard are also solved without their light operators (large.h).
  enum class Light : std::uint8_t { kMayGo, kStays };

  // A memo, if any, must outlive the solver.
  explicit BlockSolver(BlockMemo* memo = nullptr, Barriers barriers = Barriers::kFirst, Light light = Light::kMayGo)
      : memo_(memo), barriers_(barriers), light_(light) {}

  // The lower the goal, the less there is to search.
  void solve(const Block& block, const Goal& goal, Stop& stop, BlockResult& result, Statistics& statistics);

 private:
  template <std::size_t Words>
  struct Engine {
    Phases<Words> phases;
    BlockSearch<Words> search;
  };
  enum class Relaxing : std::uint8_t { kFirst, kNo };
  void solve(const Block& block, Relaxing relaxing, const Goal& goal, Stop& stop, BlockResult& result,
             Statistics& statistics);
  void close_gap(const Block& block, const Goal& goal, Stop& stop, BlockResult& result, Statistics& statistics);
  bool settle_by_relaxation(const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                            Statistics& statistics);
  enum class State : std::uint8_t { kSettled, kNearlySettled, kOpen };
  State settle_by_large(const Block& block, const Goal& goal, const Stop& stop, BlockResult& result,
                        Statistics& statistics);
  void solve_without_light(const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                           Statistics& statistics);
  void put_light_back(const Block& block, const BlockSchedule& of_others, const Goal& goal, Stop& stop,
                      BlockResult& result, Statistics& statistics);
  void search_once(const Block& block, Relaxing relaxing, const Goal& goal, Stop& stop, BlockResult& result,
                   Statistics& statistics);
  template <std::size_t Words>
  void close_gap(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                 Statistics& statistics);
  template <std::size_t Words>
  Ticks bound_by_phases(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                        Statistics& statistics);
  template <std::size_t Words>
  void find_shorter(Engine<Words>& engine, const Block& block, Ticks by_phases, const Goal& goal, Stop& stop,
                    BlockResult& result, Statistics& statistics);
  void change_a_little(const Block& block, std::uint64_t tries_per_operator, const Goal& goal, Stop& stop,
                       BlockResult& result);
  void start_from_barriers(const Block& block, const Goal& goal, const Stop& stop, BlockResult& result,
                           Statistics& statistics);

  BlockMemo* memo_;
  Barriers barriers_;
  Light light_;
  SimpleBounds bounds_;
  ListScheduler lists_;
  LocalSearch local_search_;
  Block restricted_, reversed_, decided_;
  Relaxed relaxed_;
  BlockSchedule found_, known_;
  std::vector<std::uint32_t> order_, modes_;
  Large large_;
  std::unique_ptr<BlockSolver> for_large_, for_barriers_, without_light_;
  std::vector<std::uint8_t> keep_;
  Engine<1> narrow_;
  Engine<2> middle_;
  Engine<4> wide_;
};

}  // namespace phaze::schedule
