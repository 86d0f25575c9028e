// What every cost model answers: how long, how much energy, how much HBM traffic, and why.
#pragma once

#include <cstdint>
#include <string_view>

namespace phaze::cost {

enum class Bound : std::uint8_t { kNothing, kCompute, kVector, kCoreBuffer, kGlobalBuffer, kHbm, kNetwork };
std::string_view to_string(Bound bound);

struct Estimate {
  double seconds = 0;
  double joules = 0;
  double hbm_bytes = 0;
  Bound bound_by = Bound::kNothing;

  bool operator==(const Estimate&) const = default;
};

}  // namespace phaze::cost
