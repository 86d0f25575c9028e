#include <memory>
#include <string>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/hardware/design_space.h"
#include "phaze/report/chip_report.h"

namespace phaze::cli {
namespace {

// Rows go out in blocks, so that a space of any size takes no memory and Ctrl-C stops it.
void write_csv(const hardware::DesignSpace& space, Session& session) {
  constexpr std::size_t kBlock = 1U << 16U;
  std::string block = report::kSpaceCsvHeader;
  space.for_each_kept(
      [&](const hardware::Chip& chip) {
        block += report::space_csv_row(chip, space.limits.area_model);
        if (block.size() >= kBlock) {
          session.answer(block);
          block.clear();
        }
        return session.exit_code == kAnswered;
      },
      session.progress);
  if (interrupted()) return session.fail({"stopped"});
  session.answer(block);
}

void show(const std::string& named, bool csv, Session& session) {
  const auto space = hardware::load_space(named);
  if (!space) return session.fail(space.error());
  if (csv) return write_csv(*space, session);
  const auto kept = space->count_kept(session.progress);
  if (!kept) return session.fail({"stopped"});
  session.answer(session.json ? report::space_json(*space, *kept) : report::space_text(*space, *kept));
}

}  // namespace

void add_space_command(CLI::App& app, Session& session) {
  CLI::App& space = *app.add_subcommand("space", "Design spaces: which chips to consider");
  space.require_subcommand(1);
  struct Options {
    std::string name;
    bool csv = false;
  };
  const auto options = std::make_shared<Options>();
  CLI::App& show_command = *space.add_subcommand("show", "The size of a space, or all its chips");
  show_command.add_option("SPACE", options->name, "phaze (the space of the 2024 study) or a .yaml file")->required();
  show_command.add_flag("--csv", options->csv, "All chips within the limits, in order, with their areas");
  show_command.footer("Example:\n  phaze space show phaze --csv > chips.csv");
  show_command.callback([options, &session] { show(options->name, options->csv, session); });
}

}  // namespace phaze::cli
