// How much random tests try. Builds with sanitizers take many times as long and look at fewer cases of each kind.
#pragma once

namespace phaze {

#ifdef PHAZE_THIN_TESTS
inline constexpr bool kThinTests = true;
#else
inline constexpr bool kThinTests = false;
#endif

}  // namespace phaze
