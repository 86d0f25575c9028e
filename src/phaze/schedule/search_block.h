// What the search over a block (exact.h) looks up again and again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/block.h"
#include "phaze/schedule/op_set.h"
#include "phaze/schedule/search_state.h"

namespace phaze::schedule {

template <std::size_t Words>
struct SearchBlock {
  const Block* block = nullptr;
  OpSet<Words> all;
  OpSet<Words> last;  // those for which nobody waits
  std::vector<OpSet<Words>> before, after;
  std::vector<OpSet<Words>> just_before;  // with nothing in between
  // Those that go first by the order of equals, once they are free: whatever the mode, and where it is the fastest.
  std::vector<OpSet<Words>> twins_before, equals_before;
  std::vector<std::uint32_t> fastest_shareable;  // per operator: its first mode that is not exclusive, or the end
  std::vector<OpSet<Words>> equal_ends;          // operators with the same modes for which nobody waits
  OpSet<Words> ends_and_just_before;             // these, and what comes just before one of them
  OpSet<Words> as_well_alone;                    // operators that take no longer alone than their share of a resource
  std::vector<std::uint32_t> longest_first;      // operators by what remains from their start on
  std::vector<Ticks> rests;                      // what that is, in this order
  std::vector<OpSet<Words>> longest;             // so many operators of which most remains, from none to all
  // What modes fight for: of the resources that are contested, the one with the most work first, a shareable mode
  // demands what it demands if the resource could run out beside it, and else nothing. That tells all there is to know
  // of what fits beside what: where something uncontested runs, there is enough for whatever else does.
  std::vector<std::uint32_t> scarcest_first;
  std::vector<Units> contested;              // per mode and contested resource
  std::vector<Units> lightest;               // per operator and contested resource: the least of a shareable mode
  OpSet<Words> shareable;                    // operators with such a mode
  std::vector<std::uint8_t> unhindered;      // per mode: no shareable one is faster, and nothing of it is contested
  std::vector<std::uint64_t> demand_hashes;  // of modes: of what is contested

  std::size_t resources() const { return scarcest_first.size(); }
  const Units* demand(std::size_t mode) const { return contested.data() + mode * resources(); }

  // The block must outlive its use here.
  void prepare(const Block& given);

  // What these, by rising finish, hold once so many of them have finished: per number and contested resource.
  void add_up(std::span<const Running> running, std::vector<Units>& held) const;

 private:
  struct Chain {
    std::size_t last;
    Units heaviest;  // that one of it demands
  };

  void set_order();
  void set_modes();
  void set_contested();
  Units most_beside(std::size_t op, std::size_t resource);
  void set_demands();
  void find_equals();
  void find_equal_ends();
  void find_what_runs_as_well_alone();

  std::vector<Units> heaviest_;   // per operator and resource: the most that a shareable mode demands
  std::vector<Units> contested_;  // per mode and resource
  std::vector<Chain> chains_;
};

extern template struct SearchBlock<1>;
extern template struct SearchBlock<2>;
extern template struct SearchBlock<4>;

}  // namespace phaze::schedule
