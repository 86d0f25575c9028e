#include "phaze/search/level.h"

namespace phaze::search {

const char* to_string(Level level) {
  switch (level) {
    case Level::kRoofline: return "roofline";
    case Level::kPlaced: return "placed roofline";
    case Level::kOperators: return "operator costs";
    case Level::kBounds: return "bounds on layer schedules";
    case Level::kSchedules: return "layer schedules";
  }
  return "";
}

}  // namespace phaze::search
