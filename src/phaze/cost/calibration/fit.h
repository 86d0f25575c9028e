// Fits a chip's calibration to measurements, and says how far off it stays.
//
// Few parameters, each physical: fractions of peak compute, of HBM bandwidth, of vector peak and, in attention, of both
// peaks, a start cost per operator, and the least tile of outputs. They minimise the mean of |log(estimate/measured)|,
// with equal weight to products, vector operators and layers; cases shorter than 50 µs, which are launches more than
// work, count only where they make up a layer. Found by coordinate descent with shrinking steps from the chip's own
// figures: the objective is nearly separable, and the residuals say what it is worth.
//
// All of these are measured in moments. What is left of the speed of products after seconds of them is measured apart
// and needs no fit: the mean over some large ones.
#pragma once

#include <string>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/cost/calibration/measurements.h"
#include "phaze/hardware/chip.h"

namespace phaze::cost {

// One measurement beside its estimate: seconds, or bytes of kept activations.
struct Comparison {
  std::string group;
  std::string name;
  double estimate = 0;
  double measured = 0;
};

// A chip as it is.
Result<std::vector<Comparison>> compare(const hardware::Chip& chip, const Measurements& measurements);

// |estimate/measured − 1| of one class of measurements.
struct Residual {
  std::string group;
  std::size_t cases = 0;
  double mean = 0;
  double worst = 0;
  std::string worst_case;
};

std::vector<Residual> summarise(const std::vector<Comparison>& comparisons);

struct Fit {
  hardware::Calibration calibration;
  std::vector<Residual> before, after;
};
Result<Fit> fit_calibration(const hardware::Chip& chip, const Measurements& measurements);

}  // namespace phaze::cost
