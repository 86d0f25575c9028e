// A plan as a TOML file for torchtitan (0.1 and 0.2, whose JobConfig is read from TOML).
#pragma once

#include "phaze/base/result.h"
#include "phaze/exports/exported.h"
#include "phaze/exports/plan_document.h"

namespace phaze::exports {

// An error for models that are not a chain of an embedding, transformer layers and a head.
Result<Exported> torchtitan_toml(const PlanDocument& plan);

}  // namespace phaze::exports
