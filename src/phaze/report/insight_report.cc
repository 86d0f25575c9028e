#include "phaze/report/insight_report.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using insight::Insight;
using insight::ModelInsight;
using insight::Neighbour;
using insight::PassInsight;

std::array<std::pair<std::string_view, double>, 6> parts(const hardware::Area& area) {
  return {{{"tensor_cores", area.tensor_cores},
           {"vector_cores", area.vector_cores},
           {"global_buffer", area.global_buffer},
           {"wiring", area.wiring},
           {"hbm", area.hbm},
           {"links", area.links}}};
}

Json pass_json(const PassInsight& pass) {
  return {{"layer", pass.layer},
          {"repeat", pass.repeat},
          {"pass", pass.backward ? "backward" : "forward"},
          {"seconds", pass.seconds},
          {"bound_by", pass.bound_by},
          {"bound_share", pass.bound_share},
          {"busy",
           {{"tensor", pass.busy.tensor},
            {"vector", pass.busy.vector},
            {"hbm", pass.busy.hbm},
            {"network", pass.busy.network}}}};
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string neighbour_table(const Insight& insight) {
  Table table({{"parameter"},
               {"from", Align::kRight},
               {"to", Align::kRight},
               {"score", Align::kRight},
               {"ratio", Align::kRight},
               {"area", Align::kRight},
               {"in the space"}});
  for (const Neighbour& neighbour : insight.neighbours)
    table.row({neighbour.parameter, neighbour.from, neighbour.to,
               neighbour.score > 0 ? fmt::format("{:.6g}", neighbour.score) : "no plan",
               neighbour.score > 0 ? fmt::format("{:.4f}", neighbour.ratio) : "",
               fmt::format("{:.1f} mm2", neighbour.area_um2 / 1e6),
               neighbour.allowed ? "yes" : "no, " + neighbour.limit});
  return table.to_string();
}

std::string pass_table(const ModelInsight& model) {
  Table table({{"layer"},
               {"repeat", Align::kRight},
               {"pass"},
               {"time", Align::kRight},
               {"bound by"},
               {"tensor busy", Align::kRight},
               {"vector busy", Align::kRight},
               {"HBM busy", Align::kRight},
               {"network busy", Align::kRight}});
  for (const PassInsight& pass : model.passes)
    table.row({pass.layer, std::to_string(pass.repeat), pass.backward ? "backward" : "forward",
               readable_seconds(pass.seconds), fmt::format("{} ({})", pass.bound_by, percent(pass.bound_share)),
               percent(pass.busy.tensor), percent(pass.busy.vector), percent(pass.busy.hbm),
               percent(pass.busy.network)});
  return table.to_string();
}

}  // namespace

std::string insight_json(const Insight& insight) {
  Json json = {{"score", insight.score}};
  Json area = Json::object();
  for (const auto& [name, value] : parts(insight.area)) area[std::string(name)] = value;
  area["total"] = insight.area.total;
  if (insight.largest_area > 0) area["share_of_largest"] = insight.area.total / insight.largest_area;
  json["area_um2"] = std::move(area);
  json["sensitivity"] = Json::array();
  for (const Neighbour& neighbour : insight.neighbours)
    json["sensitivity"].push_back({{"parameter", neighbour.parameter},
                                   {"from", neighbour.from},
                                   {"to", neighbour.to},
                                   {"score", neighbour.score > 0 ? Json(neighbour.score) : Json(nullptr)},
                                   {"ratio", neighbour.score > 0 ? Json(neighbour.ratio) : Json(nullptr)},
                                   {"area_um2", neighbour.area_um2},
                                   {"allowed", neighbour.allowed},
                                   {"limit", neighbour.limit}});
  json["models"] = Json::object();
  for (const ModelInsight& model : insight.models) {
    Json one = {{"throughput", model.throughput},
                {"tensor_parallel", model.tensor_parallel},
                {"microbatch", model.microbatch},
                {"tensor_utilisation", model.tensor_utilisation},
                {"vector_utilisation", model.vector_utilisation}};
    one["layers"] = Json::array();
    for (const PassInsight& pass : model.passes) one["layers"].push_back(pass_json(pass));
    json["models"][model.model] = std::move(one);
  }
  return text_of(json);
}

std::string insight_text(const Insight& insight) {
  std::string text = fmt::format("Why this chip\n  area {:.1f} mm2", insight.area.total / 1e6);
  if (insight.largest_area > 0)
    text += fmt::format(", {} of the largest", percent(insight.area.total / insight.largest_area));
  for (const auto& [name, value] : parts(insight.area))
    if (value > 0) {
      std::string words(name);
      for (char& letter : words)
        if (letter == '_') letter = ' ';
      text += fmt::format("; {} {}", words, percent(value / insight.area.total));
    }
  text += "\n\nOne step away, everything else equal\n" + neighbour_table(insight);
  for (const ModelInsight& model : insight.models) {
    text += fmt::format("\n{}: tensor cores at {} of peak over the batch, vector cores at {}\n", model.model,
                        percent(model.tensor_utilisation), percent(model.vector_utilisation));
    text += pass_table(model);
  }
  return text;
}

}  // namespace phaze::report
