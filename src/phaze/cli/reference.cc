// The reference of all commands, made from the application itself so that it never falls behind: Markdown for
// docs/cli.md, and a man page.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"

namespace phaze::cli {
namespace {

struct Described {
  std::string words;  // "-o, --output FILE"
  std::string meaning;
  bool positional = false;
  bool required = false;
};

struct Command {
  std::string path;  // "phaze model show"
  std::string summary;
  std::string notes;  // below the options: examples, exit codes
  std::vector<Described> options;
};

Described describe(const CLI::Option& option) {
  Described out{
      .meaning = option.get_description(), .positional = option.get_positional(), .required = option.get_required()};
  if (out.positional) {
    out.words = option.get_name();
    return out;
  }
  for (const std::string& name : option.get_snames()) out.words += (out.words.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) out.words += (out.words.empty() ? "--" : ", --") + name;
  const bool takes_value = option.get_items_expected_max() > 0;
  if (takes_value) out.words += " " + (option.get_type_name().empty() ? std::string("VALUE") : option.get_type_name());
  return out;
}

// Leaves in the order in which help lists them.
void collect(const CLI::App& app, const std::string& path, std::vector<Command>& all) {
  const auto subs = app.get_subcommands([](const CLI::App*) { return true; });
  if (subs.empty()) {
    Command command{.path = path, .summary = app.get_description(), .notes = app.get_footer()};
    // Said once for all commands.
    command.notes = command.notes.substr(0, command.notes.find("Everywhere:"));
    while (command.notes.ends_with('\n')) command.notes.pop_back();
    for (const CLI::Option* option : app.get_options())
      if (!option->check_lname("help")) command.options.push_back(describe(*option));
    all.push_back(std::move(command));
  }
  for (const CLI::App* sub : subs) collect(*sub, path + " " + sub->get_name(), all);
}

std::vector<Described> common_options(const CLI::App& root) {
  std::vector<Described> options;
  for (const CLI::Option* option : root.get_options()) options.push_back(describe(*option));
  return options;
}

std::string synopsis(const Command& command) {
  std::string line = command.path;
  for (const Described& option : command.options)
    if (option.positional) line += option.required ? " " + option.words : " [" + option.words + "]";
  for (const Described& option : command.options)
    if (!option.positional && option.required) line += " " + option.words;
  for (const Described& option : command.options)
    if (!option.positional && !option.required) return line + " [options]";
  return line;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string table(const std::vector<Described>& options) {
  std::string text = "| option | meaning |\n|---|---|\n";
  for (const Described& option : options)
    text += fmt::format("| `{}` | {} |\n", replaced(option.words, "|", "\\|"),
                        replaced(replaced(option.meaning, "|", "\\|"), "<", "&lt;"));
  return text;
}

std::string markdown(const CLI::App& root, const std::vector<Command>& commands) {
  std::string text = fmt::format(
      "# Command line\n\n"
      "Made by `phaze reference markdown`; a test holds it against the binary. {}\n\n"
      "With `--json` every command answers with one JSON document on standard output; messages and progress go to "
      "standard "
      "error. Exit codes: 0 answered, 2 bad input, 3 infeasible, 130 stopped by Ctrl-C. How models, chips, networks "
      "and files "
      "are named and written is in [formats.md](formats.md).\n\n"
      "Options of all commands:\n\n{}\n",
      root.get_description(), table(common_options(root)));
  for (const Command& command : commands) {
    text += fmt::format("## {}\n\n{}.\n\n```text\n{}\n```\n\n", command.path, command.summary, synopsis(command));
    if (!command.options.empty()) text += table(command.options) + "\n";
    if (!command.notes.empty()) text += "```text\n" + command.notes + "\n```\n\n";
  }
  text.pop_back();
  return text;
}

// Text that roff takes as it is.
std::string roff(const std::string& text) {
  std::string out = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  if (out.starts_with('.') || out.starts_with('\'')) out = "\\&" + out;
  return replaced(replaced(out, "\n.", "\n\\&."), "\n'", "\n\\&'");
}

std::string man_options(const std::vector<Described>& options) {
  std::string text;
  for (const Described& option : options)
    text += fmt::format(".TP\n.B {}\n{}\n", roff(option.words), roff(option.meaning));
  return text;
}

std::string man_page(const CLI::App& root, const std::vector<Command>& commands) {
  std::string text = fmt::format(
      ".TH PHAZE 1 \"\" \"phaze {}\" \"User Commands\"\n.SH NAME\nphaze \\- find accelerators and training plans that "
      "fit each "
      "other\n.SH SYNOPSIS\n.B phaze\n.I COMMAND\n[options]\n.SH DESCRIPTION\n{}\n.PP\nWith \\-\\-json every command "
      "answers with "
      "one JSON document on standard output; messages and progress go to standard error.\n.SH OPTIONS\n{}.SH "
      "COMMANDS\n",
      PHAZE_VERSION, roff(root.get_description()), man_options(common_options(root)));
  for (const Command& command : commands) {
    text += fmt::format(".SS {}\n{}.\n.PP\n.B {}\n{}", roff(command.path), roff(command.summary),
                        roff(synopsis(command)), man_options(command.options));
    if (!command.notes.empty()) text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.notes));
  }
  return text +
         ".SH EXIT STATUS\n0 answered, 2 bad input, 3 infeasible (the answer says why), 130 stopped by Ctrl\\-C.\n"
         ".SH SEE ALSO\nThe documentation in docs/ of the source.\n";
}

}  // namespace

void add_reference_command(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("reference", "All commands and options as a page");
  const auto format = std::make_shared<std::string>();
  command.add_option("FORMAT", *format, "markdown (docs/cli.md) or man")
      ->required()
      ->check(one_of({"markdown", "man"}));
  command.footer("Example:\n  phaze reference man | man -l -");
  command.callback([format, &app, &session] {
    std::vector<Command> commands;
    collect(app, "phaze", commands);
    session.answer(*format == "man" ? man_page(app, commands) : markdown(app, commands));
  });
}

}  // namespace phaze::cli
