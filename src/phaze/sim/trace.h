// A run as a Perfetto trace (JSON in the Trace Event Format): one track of passes and one of messages per device, and a
// counter of its memory.
#pragma once

#include <string>

#include "phaze/sim/pipeline.h"

namespace phaze::sim {

std::string trace_json(const Run& run);

}  // namespace phaze::sim
