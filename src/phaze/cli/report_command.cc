#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/output_file.h"
#include "phaze/cli/session.h"
#include "phaze/report/explorer/document.h"
#include "phaze/report/explorer/page.h"
#include "phaze/report/json_text.h"
#include "phaze/run_db/reader.h"

namespace phaze::cli {
namespace {

struct ReportOptions {
  std::string run;
  std::string output;
};

void write_report(const ReportOptions& options, Session& session) {
  auto run = run_db::Reader::open(options.run);
  if (!run) return session.fail(run.error());
  const auto document = report::run_document(*run);
  if (!document) return session.fail(document.error());
  const auto page = report::explorer_page(*document);
  if (!page) return session.fail(page.error());
  const std::string output =
      options.output.empty() ? std::filesystem::path(options.run).replace_extension(".html").string() : options.output;
  if (const Status written = write_file(output, *page); !written) return session.fail(written.error());
  session.answer(session.json ? report::text_of({{"report", output}, {"bytes", page->size()}})
                              : fmt::format("{}: {:.1f} MB, open it in a browser\n", output,
                                            static_cast<double>(page->size()) / 1e6));
}

}  // namespace

void add_report_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& command = *app.add_subcommand("report", "A search as one HTML file to look at and to share");
  command.add_option("RUN.db", options->run, "What 'phaze search' or 'compare' wrote with --out, finished or not")
      ->required();
  command
      .add_option("-o,--output", options->output, "Where to write the page (default: the database's name with .html)")
      ->type_name("FILE");
  command.footer(
      "Example:\n  phaze search llama2-7b --devices 1024 --global-batch 4096 --out run.db\n  phaze report run.db -o "
      "run.html");
  command.callback([options, &session] { write_report(*options, session); });
}

}  // namespace phaze::cli
