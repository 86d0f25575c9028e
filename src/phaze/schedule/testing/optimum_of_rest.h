// What is left of a block once some operators are done and nothing runs: the oracle of bounds on states of the search.
#pragma once

#include "phaze/schedule/block.h"
#include "phaze/schedule/op_set.h"

namespace phaze::schedule::testing {

// The least time for the others, once these are done.
Ticks optimum_of_rest(const Block& block, const OpSet<1>& done);

}  // namespace phaze::schedule::testing
