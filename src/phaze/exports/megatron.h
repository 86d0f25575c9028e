// A plan as a shell script that starts Megatron-LM (megatron-core 0.15) with torchrun.
#pragma once

#include "phaze/base/result.h"
#include "phaze/exports/exported.h"
#include "phaze/exports/plan_document.h"

namespace phaze::exports {

// An error for models that its training scripts do not build: encoder-decoders, vision, ONNX files.
Result<Exported> megatron_script(const PlanDocument& plan);

// The value of --pipeline-model-parallel-layout: E embedding, t a transformer layer, L head and loss, | between parts;
// equal neighbours are folded, as in Et*2|(ttt|)*30t*2L.
std::string megatron_layout(const PlanDocument& plan);

}  // namespace phaze::exports
