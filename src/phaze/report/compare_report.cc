#include "phaze/report/compare_report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <vector>

#include "phaze/hardware/area.h"
#include "phaze/report/chip_report.h"
#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using baselines::Figure;
using baselines::ModelComparison;

struct Method {
  const char* key;
  const char* title;
  Figure ModelComparison::*own;
  Figure ModelComparison::*common;  // null where the chip is given
};
constexpr std::array<Method, 5> kMethods = {{
    {"tpuv4_expert", "expert", &ModelComparison::reference_expert, nullptr},
    {"tpuv4_placement", "placement", &ModelComparison::reference_placement, nullptr},
    {"chip_only", "chip alone", &ModelComparison::chip_alone, &ModelComparison::common_chip_alone},
    {"bayesian", "Bayesian", &ModelComparison::bayesian, &ModelComparison::common_bayesian},
    {"cosearch", "co-search", &ModelComparison::cosearch, &ModelComparison::common_cosearch},
}};

Json number(double value) { return value > 0 && std::isfinite(value) ? Json(value) : Json(nullptr); }

double over_expert(const ModelComparison& model, const Figure& figure) {
  const double expert = model.reference_expert.throughput;
  return expert > 0 ? figure.throughput / expert : 0;
}

// Of a figure relative to the expert's, over all models; 0 unless all have both.
double mean_over_expert(const baselines::Comparison& comparison, Figure ModelComparison::*figure) {
  double sum = 0;
  for (const ModelComparison& model : comparison.models) {
    const double ratio = over_expert(model, model.*figure);
    if (ratio <= 0) return 0;
    sum += std::log(ratio);
  }
  return std::exp(sum / static_cast<double>(comparison.models.size()));
}

// The chip for all models, with the memory that the hungriest of them needs.
Figure common_figure(const baselines::Comparison& comparison, const Method& method) {
  Figure figure = comparison.models.front().*method.common;
  for (const ModelComparison& model : comparison.models)
    if ((model.*method.common).hbm.value() > figure.hbm.value()) figure.hbm = (model.*method.common).hbm;
  return figure;
}

double area_of(const CompareAnswer& answer, std::size_t chip) {
  return hardware::area(answer.problem->chips[chip], answer.problem->area_model).total;
}

Json chip_entry(const CompareAnswer& answer, const Figure& figure) {
  if (!figure.chip) return nullptr;
  const double area = area_of(answer, *figure.chip);
  Json json = {{"chip", Json::parse(chip_json(answer.problem->chips[*figure.chip]))},
               {"index", *figure.chip},
               {"area_um2", area},
               {"gap", std::isfinite(figure.gap) ? Json(figure.gap) : Json(nullptr)}};
  if (answer.largest_area) json["area_share"] = area / *answer.largest_area;
  if (figure.hbm.value() > 0) json["hbm_bytes"] = figure.hbm.value();
  return json;
}

Json model_json(const CompareAnswer& answer, const ModelComparison& model) {
  Json json;
  for (const Method& method : kMethods) json[method.key] = number((model.*method.own).throughput);
  json["cosearch_over_tpuv4_expert"] = number(over_expert(model, model.cosearch));
  if (model.expert)
    json["expert"] = {{"pipeline", model.expert->pipeline},
                      {"data_parallel", model.expert->data_parallel},
                      {"tensor_parallel", model.expert->tensor_parallel},
                      {"source", model.expert->source}};
  else
    json["expert"] = {{"reason", model.no_expert}};
  Json chips = Json::object();
  for (const Method& method : kMethods)
    if (method.common != nullptr) chips[method.key] = chip_entry(answer, model.*method.own);
  json["chips"] = std::move(chips);
  if (answer.comparison->models.size() > 1) {
    Json common = Json::object();
    for (const Method& method : kMethods)
      if (method.common != nullptr) common[method.key] = number((model.*method.common).throughput);
    common["cosearch_over_tpuv4_expert"] = number(over_expert(model, model.common_cosearch));
    json["common_chip"] = std::move(common);
  }
  return json;
}

Json summary_json(const CompareAnswer& answer) {
  const baselines::Comparison& comparison = *answer.comparison;
  Json json = {{"reference", answer.reference}, {"space", answer.problem->chips.size()}, {"trials", comparison.trials}};
  Json own = Json::object(), common = Json::object(), chips = Json::object();
  for (const Method& method : kMethods) {
    own[method.key] = number(mean_over_expert(comparison, method.own));
    if (method.common == nullptr || comparison.models.size() < 2) continue;
    common[method.key] = number(mean_over_expert(comparison, method.common));
    chips[method.key] = chip_entry(answer, common_figure(comparison, method));
  }
  json["geometric_mean_over_tpuv4_expert"] = std::move(own);
  if (comparison.models.size() > 1) {
    json["common_chip_over_tpuv4_expert"] = std::move(common);
    json["common_chips"] = std::move(chips);
  }
  json["stopped"] = comparison.stopped;
  json["seconds"] = answer.seconds;
  return json;
}

std::string shape(const CompareAnswer& answer, const Figure& figure) {
  if (!figure.chip) return "none found";
  const hardware::Chip& chip = answer.problem->chips[*figure.chip];
  const double area = area_of(answer, *figure.chip);
  std::string text = fmt::format("{} x {}x{} + {} x {}, {} MiB, {:.1f} mm2", chip.tensor_cores.count,
                                 chip.tensor_cores.rows, chip.tensor_cores.cols, chip.vector_cores.count,
                                 chip.vector_cores.lanes, chip.global_buffer.value() >> 20, area / 1e6);
  if (answer.largest_area) text += fmt::format(" ({:.1f} % of the largest)", 100 * area / *answer.largest_area);
  if (figure.hbm.value() > 0) text += fmt::format(", {} GiB HBM", figure.hbm.value() >> 30);
  if (!std::isfinite(figure.gap))
    text += ", not proven";
  else if (figure.gap > 0)
    text += fmt::format(", not proven: up to {:.3g} % better may exist", 100 * figure.gap);
  return text;
}

std::string throughput(const Figure& figure) {
  return figure.throughput > 0 ? fmt::format("{:.5g}", figure.throughput) : "-";
}

std::string ratio(double value) { return value > 0 ? fmt::format("{:.2f}", value) : "-"; }

std::string plan_of(const ModelComparison& model) {
  if (!model.expert) return "-";
  return fmt::format("{}/{}/{}", model.expert->pipeline, model.expert->data_parallel, model.expert->tensor_parallel);
}

// A column per method, on chips of each model's own or on common ones.
template <typename Cell>
std::string method_table(const CompareAnswer& answer, bool with_plan, const Cell& cell, const std::string& last_title,
                         const std::vector<std::string>& last_cells) {
  std::vector<Table::Column> columns = {{"model"}};
  if (with_plan) columns.push_back({"expert plan", Align::kRight});
  for (const Method& method : kMethods) columns.push_back({method.title, Align::kRight});
  Table table(std::move(columns));
  for (const ModelComparison& model : answer.comparison->models) {
    std::vector<std::string> cells = {model.model};
    if (with_plan) cells.push_back(plan_of(model));
    for (const Method& method : kMethods) cells.push_back(cell(model, method));
    table.row(std::move(cells));
  }
  if (!last_title.empty()) {
    std::vector<std::string> cells = {last_title};
    if (with_plan) cells.emplace_back();
    cells.insert(cells.end(), last_cells.begin(), last_cells.end());
    table.row(std::move(cells));
  }
  return table.to_string();
}

std::string ratios(const CompareAnswer& answer, bool common) {
  const auto figure = [&](const Method& method) {
    return common && method.common != nullptr ? method.common : method.own;
  };
  std::vector<std::string> means;
  means.reserve(kMethods.size());
  for (const Method& method : kMethods) means.push_back(ratio(mean_over_expert(*answer.comparison, figure(method))));
  const bool several = answer.comparison->models.size() > 1;
  return method_table(
      answer, false,
      [&](const ModelComparison& model, const Method& method) {
        return ratio(over_expert(model, model.*figure(method)));
      },
      several ? "geometric mean" : "", several ? means : std::vector<std::string>{});
}

}  // namespace

std::string compare_json(const CompareAnswer& answer) {
  Json json = Json::object();
  for (const ModelComparison& model : answer.comparison->models) json[model.model] = model_json(answer, model);
  json["summary"] = summary_json(answer);
  return text_of(json);
}

std::string compare_text(const CompareAnswer& answer) {
  const baselines::Comparison& comparison = *answer.comparison;
  const bool several = comparison.models.size() > 1;
  std::string text = fmt::format(
      "Samples per second on {} devices; expert and placement on {}, the others on their best of {} chips\n\n",
      answer.problem->devices, answer.reference, answer.problem->chips.size());
  text += method_table(answer, true,
                       [](const ModelComparison& model, const Method& method) { return throughput(model.*method.own); },
                       "", {});
  text += "\nRelative to the expert's\n\n" + ratios(answer, false);
  if (several)
    text += "\nRelative to the expert's, each method with one chip for all models\n\n" + ratios(answer, true);
  text += "\nChips (tensor cores + vector cores, global buffer, area)\n";
  for (const ModelComparison& model : comparison.models) {
    text += fmt::format("  {}\n", model.model);
    for (const Method& method : kMethods)
      if (method.common != nullptr)
        text += fmt::format("    {:<11}{}\n", method.title, shape(answer, model.*method.own));
  }
  if (several) {
    text += "  all models\n";
    for (const Method& method : kMethods)
      if (method.common != nullptr)
        text += fmt::format("    {:<11}{}\n", method.title, shape(answer, common_figure(comparison, method)));
  }
  for (const ModelComparison& model : comparison.models) {
    if (!model.expert)
      text += fmt::format("\nNo expert placement for {}: {}\n", model.model, model.no_expert);
    else if (model.reference_expert.throughput == 0)
      text += fmt::format("\nThe expert placement of {} ({}) does not fit the memory of {}\n", model.model,
                          plan_of(model), answer.reference);
    else if (model.expert->source != "2024 study")
      text += fmt::format("\nExpert placement of {}: {}\n", model.model, model.expert->source);
  }
  if (comparison.stopped) text += "\nStopped early: what is missing was not reached.\n";
  return text + fmt::format("\n{:.1f} s\n", answer.seconds);
}

}  // namespace phaze::report
