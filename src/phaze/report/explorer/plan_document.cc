#include <fmt/format.h>

#include "phaze/report/chip_report.h"
#include "phaze/report/explorer/document.h"
#include "phaze/report/explorer/document_parts.h"
#include "phaze/report/explorer/timeline.h"
#include "phaze/report/json_text.h"

namespace phaze::report {

std::string plan_document(const PlanDocument& plan) {
  const PlanAnswer& answer = *plan.answer;
  Json found = Json::parse(plan_json(answer, plan.top));
  found.erase("simulation");
  const std::int64_t batch = answer.request->training.global_batch;
  Json model = {{"name", answer.model},          {"sequence", answer.sequence}, {"global_batch", batch},
                {"parameters", plan.parameters}, {"devices", plan.devices},     {"plan", std::move(found)},
                {"timeline", nullptr},           {"layer_schedules", nullptr},  {"alone", nullptr}};
  if (!answer.plans.empty()) model["timeline"] = timeline_json(answer.plans.front().pipeline, answer.plans.front().run);
  if (!plan.layer_schedules.empty()) model["layer_schedules"] = Json::parse(plan.layer_schedules);
  return compact({{"format", kDocumentFormat},
                  {"kind", "place"},
                  {"title", answer.model},
                  {"subtitle", fmt::format("The best plan on {} × {}, batches of {} samples", grouped(plan.devices),
                                           answer.chip, grouped(batch))},
                  {"phaze_version", plan.phaze_version},
                  {"command", plan.command},
                  {"created", ""},
                  {"settings", Json::array()},
                  {"search", nullptr},
                  {"chip", chip_part(Json::parse(chip_json(*plan.chip)), std::nullopt)},
                  {"space", nullptr},
                  {"models", Json::array({std::move(model)})},
                  {"comparison", nullptr},
                  {"insight", nullptr}});
}

}  // namespace phaze::report
