// Every plan of a small request, measured by the checker.
#pragma once

#include <vector>

#include "phaze/placement/evaluate.h"

namespace phaze::placement::testing {

struct BruteForce {
  // Of each strategy (table, p, d, v), in the order of enumeration, the best time over ZeRO levels, orders, cuts and
  // policies; only those with a plan that can be run.
  std::vector<double> times;
  double best = -1;  // -1: nothing fits
  struct Point {
    double seconds = 0;
    double bytes = 0;  // on the device that needs most
  };
  std::vector<Point> points;  // of every plan that can be run
};

BruteForce brute_force(const Request& request);

}  // namespace phaze::placement::testing
