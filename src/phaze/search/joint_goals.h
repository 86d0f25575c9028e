// How far the bounds of each of several models have to rise for their chip to be of no use.
//
// Of every model on a chip it is known how long a batch takes at least, and how long with the best plan at hand. Were
// all bounds at their plans, the chip would mostly be known to be worse than another one, and part of the way suffices.
// It is the same part for all models that are asked: at first those of which much is not known, since what is left of a
// narrow gap is the hardest part of it, and where these do not suffice all of them.
//
// A model whose bound has fallen short of what it was asked for is not asked again with the same effort: the others are
// asked for more. Where there are no others, it is if it is asked for less; that happens where the first question was
// one about several models.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "phaze/search/score.h"

namespace phaze::search {

// What is known of one model on one chip.
struct Standing {
  double least = 0;                                         // seconds per batch: no plan takes less
  double most = 0;                                          // those of the best plan found
  bool proven = false;                                      // there is no better one
  std::uint32_t effort = 0;                                 // that has been spent on it
  double failed = std::numeric_limits<double>::infinity();  // seconds that the bound did not reach with this effort
};

// The highest bound that this effort may lead to, by what is known.
double reach(const Standing& standing, std::uint32_t effort, bool alone);

// Seconds that the bounds of the models have to reach, by model, with this effort, so that the chip is worth less than
// `least_useful`; a bound is left as it is where it is given as its own goal. Where the chip is worth as much with the
// plans at hand, all that is not proven is asked for its best plan, which is an infinite goal. None where the effort
// cannot suffice, by what is known.
std::optional<std::vector<double>> joint_goals(const Score& score, std::span<const Standing> standings, double cost,
                                               double least_useful, std::uint32_t effort);

}  // namespace phaze::search
