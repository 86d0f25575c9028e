// The plan of an expert, as the 2024 study compares itself with one.
//
// With n = numTransformerLayers and p = fixedPP, the first n layers in topological order are cut into pieces of
// ceil(n/p), one per stage; whatever follows them, such as a head, joins the last stage. Every stage has fixedTMPC
// devices. This is what the released tool does; an embedding thus counts as the first of the n.
#pragma once

#include <optional>
#include <string>

#include "phaze/placement/phaze2024/instance.h"

namespace phaze::placement::phaze2024 {

struct ExpertResult {
  std::optional<Plan> plan;              // nothing if the choice does not apply to this instance
  std::optional<double> time_per_batch;  // nothing if the plan cannot be run
  std::string reason;                    // why there is no time
};

// Nothing if the instance names no expert's choice.
std::optional<ExpertResult> evaluate_expert(const Instance& instance, const std::vector<std::int64_t>& order);

}  // namespace phaze::placement::phaze2024
