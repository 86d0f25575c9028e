// Shell completion, made from the application itself so that it never falls behind.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "phaze/cli/commands.h"
#include "phaze/cli/flags.h"
#include "phaze/cli/session.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::cli {
namespace {

// What may follow a command path such as "phaze model show".
struct Words {
  std::string path;
  std::string words;
  bool takes_model = false;
};

// What may follow an option with a fixed set of values, from its "a|b|c" in the help.
using Choices = std::map<std::string, std::string>;

void collect_choices(const CLI::App& app, Choices& choices) {
  for (const CLI::Option* option : app.get_options()) {
    std::string values = option->get_type_name();
    if (values.find('|') == std::string::npos) continue;
    std::ranges::replace(values, '|', ' ');
    for (const std::string& name : option->get_lnames()) choices["--" + name] = values;
  }
  for (const CLI::App* sub : app.get_subcommands({})) collect_choices(*sub, choices);
}

void collect(const CLI::App& app, const std::string& path, const CLI::App& root, std::vector<Words>& all) {
  Words mine{.path = path};
  for (const CLI::App* sub : app.get_subcommands({})) mine.words += sub->get_name() + " ";
  std::vector<const CLI::App*> sources = {&app};
  if (&app != &root) sources.push_back(&root);
  for (const CLI::App* source : sources)
    for (const CLI::Option* option : source->get_options()) {
      for (const std::string& name : option->get_lnames())
        if (mine.words.find("--" + name + " ") == std::string::npos) mine.words += "--" + name + " ";
      if (option->get_positional() && option->get_name() == "MODEL") mine.takes_model = true;
      if (option->get_positional() && option->get_name() == "SHELL") mine.words += "bash zsh ";
    }
  all.push_back(mine);
  for (const CLI::App* sub : app.get_subcommands({})) collect(*sub, path + " " + sub->get_name(), root, all);
}

std::string bash_script(const CLI::App& root) {
  std::vector<Words> all;
  collect(root, "phaze", root, all);
  std::string models;
  for (const std::string& name : workload::zoo_names()) models += name + " ";
  std::string cases;
  for (const Words& words : all)
    cases += fmt::format("    '{}') words='{}'{} ;;\n", words.path, words.words, words.takes_model ? "; models=1" : "");
  return fmt::format(R"(# bash completion for phaze; load with: source <(phaze completion bash)
_phaze() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} path=phaze words= models= word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${{COMP_WORDS[i]}}
    case "$path $word" in
{paths}    esac
  done
  case "$path" in
{cases}  esac
  case "${{COMP_WORDS[COMP_CWORD-1]}}" in
{choices}  esac
  if [[ -n $models && $current != -* ]]; then
    words="$words {models}"
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=()
  fi
  COMPREPLY+=($(compgen -W "$words" -- "$current"))
}}
complete -o filenames -F _phaze phaze
)",
                     fmt::arg("paths",
                              [&] {
                                std::string lines;
                                for (const Words& words : all)
                                  if (words.path != "phaze")
                                    lines += fmt::format("      '{0}') path='{0}' ;;\n", words.path);
                                return lines;
                              }()),
                     fmt::arg("choices",
                              [&] {
                                Choices choices;
                                collect_choices(root, choices);
                                std::string lines;
                                for (const auto& [option, values] : choices)
                                  lines += fmt::format("    {}) words='{}'; models= ;;\n", option, values);
                                return lines;
                              }()),
                     fmt::arg("cases", cases), fmt::arg("models", models));
}

}  // namespace

void add_completion_command(CLI::App& app, Session& session) {
  CLI::App& command = *app.add_subcommand("completion", "A completion script for your shell");
  const auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash or zsh")->required()->check(one_of({"bash", "zsh"}))->type_name("");
  command.footer("Load it with:  source <(phaze completion bash)");
  command.callback([shell, &app, &session] {
    std::string script = bash_script(app);
    // zsh runs bash completions through its own emulation.
    if (*shell == "zsh") script = "#compdef phaze\nautoload -U +X bashcompinit && bashcompinit\n" + script;
    session.answer(script);
  });
}

}  // namespace phaze::cli
