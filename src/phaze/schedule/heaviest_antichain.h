// The antichain of the largest weight.
//
// Chains that cover every operator as often as it weighs are together at least as heavy as any antichain, since a chain
// has at most one operator of it; and the lightest such cover is just as heavy as the heaviest antichain (Dilworth
// 1950, with weights). A cover begins with a chain for every unit of every operator. Joining the end of a chain at
// operator i with the beginning of another at j, where i precedes j, saves one, so that the most that can be joined is
// a flow from operators as ends to operators as beginnings. Any flow is a cover, and so a bound; the largest one leaves
// a cut that is the antichain.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "phaze/schedule/block.h"
#include "phaze/schedule/op_set.h"

namespace phaze::schedule {

// Keeps its memory from one block to the next.
template <std::size_t Words>
class HeaviestAntichain {
 public:
  void prepare(const Block& block);

  // No antichain weighs more than this, for weights of operators that are not negative.
  double find(std::span<const double> weights);
  // The one that weighs as much, of the last find().
  const OpSet<Words>& members() const { return members_; }

  // Operators looked at since prepare().
  std::uint64_t work() const { return work_; }

 private:
  std::vector<OpSet<Words>> after_;
  OpSet<Words> heavy_;                   // operators that weigh something
  std::vector<double> ends_, begins_;    // per operator: chains that are not yet joined there
  OpSet<Words> open_begins_;             // operators where some of these begin
  std::vector<double> joined_;           // per pair: chains that go from the one to the other
  std::vector<OpSet<Words>> joined_to_;  // per operator: those from which some come
  OpSet<Words> reached_ends_, reached_begins_, members_;
  std::vector<std::uint32_t> from_end_, from_begin_, queue_;
  std::uint64_t work_ = 0;
};

extern template class HeaviestAntichain<1>;
extern template class HeaviestAntichain<2>;
extern template class HeaviestAntichain<4>;

}  // namespace phaze::schedule
