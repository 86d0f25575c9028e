// Which of the evaluated chips are the answer: the best so many, or the Pareto front.
//
// Best: by score, ties to the chip with the lower number. Front: every chip than which no other has a score at least as
// high, an area and a power no larger, and something better; of chips that are equal in all three, the one with the
// lower number. What is chosen does not depend on the order of insertion.
//
// A chip may be pruned by its bound where it would not be chosen even if its score were the bound: `excludes`. On a
// front, the chip that excludes it may itself be dominated later, by one that excludes both.
#pragma once

#include <cstddef>
#include <vector>

namespace phaze::search {

struct Ranked {
  std::size_t chip = 0;
  double score = 0;
  bool operator==(const Ranked&) const = default;
};

class Selection {
 public:
  // What a chip takes up. On a front only.
  struct Size {
    double area = 0;
    double power = 0;
  };

  static Selection best(std::size_t keep);
  // `sizes` of all chips, by number; they must outlive it.
  static Selection front(const std::vector<Size>& sizes);

  // A chip may come again with a higher score.
  void insert(const Ranked& chip);
  // The best first.
  const std::vector<Ranked>& chosen() const { return chosen_; }
  bool contains(const Ranked& chip) const;

  // True where the chip with this score or a lower one would not be chosen.
  bool excludes(const Ranked& chip) const;
  // A lower score is of no use to this chip; 0 where any is.
  double least_useful(std::size_t chip) const;

 private:
  Selection() = default;
  bool dominates(const Ranked& a, const Ranked& b) const;

  std::size_t keep_ = 0;
  const std::vector<Size>* sizes_ = nullptr;  // of a front
  std::vector<Ranked> chosen_;
};

}  // namespace phaze::search
