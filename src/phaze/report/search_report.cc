#include "phaze/report/search_report.h"

#include <fmt/format.h>

#include "phaze/hardware/power.h"
#include "phaze/report/chip_report.h"
#include "phaze/report/insight_report.h"
#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using search::Outcome;

double area_of(const SearchAnswer& answer, const hardware::Chip& chip) {
  return hardware::area(chip, answer.area_model).total;
}

std::string_view unit(const SearchAnswer& answer) {
  switch (answer.objective) {
    case search::Objective::kThroughput:
    case search::Objective::kPareto: return "";
    case search::Objective::kPerWatt: return " per watt";
    case search::Objective::kPerArea: return " per square micrometre";
  }
  return "";
}

Json found_json(const SearchAnswer& answer, const FoundChip& found) {
  Json json;
  const Outcome& outcome = found.outcome;
  json["best"] = nullptr;
  json["score"] = nullptr;
  if (!found.chips.empty()) {
    Json plans = Json::object();
    for (std::size_t i = 0; i < found.plans.size(); ++i)
      plans[found.models[i]] = Json::parse(plan_json(found.plans[i], 1));
    json["best"] = {{"chip", Json::parse(chip_json(found.chips.front()))},
                    {"index", outcome.best.front().chip},
                    {"area_um2", area_of(answer, found.chips.front())},
                    {"tdp_watts", hardware::thermal_design_power(found.chips.front()).total},
                    {"plans", std::move(plans)}};
    json["score"] = outcome.best.front().score;
  }
  json["evaluated"] = outcome.evaluated;
  json["pruned"] = outcome.pruned;
  json["infeasible"] = outcome.infeasible;
  json["open"] = outcome.open;
  json["space"] = outcome.chips.size();
  json["optimal"] = outcome.optimal;
  if (!outcome.reason.empty()) json["reason"] = outcome.reason;
  if (outcome.gap <= 1e300)
    json["gap"] = outcome.gap;
  else
    json["gap"] = nullptr;
  Json stages = Json::object();
  for (std::size_t level = 0; level < search::kLevels; ++level)
    stages[search::to_string(static_cast<search::Level>(level))] = outcome.pruned_at[level];
  json["pruned_by"] = std::move(stages);
  if (found.chips.size() > 1) {
    Json list = Json::array();
    for (std::size_t i = 0; i < found.chips.size(); ++i) {
      Json throughputs = Json::object();
      for (std::size_t m = 0; m < found.models.size(); ++m) throughputs[found.models[m]] = found.throughputs[i][m];
      list.push_back({{"chip", Json::parse(chip_json(found.chips[i]))},
                      {"index", outcome.best[i].chip},
                      {"area_um2", area_of(answer, found.chips[i])},
                      {"tdp_watts", hardware::thermal_design_power(found.chips[i]).total},
                      {"score", outcome.best[i].score},
                      {"throughput", std::move(throughputs)}});
    }
    json[answer.objective == search::Objective::kPareto ? "front" : "top"] = std::move(list);
  }
  return json;
}

std::string shape(const hardware::Chip& chip) {
  return fmt::format(
      "{} tensor cores of {} x {}, {} vector cores of {} lanes, {:.0f} MiB global buffer, {:.0f} GiB HBM",
      chip.tensor_cores.count, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.vector_cores.count,
      chip.vector_cores.lanes, static_cast<double>(chip.global_buffer.value()) / 1048576,
      static_cast<double>(chip.hbm.value()) / 1073741824);
}

std::string account(const Outcome& outcome) {
  std::string pruned;
  for (std::size_t level = 0; level < search::kLevels; ++level)
    if (outcome.pruned_at[level] > 0)
      pruned += fmt::format("{}{} by {}", pruned.empty() ? "" : ", ", outcome.pruned_at[level],
                            search::to_string(static_cast<search::Level>(level)));
  std::string text =
      fmt::format("  {} chips: {} evaluated, {} pruned{}, {} infeasible", outcome.chips.size(), outcome.evaluated,
                  outcome.pruned, pruned.empty() ? "" : " (" + pruned + ")", outcome.infeasible);
  if (outcome.open > 0) text += fmt::format(", {} open", outcome.open);
  if (outcome.optimal)
    text += fmt::format("\n  proven: no chip of the space {}\n", outcome.best.empty() ? "has a plan" : "is better");
  else
    text += fmt::format("\n  not proven: a chip may be better by up to {:.3g} %{}\n", 100 * outcome.gap,
                        outcome.open > 0 ? "" : " (a higher --effort may narrow that)");
  return text;
}

std::string found_text(const SearchAnswer& answer, const FoundChip& found) {
  std::string models;
  for (const std::string& model : found.models) models += (models.empty() ? "" : ", ") + model;
  if (found.chips.empty()) {
    if (found.outcome.open > 0) return models + ": no chip evaluated yet\n" + account(found.outcome);
    return fmt::format("{}: no chip of the space has a plan\n  {}\n{}", models, found.outcome.reason,
                       account(found.outcome));
  }
  const hardware::Chip& chip = found.chips.front();
  std::string text = fmt::format("{}: {}\n  area {:.1f} mm2, TDP {:.0f} W, score {:.6g}{}\n", models, shape(chip),
                                 area_of(answer, chip) / 1e6, hardware::thermal_design_power(chip).total,
                                 found.outcome.best.front().score, unit(answer));
  text += account(found.outcome);
  if (found.chips.size() > 1) {
    Table table(
        {{"rank", Align::kRight}, {"score", Align::kRight}, {"area", Align::kRight}, {"TDP", Align::kRight}, {"chip"}});
    for (std::size_t i = 0; i < found.chips.size(); ++i)
      table.row({std::to_string(i + 1), fmt::format("{:.6g}", found.outcome.best[i].score),
                 fmt::format("{:.1f} mm2", area_of(answer, found.chips[i]) / 1e6),
                 fmt::format("{:.0f} W", hardware::thermal_design_power(found.chips[i]).total), shape(found.chips[i])});
    text += answer.objective == search::Objective::kPareto ? "\nPareto front of throughput, area and TDP:\n" : "\n";
    text += table.to_string();
  }
  for (const PlanAnswer& plan : found.plans) text += "\n" + plan_text(plan, 1);
  return text;
}

}  // namespace

std::string search_json(const SearchAnswer& answer) {
  Json json = found_json(answer, answer.common);
  if (!answer.each.empty()) {
    json["baseline"] = answer.baseline;
    json["per_model"] = Json::object();
    for (const FoundChip& found : answer.each) json["per_model"][found.models.front()] = found_json(answer, found);
  }
  if (answer.insight) json["insight"] = Json::parse(insight_json(*answer.insight));
  json["seconds"] = answer.seconds;
  return text_of(json);
}

std::string search_text(const SearchAnswer& answer) {
  std::string text = found_text(answer, answer.common);
  for (const FoundChip& found : answer.each) text += "\nAlone, " + found_text(answer, found);
  if (answer.insight) text += "\n" + insight_text(*answer.insight);
  return text + fmt::format("\n{:.1f} s\n", answer.seconds);
}

}  // namespace phaze::report
