// What is left of a block takes at least so long on so many machines.
//
// Where every shareable mode that demands a resource at all demands at least 1/P of it, no more than P operators run on
// it at once: it is P machines. Forget the order of the operators and all other resources, and keep what worths and
// paths cannot see: that an operator stays on its machine from start to end. Of a backward pass on four cores nearly
// all is long products, and with nine halves of a product left no schedule keeps all four busy to the end.
//
// Of what is left, some operators run beside others and take a_i on one machine; the others run exclusively for d_i.
// While one of these runs, nothing else does: cutting these times out of a schedule leaves one of the others, on P
// machines of which some are taken until what runs now has finished. So the rest takes at least
//
//     min over G of  (the least makespan of G on these machines) + Σ d_i over the others.
//
// A search over multisets. Durations are mostly those of a few shapes, so that there are some hundred sums of them, and
// one machine after another is given one, the first any, the others such that they end at about the same time. What
// counts is the time that machines stay idle, and by how much P·d_i exceeds a_i; a branch ends where it has as much of
// that as the limit leaves. There is little room for that in a proof, so that there is little to look at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/search_block.h"
#include "phaze/schedule/search_state.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class MachineRest {
 public:
  // The block must outlive its use here. No limit will be above `most`. False if there is no resource of so few
  // machines, or nothing to gain from it.
  bool begin(const SearchBlock<Words>& block, Ticks most);

  // All ways to go on from the state end at this or later, or at `limit` if that is less. 0 if that may be before
  // `enough`, or takes too long to find out.
  Ticks least_end(const SearchState<Words>& state, std::span<const Running> running, Ticks enough, Ticks limit);

  // Sums looked at since begin().
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  // How many operators of each length, the time on one machine, a byte each. None is above kMostOfLength, so that no
  // byte overflows when two are added.
  using Counts = std::uint64_t;
  static constexpr std::size_t kMostLengths = 8, kMostOfLength = 63;

  // Operators that take as long on one machine, and as long alone.
  struct Shape {
    Ticks beside = 0;  // on one machine
    Ticks least = 0;   // on all machines together, however it runs
    Ticks alone = 0;   // the same, if it runs alone; kNever if it cannot
    bool operator==(const Shape&) const = default;

    // What it takes beyond the least is lost.
    Ticks lost_beside() const { return beside - least; }
    Ticks lost_alone() const { return alone == kNever ? kNever : alone - least; }
  };
  struct ShapesOf {
    std::uint32_t free, barred;  // from running alone; places in shapes_
  };
  struct Length {
    Ticks time = 0;
    std::vector<std::uint32_t> shapes;  // what running alone costs most comes first
    std::size_t most = 0;               // operators of it
    std::size_t lost = 0;               // where in lost_ and lost_at_least_ it begins
  };
  // What may be on one machine.
  struct Sum {
    Ticks time = 0;
    Counts counts = 0;
  };

  bool find_machines();
  void find_shapes();
  std::uint32_t place_of(const Shape& shape);
  bool find_lengths();
  bool find_sums();
  void find_lost();

  bool is_left(Counts counts) const { return (((left_ | kTopBits) - counts) & kTopBits) == kTopBits; }
  Ticks least_lost_with(Counts counts) const;
  bool all_may_reach(Ticks top);
  void fill_first();
  void fill(std::size_t machine, Ticks top, Ticks idle, Counts placed);
  void close(Ticks idle, Counts placed);

  static constexpr Counts kTopBits = 0x8080'8080'8080'8080;

  const SearchBlock<Words>* block_ = nullptr;
  Ticks most_ = 0;
  std::size_t resource_ = 0, machines_ = 0;
  std::vector<Shape> shapes_;        // the first one takes nothing
  std::vector<ShapesOf> shapes_of_;  // per operator
  std::vector<Length> lengths_;
  std::vector<Sum> sums_;  // of all operators, by rising time; empty as long as nobody has asked
  bool too_many_sums_ = false;
  std::uint64_t looked_at_ = 0;

  // Of the state at hand. What is lost is time over all machines.
  std::vector<std::uint32_t> count_;  // of operators of each shape
  Counts left_ = 0;
  // Per length and number on machines: what is lost, and what will be if no more, or some more, come to that.
  std::vector<Ticks> lost_, lost_at_least_;
  Ticks time_left_ = 0;            // that what is on no machine takes beside others
  std::vector<Ticks> ready_;       // from when on each machine is free, the latest first
  std::vector<Ticks> ready_from_;  // of this machine and those after it together
  std::vector<Ticks> loads_;
  std::vector<std::size_t> first_;  // per machine: the first of sums_ that reaches high enough
  Ticks most_load_ = 0;
  Ticks least_lost_ = 0, enough_ = 0;
  std::uint64_t looks_left_ = 0;
};

extern template class MachineRest<1>;
extern template class MachineRest<2>;
extern template class MachineRest<4>;

}  // namespace phaze::schedule
