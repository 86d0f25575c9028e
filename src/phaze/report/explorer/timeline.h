// One simulated iteration for the page: as many events as it can carry, packed.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "phaze/sim/pipeline.h"

namespace phaze::report {

// More events than this are thinned: first the messages go, then microbatches in the middle, which look like their
// neighbours.
inline constexpr std::size_t kMostEvents = 24'000;

nlohmann::ordered_json timeline_json(const sim::Pipeline& pipeline, const sim::Run& run,
                                     std::size_t most_events = kMostEvents);

}  // namespace phaze::report
