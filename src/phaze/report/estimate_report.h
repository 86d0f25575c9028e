// Operator and layer costs, as JSON and as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "phaze/cost/estimate.h"
#include "phaze/cost/gemm.h"
#include "phaze/report/json_text.h"

namespace phaze::report {

struct GemmAnswer {
  cost::Estimate estimate;
  double cycles = 0;
  double global_bytes = 0;
  double core_elements = 0;
  double peak_fraction = 0;  // of the chip's peak that the product reaches
  std::string mapping;
};
Json to_json(const GemmAnswer& answer);
std::string to_text(const GemmAnswer& answer);

Json to_json(const cost::Estimate& estimate);
std::string to_text(const cost::Estimate& estimate);

struct LayerAnswer {
  std::string name;
  std::int64_t repeat = 1;
  cost::Estimate forward, backward, recompute;
  std::int64_t saved_activation_bytes = 0;
};
Json to_json(const std::vector<LayerAnswer>& layers);
std::string to_text(const std::vector<LayerAnswer>& layers);

}  // namespace phaze::report
