#include "phaze/cost/estimate.h"

namespace phaze::cost {

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::kNothing: return "nothing";
    case Bound::kCompute: return "compute";
    case Bound::kVector: return "vector";
    case Bound::kCoreBuffer: return "core buffer";
    case Bound::kGlobalBuffer: return "global buffer";
    case Bound::kHbm: return "hbm";
    case Bound::kNetwork: return "network";
  }
  return "";
}

}  // namespace phaze::cost
