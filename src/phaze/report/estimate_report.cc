#include "phaze/report/estimate_report.h"

#include <fmt/format.h>

#include "phaze/report/table.h"

namespace phaze::report {

Json to_json(const cost::Estimate& estimate) {
  return {{"seconds", estimate.seconds},
          {"joules", estimate.joules},
          {"hbm_bytes", estimate.hbm_bytes},
          {"bound_by", cost::to_string(estimate.bound_by)}};
}

std::string to_text(const cost::Estimate& estimate) {
  return fmt::format("{}, bound by {}; {:.4g} J, {} of HBM traffic\n", readable_seconds(estimate.seconds),
                     cost::to_string(estimate.bound_by), estimate.joules, readable_bytes(estimate.hbm_bytes));
}

Json to_json(const GemmAnswer& answer) {
  return {{"seconds", answer.estimate.seconds},
          {"cycles", answer.cycles},
          {"joules", answer.estimate.joules},
          {"hbm_bytes", answer.estimate.hbm_bytes},
          {"global_buffer_bytes", answer.global_bytes},
          {"core_buffer_elements", answer.core_elements},
          {"peak_fraction", answer.peak_fraction},
          {"bound_by", cost::to_string(answer.estimate.bound_by)},
          {"mapping", answer.mapping}};
}

std::string to_text(const GemmAnswer& answer) {
  return to_text(answer.estimate) + fmt::format("{:.0f} cycles, {:.1f} % of the chip's peak\n{}\n", answer.cycles,
                                                100 * answer.peak_fraction, answer.mapping);
}

Json to_json(const std::vector<LayerAnswer>& layers) {
  Json json = Json::array();
  for (const LayerAnswer& layer : layers)
    json.push_back({{"name", layer.name},
                    {"repeat", layer.repeat},
                    {"forward_seconds", layer.forward.seconds},
                    {"backward_seconds", layer.backward.seconds},
                    {"recompute_seconds", layer.recompute.seconds},
                    {"saved_activation_bytes", layer.saved_activation_bytes},
                    {"forward_joules", layer.forward.joules},
                    {"backward_joules", layer.backward.joules},
                    {"forward_hbm_bytes", layer.forward.hbm_bytes},
                    {"backward_hbm_bytes", layer.backward.hbm_bytes}});
  return json;
}

std::string to_text(const std::vector<LayerAnswer>& layers) {
  using enum Table::Align;
  Table table({{"layer"},
               {"times", kRight},
               {"forward", kRight},
               {"backward", kRight},
               {"run again", kRight},
               {"kept activations", kRight},
               {"energy, J", kRight}});
  for (const LayerAnswer& layer : layers)
    table.row({layer.name, std::to_string(layer.repeat), readable_seconds(layer.forward.seconds),
               readable_seconds(layer.backward.seconds), readable_seconds(layer.recompute.seconds),
               readable_bytes(static_cast<double>(layer.saved_activation_bytes)),
               fmt::format("{:.3g}", layer.forward.joules + layer.backward.joules + layer.recompute.joules)});
  return table.to_string();
}

}  // namespace phaze::report
