#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/cost/calibration/fit.h"
#include "phaze/hardware/calibration_file.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/report/json_text.h"
#include "phaze/report/table.h"

namespace phaze::cli {
namespace {

struct CalibrateOptions {
  std::string chip, measurements, output;
  bool check = false;
};

report::Json to_json(const std::vector<cost::Residual>& residuals) {
  report::Json json = report::Json::array();
  for (const cost::Residual& residual : residuals)
    json.push_back({{"group", residual.group},
                    {"cases", residual.cases},
                    {"mean_error", residual.mean},
                    {"worst_error", residual.worst},
                    {"worst_case", residual.worst_case}});
  return json;
}

std::string to_text(const std::vector<cost::Residual>& residuals) {
  using enum report::Table::Align;
  report::Table table({{"measured"}, {"cases", kRight}, {"mean error", kRight}, {"worst", kRight}, {"at"}});
  for (const cost::Residual& residual : residuals)
    table.row({residual.group, std::to_string(residual.cases), fmt::format("{:.1f} %", 100 * residual.mean),
               fmt::format("{:.1f} %", 100 * residual.worst), residual.worst_case});
  return table.to_string();
}

// The residuals as comments, so that a file says how far it can be trusted.
std::string file_text(const hardware::Chip& chip, const cost::Fit& fit, const cost::Measurements& measurements) {
  std::string text = fmt::format("# Calibrated with 'phaze calibrate' on measurements of {}. Errors left:\n",
                                 measurements.device.empty() ? "an unnamed device" : measurements.device);
  for (const cost::Residual& residual : fit.after)
    text += fmt::format("#   {}: {} cases, mean {:.1f} %, worst {:.1f} %\n", residual.group, residual.cases,
                        100 * residual.mean, 100 * residual.worst);
  hardware::Chip calibrated = chip;
  calibrated.calibration = fit.calibration;
  return text + hardware::chip_file_text(calibrated);
}

void calibrate(const CalibrateOptions& options, Session& session) {
  const auto chip = hardware::load_chip(options.chip);
  if (!chip) return session.fail(chip.error());
  const auto measurements = cost::load_measurements(options.measurements);
  if (!measurements) return session.fail(measurements.error());
  if (options.check) {
    const auto all = cost::compare(*chip, *measurements);
    if (!all) return session.fail(all.error());
    const auto errors = cost::summarise(*all);
    if (!session.json) return session.answer(to_text(errors));
    report::Json cases = report::Json::array();
    for (const cost::Comparison& one : *all)
      cases.push_back(
          {{"group", one.group}, {"name", one.name}, {"estimate", one.estimate}, {"measured", one.measured}});
    return session.answer(report::text_of({{"errors", to_json(errors)}, {"cases", cases}}));
  }
  const auto fit = cost::fit_calibration(*chip, *measurements);
  if (!fit) return session.fail(fit.error());
  if (!options.output.empty())
    if (const Status status = write_file(options.output, file_text(*chip, *fit, *measurements)); !status)
      return session.fail(status.error());
  if (session.json)
    return session.answer(report::text_of({{"compute", fit->calibration.compute},
                                           {"sustained", fit->calibration.sustained},
                                           {"attention", fit->calibration.attention},
                                           {"hbm", fit->calibration.hbm},
                                           {"vector", fit->calibration.vector},
                                           {"start_seconds", fit->calibration.start_seconds},
                                           {"tile_rows", fit->calibration.tile_rows},
                                           {"tile_cols", fit->calibration.tile_cols},
                                           {"errors_before", to_json(fit->before)},
                                           {"errors", to_json(fit->after)}}));
  session.answer(
      hardware::calibration_text(fit->calibration) + "\n" + to_text(fit->after) +
      (options.output.empty() ? "\nNothing written; name a file with -o.\n" : "\nwrote " + options.output + "\n"));
}

}  // namespace

void add_calibrate_command(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("calibrate", "Fit a chip's calibration to measurements of a real device");
  command.footer(
      "Examples:\n"
      "  scripts/measure-gpu gpu.json\n"
      "  phaze calibrate h200 gpu.json -o my-h200.yaml\n"
      "  phaze calibrate my-h200.yaml other.json --check");
  const auto options = std::make_shared<CalibrateOptions>();
  command.add_option("CHIP", options->chip, "The chip to start from: a preset, a .yaml file or parts")->required();
  command.add_option("MEASUREMENTS", options->measurements, "JSON as scripts/measure-gpu writes it")->required();
  command.add_option("-o,--output", options->output, "The chip file to write, with the errors that are left")
      ->type_name("FILE");
  command.add_flag("--check", options->check, "Only compare the chip as it is with the measurements");
  command.callback([options, &session] { calibrate(*options, session); });
}

}  // namespace phaze::cli
