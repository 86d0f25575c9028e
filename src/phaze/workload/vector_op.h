// The vector operators: everything that is neither a matrix product nor communication.
//
// One table (traits) says of each what its name is, whether it works element by element (and so may fuse), and what its
// gradient needs. The backward pass, fusion and cost models read it; nothing else switches over all operators.
#pragma once

#include <cstdint>
#include <string_view>

namespace phaze::workload {

enum class VectorOp : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kScale,
  kMask,
  kNeg,
  kCast,
  kCopy,
  kRelu,
  kGelu,
  kSilu,
  kTanh,
  kSigmoid,
  kExp,
  kLog,
  kSqrt,
  kReciprocal,
  kPow,
  kErf,
  kSin,
  kCos,
  kAbs,
  kClip,
  kWhere,
  kCompare,
  kRotary,
  kDropout,
  kLayerNorm,
  kRmsNorm,
  kSoftmax,
  kLogSoftmax,
  kReduceSum,
  kReduceMean,
  kReduceMax,
  kCumSum,
  kConcat,
  kExpand,
  kPad,
  kEmbedding,
  kGather,
  kScatter,
  kRange,
  kPool,
  kCrossEntropy,
  kOther,
};

// What the gradient of an operator reads besides the gradient of its output.
enum class GradientNeeds : std::uint8_t {
  kNothing,       // linear: add, scale, cast, sums
  kInput,         // gelu(x), norms
  kOutput,        // tanh, softmax: the derivative is a function of the result
  kOtherOperand,  // products: each operand's gradient reads the other operand
  kMask,          // dropout: the second output, one byte per element
  kIndices,       // look-ups: which rows were read
  kNoGradient,    // comparisons, ranges
};

struct VectorTraits {
  std::string_view name;
  bool element_wise = false;  // output element i depends on input elements i alone
  GradientNeeds gradient_needs = GradientNeeds::kNothing;
};

const VectorTraits& traits(VectorOp op);

inline std::string_view to_string(VectorOp op) { return traits(op).name; }

}  // namespace phaze::workload
