#include <memory>
#include <string>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/report/chip_report.h"

namespace phaze::cli {
namespace {

void list(Session& session) {
  std::vector<hardware::Chip> chips;
  for (const std::string& name : hardware::chip_presets()) {
    auto chip = hardware::load_chip(name);
    if (!chip) return session.fail(chip.error());
    chips.push_back(std::move(*chip));
  }
  session.answer(session.json ? report::chips_json(chips) : report::chips_text(chips));
}

void show(const std::string& named, Session& session) {
  const auto chip = hardware::load_chip(named);
  if (!chip) return session.fail(chip.error());
  session.answer(session.json ? report::chip_json(*chip) : report::chip_text(*chip));
}

}  // namespace

void add_chip_command(CLI::App& app, Session& session) {
  CLI::App& chip = *app.add_subcommand("chip", "Chips: list, show");
  chip.require_subcommand(1);
  chip.footer(
      "Examples:\n"
      "  phaze chip list\n"
      "  phaze chip show h100-sxm\n"
      "  phaze chip show tc=8x128x128,vc=2x128,glb=128MiB,hbm=32GiB@1200GB/s,clock=1.05GHz --json");
  chip.add_subcommand("list", "The chips that are built in")->callback([&session] { list(session); });
  const auto named = std::make_shared<std::string>();
  CLI::App& show_command = *chip.add_subcommand("show", "Area, power and peak of a chip");
  show_command
      .add_option("CHIP", *named,
                  "A preset (see 'phaze chip list'), a .yaml file, or parts such as tc=8x128x128,hbm=80GiB")
      ->required();
  show_command.callback([named, &session] { show(*named, session); });
}

}  // namespace phaze::cli
