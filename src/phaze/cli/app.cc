#include "phaze/cli/app.h"

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "phaze/base/nearest.h"
#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/search/mpi_world.h"

namespace phaze::cli {
namespace {

// The command that was being parsed when something went wrong.
const CLI::App* deepest_parsed(const CLI::App& app) {
  for (const CLI::App* sub : app.get_subcommands()) return deepest_parsed(*sub);
  return &app;
}

std::vector<std::string> words_of(const CLI::App& root, const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : command.get_subcommands({})) words.push_back(sub->get_name());
  for (const CLI::App* app : {&command, &root})
    for (const CLI::Option* option : app->get_options())
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

// What CLI11 says, in our words: name the place, propose the fix.
Error explain(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = *deepest_parsed(root);
  std::string path = "phaze";
  for (const CLI::App* app = &root; app != &command;) {
    app = app->get_subcommands().front();
    path += " " + app->get_name();
  }
  const std::string help = "see '" + path + " --help'";
  // A word that is neither an option nor a command also leaves the command missing.
  auto extra = root.remaining(true);
  const std::string said = error.what();
  const bool unexpected = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (extra.empty() && unexpected) extra.push_back(said.substr(said.rfind(' ') + 1));
  if (!extra.empty() && (unexpected || missing)) {
    const std::string near = nearest(extra.front(), words_of(root, command));
    return {"unexpected argument '" + extra.front() + "'", path, near.empty() ? help : "did you mean '" + near + "'?"};
  }
  if (missing && !command.get_subcommands({}).empty()) {
    std::string names;
    for (const CLI::App* sub : command.get_subcommands({})) names += (names.empty() ? "" : ", ") + sub->get_name();
    return {"a command is missing", path, "one of: " + names};
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return {said.substr(0, said.find(':')) + " needs exactly one value", path, help};
  return {said, path, help};
}

// Options of the whole program may stand behind any command, so every command's help mentions them.
void mention_common_options(CLI::App& app) {
  for (CLI::App* sub : app.get_subcommands({})) {
    const std::string own = sub->get_footer();
    sub->footer((own.empty() ? "" : own + "\n\n") +
                std::string("Everywhere: --json for programs, --log-level error|warning|info|debug."));
    mention_common_options(*sub);
  }
}

}  // namespace

void Session::answer(std::string_view text) {
  if (silent) return;
  progress.clear();
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    log.error("standard output cannot be written");
    exit_code = kBadInput;
  }
}

void Session::fail(const Error& error) {
  progress.clear();
  if (interrupted()) {
    if (!silent) log.error("stopped");
    exit_code = kInterrupted;
    return;
  }
  if (!silent) log.error(to_string(error));
  exit_code = kBadInput;
}

int run(int argc, const char* const* argv) {
  listen_for_interrupt();
  Session session;
  session.arguments.assign(argv, argv + argc);
  if (search::launched_rank() > 0) {
    session.silent = true;
    session.progress.hide();
  }
  CLI::App app("Phaze finds the accelerator and the distributed training plan that fit each other, with a proof.",
               "phaze");
  app.set_version_flag("--version", "phaze " PHAZE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", session.json, "Answer with one JSON document on standard output");
  LogLevel level = LogLevel::kWarning;
  add_choice<LogLevel>(app, "--log-level", level,
                       {{"error", LogLevel::kError},
                        {"warning", LogLevel::kWarning},
                        {"info", LogLevel::kInfo},
                        {"debug", LogLevel::kDebug}},
                       "What to report on standard error (default: warning)");
  app.footer(
      "Exit codes: 0 answered, 2 bad input, 3 infeasible, 130 stopped by Ctrl-C.\n"
      "Every command explains itself: phaze model --help, phaze model show --help.");
  // Options must be known before the command's callback runs.
  app.parse_complete_callback([&] {
    session.log.set_level(session.silent ? LogLevel::kError : level);
    if (level == LogLevel::kError) session.progress.hide();
  });
  add_model_command(app, session);
  add_chip_command(app, session);
  add_space_command(app, session);
  add_estimate_command(app, session);
  add_calibrate_command(app, session);
  add_schedule_command(app, session);
  add_place_command(app, session);
  add_simulate_command(app, session);
  add_search_command(app, session);
  add_compare_command(app, session);
  add_report_command(app, session);
  add_export_command(app, session);
  add_reference_command(app, session);
  add_completion_command(app, session);
  mention_common_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success) == 0 ? kAnswered : kBadInput;
  } catch (const CLI::ParseError& error) {
    session.fail(explain(app, error));
  } catch (...) {
    session.fail(caught());
  }
  return session.exit_code;
}

}  // namespace phaze::cli
