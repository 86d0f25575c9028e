// The pipeline that a plan describes.
#pragma once

#include "phaze/placement/plan.h"
#include "phaze/placement/training.h"
#include "phaze/sim/pipeline.h"

namespace phaze::sim {

Pipeline pipeline_of(const placement::Request& request, const placement::Plan& plan);

}  // namespace phaze::sim
