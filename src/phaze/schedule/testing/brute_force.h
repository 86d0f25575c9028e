// The optimum by trying everything: the oracle of the tests, written without a look at the solvers.
#pragma once

#include "phaze/schedule/instance.h"

namespace phaze::schedule::testing {

// Every choice of modes and every order that respects the edges, each operator placed at the earliest time at which it
// fits among those placed before it. Some order yields an optimal schedule: any schedule's own starts, sorted, give one
// that starts nothing later. Meant for seven operators or fewer.
double least_makespan(const Instance& instance);

}  // namespace phaze::schedule::testing
