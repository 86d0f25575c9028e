// Options with messages that say what is wrong in plain words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

namespace phaze::cli {

// "'many' is not a positive whole number".
inline CLI::Validator positive_whole_number() {
  return {[](std::string& text) {
            const bool digits =
                !text.empty() && text.size() <= 18 && text.find_first_not_of("0123456789") == std::string::npos;
            const bool positive = !text.starts_with('0');
            return digits && positive ? std::string() : "'" + text + "' is not a positive whole number";
          },
          ""};
}

// "'sparse' is none of eager, flash".
inline CLI::Validator one_of(std::vector<std::string> words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return {[words = std::move(words), list](std::string& text) {
            for (const std::string& word : words)
              if (word == text) return std::string();
            return "'" + text + "' is none of " + list;
          },
          ""};
}

// An option whose value is one of a few names, each standing for a value of an enumeration.
template <typename Enum>
CLI::Option* add_choice(CLI::App& app, const std::string& name, Enum& target,
                        std::vector<std::pair<std::string, Enum>> choices, const std::string& help) {
  std::vector<std::string> words;
  std::string list;
  for (const auto& [word, value] : choices) {
    words.push_back(word);
    list += (list.empty() ? "" : "|") + word;
  }
  const auto assign = [&target, choices = std::move(choices)](const std::string& chosen) {
    for (const auto& [word, value] : choices)
      if (word == chosen) target = value;
  };
  return app.add_option_function<std::string>(name, assign, help)->check(one_of(std::move(words)))->type_name(list);
}

}  // namespace phaze::cli
