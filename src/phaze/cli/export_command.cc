// phaze export: a plan or its chip in the formats of other tools.
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/exports/megatron.h"
#include "phaze/exports/perfetto.h"
#include "phaze/exports/timeloop.h"
#include "phaze/exports/torchtitan.h"

namespace phaze::cli {
namespace {

enum class Format : std::uint8_t { kMegatron, kTorchtitan, kPerfetto, kTimeloop };

struct ExportOptions {
  std::string plan;
  Format format = Format::kMegatron;
  std::string output;
};

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return Error{"cannot be read", path, "check the name and its permissions"};
  return text.str();
}

Result<exports::Exported> convert(const exports::PlanDocument& plan, const std::string& text, Format format) {
  switch (format) {
    case Format::kMegatron: return exports::megatron_script(plan);
    case Format::kTorchtitan: return exports::torchtitan_toml(plan);
    case Format::kPerfetto: return exports::perfetto_trace(plan, text);
    case Format::kTimeloop: break;
  }
  if (!plan.chip) return Error{"the plan does not carry its chip", "key 'chip_file'", "plan again with this version"};
  return exports::timeloop_yaml(*plan.chip);
}

void run(const ExportOptions& options, Session& session) {
  const auto text = read_text(options.plan);
  if (!text) return session.fail(text.error());
  const auto plan = exports::read_plan(*text);
  if (!plan) return session.fail(within(options.plan, plan.error()));
  const auto exported = convert(*plan, *text, options.format);
  if (!exported) return session.fail(exported.error());
  for (const std::string& note : exported->notes) session.log.warning(note);
  if (options.output.empty()) return session.answer(exported->text);
  if (const Status written = write_file(options.output, exported->text); !written) return session.fail(written.error());
  session.log.info("wrote " + options.output);
}

}  // namespace

void add_export_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& command = *app.add_subcommand("export", "A plan in the formats of other tools");
  command.add_option("PLAN", options->plan, "What 'phaze place MODEL ... --plan FILE' wrote")->required();
  add_choice<Format>(
      command, "--format", options->format,
      {{"megatron", Format::kMegatron},
       {"torchtitan", Format::kTorchtitan},
       {"perfetto", Format::kPerfetto},
       {"timeloop", Format::kTimeloop}},
      "megatron: a script with torchrun; torchtitan: TOML; perfetto: a trace of the pipeline and of layer "
      "schedules; timeloop: the chip, YAML of version 0.4")
      ->required();
  command.add_option("-o,--output", options->output, "Write here (default: standard output)")->type_name("FILE");
  command.footer(
      "What the other tool cannot express is said on standard error and in the text.\n\nExamples:\n"
      "  phaze export plan.json --format megatron -o train.sh\n"
      "  phaze export plan.json --format perfetto -o plan.trace.json");
  command.callback([options, &session] { run(*options, session); });
}

}  // namespace phaze::cli
