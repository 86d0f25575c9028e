#include "phaze/report/chip_report.h"

#include <fmt/format.h>

#include "phaze/hardware/area.h"
#include "phaze/hardware/power.h"
#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::report {
namespace {

using hardware::Chip;
using hardware::DesignSpace;

Json to_json(const Chip& chip) {
  const auto area = hardware::area_phaze22(chip);
  const auto physical = hardware::area_physical(chip);
  const auto power = hardware::thermal_design_power(chip);
  Json json = {
      {"name", chip.name},
      {"summary", chip.summary},
      {"area_um2", area.total},
      {"area_by_part_um2",
       {{"tensor_cores", area.tensor_cores},
        {"vector_cores", area.vector_cores},
        {"global_buffer", area.global_buffer}}},
      {"physical_area_um2", physical.total},
      {"physical_area_by_part_um2",
       {{"tensor_cores", physical.tensor_cores},
        {"vector_cores", physical.vector_cores},
        {"global_buffer", physical.global_buffer},
        {"wiring", physical.wiring},
        {"hbm", physical.hbm},
        {"links", physical.links}}},
      {"tdp_w", power.total},
      {"tdp_by_part_w",
       {{"idle", power.idle},
        {"tensor_cores", power.tensor_cores},
        {"vector_cores", power.vector_cores},
        {"global_buffer", power.global_buffer},
        {"hbm", power.hbm},
        {"leakage", power.leakage}}},
      {"peak_flops", chip.peak_flops()},
      {"tensor_cores",
       {{"count", chip.tensor_cores.count}, {"rows", chip.tensor_cores.rows}, {"cols", chip.tensor_cores.cols}}},
      {"vector_cores", {{"count", chip.vector_cores.count}, {"lanes", chip.vector_cores.lanes}}},
      {"tensor_core_buffer_bytes", chip.tensor_core_buffer().value()},
      {"vector_core_buffer_bytes", chip.vector_core_buffer().value()},
      {"glb_bytes", chip.global_buffer.value()},
      {"glb_bytes_per_cycle", chip.global_buffer_bytes_per_cycle},
      {"hbm_bytes", chip.hbm.value()},
      {"hbm_bandwidth", chip.hbm_bandwidth},
      {"clock_hz", chip.clock_hz},
      {"process_nm", chip.process_nm}};
  Json published = Json::object();
  if (chip.published.peak_flops > 0) published["peak_flops"] = chip.published.peak_flops;
  if (chip.published.tdp_watts > 0) published["tdp_w"] = chip.published.tdp_watts;
  if (chip.published.die_mm2 > 0) published["die_mm2"] = chip.published.die_mm2;
  json["published"] = published;
  return json;
}

std::string mebibytes(Bytes bytes) { return fmt::format("{:.4g} MiB", static_cast<double>(bytes.value()) / 1048576); }
std::string gigabytes(Bytes bytes) { return fmt::format("{:.4g} GB", static_cast<double>(bytes.value()) / 1e9); }
std::string published_or_dash(double value, std::string_view unit) {
  return value > 0 ? fmt::format("{:.4g} {}", value, unit) : "-";
}

}  // namespace

std::string chip_json(const Chip& chip) { return text_of(to_json(chip)); }

std::string chips_json(const std::vector<Chip>& chips) {
  Json json = Json::array();
  for (const Chip& chip : chips) json.push_back(to_json(chip));
  return text_of(json);
}

std::string chip_text(const Chip& chip) {
  const auto area = hardware::area_phaze22(chip);
  const auto physical = hardware::area_physical(chip);
  const auto power = hardware::thermal_design_power(chip);
  std::string out = fmt::format("{}{}{}\n", chip.name, chip.summary.empty() ? "" : ": ", chip.summary);
  out += fmt::format("{} tensor cores of {} x {}, {} vector cores of {} lanes at {:.4g} GHz: {} dense\n",
                     chip.tensor_cores.count, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.vector_cores.count,
                     chip.vector_cores.lanes, chip.clock_hz / 1e9, readable_flops(chip.peak_flops()) + "/s");
  out += fmt::format("global buffer {} at {:.0f} bytes per cycle, HBM {} at {:.4g} GB/s, {:.0f} nm\n\n",
                     mebibytes(chip.global_buffer), chip.global_buffer_bytes_per_cycle, gigabytes(chip.hbm),
                     chip.hbm_bandwidth / 1e9, chip.process_nm);
  Table table({{"part"},
               {"phaze22, mm2", Table::Align::kRight},
               {fmt::format("physical at {:.0f} nm, mm2", chip.process_nm), Table::Align::kRight},
               {"power, W", Table::Align::kRight}});
  const auto cell = [](double value, int digits) { return value > 0 ? fmt::format("{:.{}f}", value, digits) : "-"; };
  const auto row = [&](const char* part, double phaze22, double own, double watts) {
    table.row({part, cell(phaze22 / 1e6, 2), cell(own / 1e6, 1), cell(watts, 1)});
  };
  row("tensor cores", area.tensor_cores, physical.tensor_cores, power.tensor_cores);
  row("vector cores", area.vector_cores, physical.vector_cores, power.vector_cores);
  row("global buffer", area.global_buffer, physical.global_buffer, power.global_buffer);
  row("wiring and control", 0, physical.wiring, 0);
  row("HBM", 0, physical.hbm, power.hbm);
  row("links", 0, physical.links, 0);
  row("idle and leakage", 0, 0, power.idle + power.leakage);
  row("total", area.total, physical.total, power.total);
  out += table.to_string();
  out += fmt::format(
      "\npublished: peak {}, power {}, die {}\n", published_or_dash(chip.published.peak_flops / 1e12, "TFLOP/s"),
      published_or_dash(chip.published.tdp_watts, "W"), published_or_dash(chip.published.die_mm2, "mm2"));
  return out;
}

std::string chips_text(const std::vector<Chip>& chips) {
  Table table({{"name"},
               {"tensor cores", Align::kRight},
               {"vector cores", Align::kRight},
               {"buffer", Align::kRight},
               {"HBM", Align::kRight},
               {"bandwidth", Align::kRight},
               {"peak", Align::kRight},
               {"summary"}});
  for (const Chip& chip : chips)
    table.row({chip.name,
               fmt::format("{} x {} x {}", chip.tensor_cores.count, chip.tensor_cores.rows, chip.tensor_cores.cols),
               fmt::format("{} x {}", chip.vector_cores.count, chip.vector_cores.lanes), mebibytes(chip.global_buffer),
               gigabytes(chip.hbm), fmt::format("{:.0f} GB/s", chip.hbm_bandwidth / 1e9),
               readable_flops(chip.peak_flops()) + "/s", chip.summary});
  return table.to_string();
}

std::string space_json(const DesignSpace& space, std::int64_t kept) {
  Json dimensions = Json::array();
  for (const auto& dimension : space.dimensions)
    dimensions.push_back({{"parameter", dimension.parameter->name},
                          {"values", dimension.values.size()},
                          {"first", dimension.values.front()},
                          {"last", dimension.values.back()}});
  Json json = {{"name", space.name}, {"points", space.points()}, {"kept", kept}, {"dimensions", dimensions}};
  if (space.limits.max_area_um2) json["max_area_um2"] = *space.limits.max_area_um2;
  if (space.limits.max_tdp_watts) json["max_tdp_w"] = *space.limits.max_tdp_watts;
  return text_of(json);
}

std::string space_text(const DesignSpace& space, std::int64_t kept) {
  std::string out = fmt::format("{}: {} points, {} within the limits\n\n", space.name, space.points(), kept);
  Table table({{"parameter"},
               {"values", Table::Align::kRight},
               {"first", Table::Align::kRight},
               {"last", Table::Align::kRight}});
  for (const auto& dimension : space.dimensions)
    table.row({std::string(dimension.parameter->name), std::to_string(dimension.values.size()),
               fmt::format("{}", dimension.values.front()), fmt::format("{}", dimension.values.back())});
  for (const auto& tie : space.ties)
    table.row({std::string(tie.parameter->name), "-", "equals", std::string(tie.equals->name)});
  out += table.to_string();
  if (space.limits.max_area_um2) out += fmt::format("\narea at most {:.4f} mm2", *space.limits.max_area_um2 / 1e6);
  if (space.limits.min_area_share > 0)
    out += fmt::format(", at least {} of that unless a core count is one", space.limits.min_area_share);
  if (space.limits.max_tdp_watts) out += fmt::format("\npower at most {} W", *space.limits.max_tdp_watts);
  return out + "\n";
}

std::string space_csv_row(const Chip& chip, hardware::AreaModel model) {
  return fmt::format("{},{},{},{},{},{},{}\n", chip.tensor_cores.count, chip.vector_cores.count, chip.tensor_cores.rows,
                     chip.tensor_cores.cols, chip.vector_cores.lanes, chip.global_buffer.value(),
                     hardware::area(chip, model).total);
}

}  // namespace phaze::report
