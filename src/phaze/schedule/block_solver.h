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

// A goal that no bound reaches: the optimum is asked for.
inline constexpr Ticks kNoGoal = std::numeric_limits<Ticks>::max();

// Keeps its memory from one block to the next.
class BlockSolver {
 public:
  // A memo, if any, must outlive the solver.
  explicit BlockSolver(BlockMemo* memo = nullptr) : memo_(memo) {}

  // A bound of `goal` ticks is all that is asked for: schedules that long or longer are of no interest, and are not
  // looked for. The lower the goal, the less there is to search.
  void solve(const Block& block, Ticks goal, Stop& stop, BlockResult& result, Statistics& statistics);

 private:
  template <std::size_t Words>
  struct Engine {
    Phases<Words> phases;
    AntichainBound<Words> antichains;
    LayeredSearch<Words> search;
  };
  enum class Relaxing : std::uint8_t { kFirst, kNo };
  void solve(const Block& block, Relaxing relaxing, Ticks goal, Stop& stop, BlockResult& result,
             Statistics& statistics);
  void close_gap(const Block& block, Ticks goal, Stop& stop, BlockResult& result, Statistics& statistics);
  bool settle_by_relaxation(const Block& block, Ticks goal, Stop& stop, BlockResult& result, Statistics& statistics);
  enum class State : std::uint8_t { kSettled, kNearlySettled, kOpen };
  State settle_by_large(const Block& block, Ticks goal, const Stop& stop, BlockResult& result, Statistics& statistics);
  void search_once(const Block& block, Relaxing relaxing, Ticks goal, Stop& stop, BlockResult& result,
                   Statistics& statistics);
  template <std::size_t Words>
  void close_gap(Engine<Words>& engine, const Block& block, Ticks goal, Stop& stop, BlockResult& result,
                 Statistics& statistics);
  template <std::size_t Words>
  bool settle_by_phases(Engine<Words>& engine, const Block& block, Ticks goal, Stop& stop, BlockResult& result,
                        Statistics& statistics);
  template <std::size_t Words>
  void find_shorter(Engine<Words>& engine, const Block& block, Stop& stop, BlockResult& result, Statistics& statistics);
  template <std::size_t Words>
  bool search(Engine<Words>& engine, const Block& block, std::size_t from, std::size_t widest, Stop& stop,
              BlockResult& result, Statistics& statistics);
  void set_worths(const Block& block, std::span<const double> rates);
  void reverse_worths(const Block& block);

  BlockMemo* memo_;
  SimpleBounds bounds_;
  ListScheduler lists_;
  LocalSearch local_search_;
  Block restricted_, reversed_;
  Relaxed relaxed_;
  bool better_backwards_ = false;
  BlockSchedule found_, known_;
  std::vector<std::uint32_t> order_, modes_;
  Large large_;
  std::unique_ptr<BlockSolver> for_large_;
  std::vector<std::uint8_t> keep_;
  std::vector<double> rates_;
  std::vector<SearchWorth> worths_, reversed_worths_;
  Engine<1> narrow_;
  Engine<2> middle_;
  Engine<4> wide_;
};

}  // namespace phaze::schedule
