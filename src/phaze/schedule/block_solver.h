// Solves one block: bounds, heuristics, phases, the antichain bound, and the search, each only if those before it leave
// a gap.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "phaze/base/stop.h"
#include "phaze/schedule/antichain.h"
#include "phaze/schedule/block.h"
#include "phaze/schedule/block_memo.h"
#include "phaze/schedule/bounds.h"
#include "phaze/schedule/exact.h"
#include "phaze/schedule/heuristics.h"
#include "phaze/schedule/large.h"
#include "phaze/schedule/local_search.h"
#include "phaze/schedule/phases.h"
#include "phaze/schedule/relax.h"
#include "phaze/schedule/search_worth.h"

namespace phaze::schedule {

// What it took. Counts add up over blocks.
struct Statistics {
  std::uint64_t blocks = 0;           // of two operators or more
  std::uint64_t largest_block = 0;    // operators
  std::uint64_t closed_by_lists = 0;  // blocks whose list schedule met the simple bounds
  std::uint64_t closed_by_phases = 0;
  std::uint64_t closed_by_antichains = 0;
  std::uint64_t closed_by_search = 0;
  std::uint64_t pivots = 0;  // of the antichain LP
  std::uint64_t states = 0;  // expanded by the search
  std::uint64_t passes = 0;
  std::uint64_t milp_nodes = 0;  // of the ILP engine

  Statistics& operator+=(const Statistics& other);
  bool operator==(const Statistics&) const = default;
};

// What is asked for: a bound of so many ticks. Schedules that long or longer are of no interest, and are not looked
// for.
struct Goal {
  Ticks ticks = std::numeric_limits<Ticks>::max();  // no bound is that high: the optimum is asked for
  // Where a schedule is shorter than that, any will do; otherwise the shortest is wanted.
  bool any_shorter_will_do = false;

  // Goals are rounded up to grains. What is shorter by rounding alone does not count.
  static constexpr Ticks kGrain = kSerialTicks >> 30U;
  // A schedule as short as this ends the search.
  Ticks short_enough() const { return any_shorter_will_do ? ticks - 4 * kGrain : 0; }

  // Schedules that are shorter by no more than the tolerance are not looked for, either.
  Ticks bound_if_none_is_shorter() const { return whole_ticks(static_cast<double>(ticks) * (1 - kTimeTolerance)); }

  bool none() const { return ticks == std::numeric_limits<Ticks>::max(); }
  bool is_met_by(const BlockResult& result) const {
    return result.lower_bound >= bound_if_none_is_shorter() || result.schedule.makespan <= short_enough();
  }
};

// One pass of the search (exact.h), as it is planned.
struct PlannedPass {
  std::size_t width = 0;                  // states of a layer
  bool together = false;                  // all that starts at a moment is placed at once
  std::uint64_t part = 1;                 // it may take one of so many parts of the budget that is left,
  std::uint64_t most = Stop::kUnlimited;  // and no more units than this
  bool whole_or_nothing = false;          // it ends where it has not room enough for a proof
};

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
    AntichainBound<Words> antichains;
    LayeredSearch<Words> search;
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
  void put_light_back(const Block& block, const BlockSchedule& of_others, Stop& stop, BlockResult& result,
                      Statistics& statistics);
  void search_once(const Block& block, Relaxing relaxing, const Goal& goal, Stop& stop, BlockResult& result,
                   Statistics& statistics);
  template <std::size_t Words>
  void close_gap(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                 Statistics& statistics);
  template <std::size_t Words>
  bool settle_by_phases(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                        Statistics& statistics);
  template <std::size_t Words>
  void find_shorter(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                    Statistics& statistics);
  template <std::size_t Words>
  bool settle_by_antichains(Engine<Words>& engine, const Block& block, Stop& stop, BlockResult& result,
                            Statistics& statistics);
  void change_a_little(const Block& block, std::uint64_t tries_per_operator, Stop& stop, BlockResult& result);
  template <std::size_t Words>
  bool search_kept(Engine<Words>& engine, const Block& block, std::span<const PlannedPass> passes, const Goal& goal,
                   Stop& stop, BlockResult& result, Statistics& statistics);
  template <std::size_t Words>
  bool drop_modes(const Engine<Words>& engine, const Block& block, BlockResult& result);
  template <std::size_t Words>
  bool search(Engine<Words>& engine, const Block& block, std::span<const PlannedPass> passes, const Goal& goal,
              Stop& stop, BlockResult& result, Statistics& statistics);
  void start_from_barriers(const Block& block, const Stop& stop, BlockResult& result, Statistics& statistics);
  void set_worths(const Block& block, std::span<const double> rates);

  BlockMemo* memo_;
  Barriers barriers_;
  Light light_;
  SimpleBounds bounds_;
  ListScheduler lists_;
  LocalSearch local_search_;
  Block restricted_, reversed_, decided_;
  Relaxed relaxed_;
  const Block* kept_ = nullptr;  // the block at hand, or restricted_: without modes that are of no use
  Ticks dropped_for_ = 0;        // the makespan that these are of no use for
  double antichain_bound_ = 0;   // of the block at hand; 0 if there is none
  bool better_backwards_ = false;
  BlockSchedule found_, known_;
  std::vector<std::uint32_t> order_, modes_;
  Large large_;
  std::unique_ptr<BlockSolver> for_large_, for_barriers_, without_light_;
  std::vector<std::uint8_t> keep_;
  std::vector<double> rates_;
  std::vector<SearchWorth> worths_, reversed_worths_;
  Engine<1> narrow_;
  Engine<2> middle_;
  Engine<4> wide_;
};

}  // namespace phaze::schedule
