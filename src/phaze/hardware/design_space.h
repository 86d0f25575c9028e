// Design spaces: which chips to consider.
//
// A space is a base chip, dimensions (each a parameter with its values, nested in order, the first outermost), ties (a
// parameter that always equals a dimension) and limits. Points whose buffers hold no product are no chips and never
// kept. It is never held as a list: chips are made one after another, and counting uses that area and power grow with
// every parameter, so that the innermost dimension is searched, not walked.
//
//   DesignSpace space = phaze_space();              // 75,712 points
//   space.count_kept();                             // 29,360
//   space.for_each_kept([](const Chip& chip) { ...; return true; });
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/base/result.h"
#include "phaze/hardware/area.h"
#include "phaze/hardware/chip.h"
#include "phaze/hardware/parameter.h"

namespace phaze::hardware {

struct Dimension {
  const Parameter* parameter = nullptr;
  std::vector<double> values;  // in the order of enumeration
};

struct Tie {
  const Parameter* parameter = nullptr;
  const Parameter* equals = nullptr;
};

struct Limits {
  AreaModel area_model = AreaModel::kPhaze22;
  std::optional<double> max_area_um2;
  // At least this share of the largest area, except for chips with a single tensor or vector core, as in the 2024
  // study.
  double min_area_share = 0;
  std::optional<double> max_tdp_watts;
};

class DesignSpace {
 public:
  std::string name;
  Chip base;
  std::vector<Dimension> dimensions;
  std::vector<Tie> ties;
  Limits limits;

  std::int64_t points() const;  // before limits; saturates
  bool keeps(const Chip& chip) const;
  // Moves a chip along a dimension, and whatever is tied to it.
  void set(Chip& chip, const Dimension& dimension, double value) const;

  // Nothing where `progress` said stop.
  std::optional<std::int64_t> count_kept(Progress& progress) const;
  std::int64_t count_kept() const;
  // In order, until the visitor returns false or `progress` says stop.
  void for_each_kept(const std::function<bool(const Chip&)>& visit, Progress& progress) const;
  void for_each_kept(const std::function<bool(const Chip&)>& visit) const;
};

// The space of the 2024 study: 13 × 13 core counts, 8 × 8 array shapes, lanes = rows, 7 buffers, descending.
DesignSpace phaze_space();

std::vector<std::string> space_presets();

// A preset, or a path to a YAML file; the schema is in docs/hardware.md.
Result<DesignSpace> load_space(std::string_view space);
Result<DesignSpace> parse_space_file(std::string_view text);

}  // namespace phaze::hardware
