// phaze export: a plan or its chip in the formats of other tools.
#include <fstream>
#include <memory>
#include <string>

#include "phaze/base/text_file.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/exports/megatron.h"
#include "phaze/exports/perfetto.h"
#include "phaze/exports/run_document.h"
#include "phaze/exports/timeloop.h"
#include "phaze/exports/torchtitan.h"

namespace phaze::cli {
namespace {

enum class Format : std::uint8_t { kMegatron, kTorchtitan, kPerfetto, kTimeloop, kCsv };

struct ExportOptions {
  std::string input;
  Format format = Format::kMegatron;
  std::string model;
  std::string output;
};

bool is_database(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::ifstream file(path, std::ios::binary);
  std::string start(kMagic.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == kMagic;
}

Result<exports::Exported> convert(const exports::PlanDocument& plan, const std::string& text, Format format) {
  switch (format) {
    case Format::kMegatron: return exports::megatron_script(plan);
    case Format::kTorchtitan: return exports::torchtitan_toml(plan);
    case Format::kPerfetto: return exports::perfetto_trace(plan, text);
    case Format::kTimeloop: break;
    case Format::kCsv:
      return Error{"csv is the table of a run, and this is one plan", "--format csv",
                   "name what 'phaze search --out' wrote"};
  }
  if (!plan.chip) return Error{"the plan does not carry its chip", "key 'chip_file'", "plan again with this version"};
  return exports::timeloop_yaml(*plan.chip);
}

// The file is to blame, unless a flag is.
template <typename T>
Result<T> blaming(const std::string& file, Result<T> result) {
  if (result || result.error().place.starts_with("--")) return result;
  return within(file, result.error());
}

Result<exports::Exported> export_plan(const ExportOptions& options) {
  if (!options.model.empty()) return Error{"a plan is of one model", "--model", "leave it out"};
  const auto text = read_text_file(options.input);
  if (!text) return text.error();
  const auto plan = exports::read_plan(*text);
  if (!plan) return within(options.input, plan.error());
  return blaming(options.input, convert(*plan, *text, options.format));
}

Result<exports::Exported> export_run(const ExportOptions& options) {
  auto run = run_db::Reader::open(options.input);
  if (!run) return run.error();
  if (options.format == Format::kCsv) return exports::evaluations_csv(*run);
  const auto found = exports::read_run_plan(*run, options.model);
  if (!found) return found.error();
  return blaming(options.input, convert(found->plan, found->text, options.format));
}

void run(const ExportOptions& options, Session& session) {
  const auto exported = is_database(options.input) ? export_run(options) : export_plan(options);
  if (!exported) return session.fail(exported.error());
  for (const std::string& note : exported->notes) session.log.warning(note);
  if (options.output.empty()) return session.answer(exported->text);
  if (const Status written = write_file(options.output, exported->text); !written) return session.fail(written.error());
  session.log.info("wrote " + options.output);
}

}  // namespace

void add_export_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App& command = *app.add_subcommand("export", "A plan, or the best one of a run, in the formats of other tools");
  command.add_option("FILE", options->input, "What 'phaze place --plan' or 'phaze search --out' wrote")->required();
  add_choice<Format>(
      command, "--format", options->format,
      {{"megatron", Format::kMegatron},
       {"torchtitan", Format::kTorchtitan},
       {"perfetto", Format::kPerfetto},
       {"timeloop", Format::kTimeloop},
       {"csv", Format::kCsv}},
      "megatron: a script with torchrun; torchtitan: TOML; perfetto: a trace of the pipeline and of layer "
      "schedules; timeloop: the chip, YAML of version 0.4; csv: all chips and evaluations of a run")
      ->required();
  command.add_option("--model", options->model, "Which model's plan, where a run has several")->type_name("NAME");
  command.add_option("-o,--output", options->output, "Write here (default: standard output)")->type_name("FILE");
  command.footer(
      "What the other tool cannot express is said on standard error and in the text.\n\nExamples:\n"
      "  phaze export plan.json --format megatron -o train.sh\n"
      "  phaze export plan.json --format perfetto -o plan.trace.json\n"
      "  phaze export run.db --format csv -o chips.csv");
  command.callback([options, &session] { run(*options, session); });
}

}  // namespace phaze::cli
