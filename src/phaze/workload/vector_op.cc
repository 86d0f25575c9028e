#include "phaze/workload/vector_op.h"

#include <array>

namespace phaze::workload {
namespace {

using enum GradientNeeds;

// In the order of the enumeration.
constexpr std::array<VectorTraits, static_cast<std::size_t>(VectorOp::kOther) + 1> kTraits = {{
    {"add", true, kNothing},
    {"sub", true, kNothing},
    {"mul", true, kOtherOperand},
    {"div", true, kOtherOperand},
    {"scale", true, kNothing},
    {"mask", true, kNothing},
    {"neg", true, kNothing},
    {"cast", true, kNothing},
    {"copy", true, kNothing},
    {"relu", true, kOutput},
    {"gelu", true, kInput},
    {"silu", true, kInput},
    {"tanh", true, kOutput},
    {"sigmoid", true, kOutput},
    {"exp", true, kOutput},
    {"log", true, kInput},
    {"sqrt", true, kOutput},
    {"reciprocal", true, kOutput},
    {"pow", true, kInput},
    {"erf", true, kInput},
    {"sin", true, kInput},
    {"cos", true, kInput},
    {"abs", true, kInput},
    {"clip", true, kInput},
    {"where", true, kIndices},
    {"compare", true, kNoGradient},
    {"rotary", true, kNothing},
    {"dropout", true, kMask},
    {"layer_norm", false, kInput},
    {"rms_norm", false, kInput},
    {"softmax", false, kOutput},
    {"log_softmax", false, kOutput},
    {"reduce_sum", false, kNothing},
    {"reduce_mean", false, kNothing},
    {"reduce_max", false, kInput},
    {"cumsum", false, kNothing},
    {"concat", false, kNothing},
    {"expand", false, kNothing},
    {"pad", false, kNothing},
    {"embedding", false, kIndices},
    {"gather", false, kIndices},
    {"scatter", false, kIndices},
    {"range", false, kNoGradient},
    {"pool", false, kInput},
    {"cross_entropy", false, kOutput},
    {"other", false, kInput},
}};
static_assert(kTraits.back().name == "other", "one row per operator, in the order of VectorOp");

}  // namespace

const VectorTraits& traits(VectorOp op) { return kTraits[static_cast<std::size_t>(op)]; }

}  // namespace phaze::workload
