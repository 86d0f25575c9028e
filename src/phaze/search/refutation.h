// How to show that a plan takes too long by bounds on the layers of its model alone.
//
// Schedules that are not proven leave every pass of every layer with a bound and a time. Were all bounds at their
// times, the plan would be known to be too slow; mostly a part of the way suffices, and to show that no schedule is
// shorter than a goal takes a fraction of what it takes to find the shortest, the less the lower the goal. So the goals
// are set no further up than it takes: the same share of the way for all passes that are asked.
//
// Which are asked: at first those with a wide gap. A pass that is nearly solved is so because its bound is good, and
// what is left of it is the hardest part. Where those do not suffice all are asked, and where one falls short of its
// goal, it is left as it is and the others are asked for more.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "phaze/layer_times/layer_times.h"

namespace phaze::search {

class Refutation {
 public:
  // Seconds that no plan of layers with these times or longer ones falls below; infinite where that is `enough`.
  using Place = std::function<double(const placement::LayerTable&)>;

  // `known` has bounds; with those a plan takes about `least` seconds, and is known to take no less, with its times
  // about `most`. A placement takes a while, so the better the guesses the better.
  Refutation(layer_times::LayerPricer::Tables known, double least, double most, double enough, Place place);

  // Bounds which would suffice, to be looked for next. None where the times known do not suffice, or where all that
  // would is given up.
  std::optional<placement::LayerTable> goals();
  // What was found with those goals.
  void learn(layer_times::LayerPricer::Tables found);

  const layer_times::LayerPricer::Tables& known() const { return known_; }
  // Seconds with the bounds known; infinite once they suffice.
  double least() const { return least_; }

 private:
  void ask_those_with_wide_gaps();
  void ask_all();
  std::optional<int> least_share() const;
  placement::LayerTable part_of_the_way(int share) const;

  layer_times::LayerPricer::Tables known_;
  double least_, most_, enough_;
  Place place_;
  // By pass, in the order of seconds_of().
  std::vector<bool> asked_, given_up_;
  std::vector<double> sufficient_;  // bounds, of which the goals are set a little above
};

}  // namespace phaze::search
