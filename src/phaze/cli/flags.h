// Options with messages that say what is wrong in plain words.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "phaze/base/quantity.h"

namespace phaze::cli {

// "'many' is not a positive whole number".
inline CLI::Validator positive_whole_number() {
  return {[](std::string& text) -> std::string {
            const std::string largest(18, '9');
            if (text.empty() || text.starts_with('0') || text.find_first_not_of("0123456789") != std::string::npos)
              return "'" + text + "' is not a positive whole number";
            return text.size() > largest.size() ? "'" + text + "' is more than " + largest : "";
          },
          ""};
}

// "'0' is not a positive number".
inline CLI::Validator positive_number() {
  return {[](std::string& text) { return parse_positive(text) ? "" : "'" + text + "' is not a positive number"; }, ""};
}

// Seconds: "90", "1.5s", "200ms".
inline Result<double> parse_time(const std::string& text) {
  return text.ends_with('s') ? parse_seconds(text) : parse_positive(text);
}

// An option that is a time.
inline CLI::Option* add_time(CLI::App& app, const std::string& name, double& seconds, const std::string& help) {
  const CLI::Validator check(
      [](std::string& text) { return parse_time(text) ? "" : "'" + text + "' is not a time like 90, 1.5s or 200ms"; },
      "");
  const auto assign = [&seconds](const std::string& text) { seconds = *parse_time(text); };
  return app.add_option_function<std::string>(name, assign, help)->check(check)->type_name("TIME");
}

// A part of a whole, less than all of it: "0.001", "1%", "0".
inline std::optional<double> parse_share(std::string_view text) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  double share = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (percent) share /= 100;
  const bool is_one = share >= 0 && share < 1;  // "nan" is none, either
  return is_one ? std::optional(share) : std::nullopt;
}

// An option that is a share.
inline CLI::Option* add_share(CLI::App& app, const std::string& name, double& share, const std::string& help) {
  const CLI::Validator check(
      [](std::string& text) {
        return parse_share(text) ? "" : "'" + text + "' is not a share like 1% or 0.001, from 0 to less than 1";
      },
      "");
  const auto assign = [&share](const std::string& text) { share = *parse_share(text); };
  return app.add_option_function<std::string>(name, assign, help)->check(check)->type_name("SHARE");
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

// Which network. What is empty is no name, and would be taken for an option that was not given.
inline CLI::Option* add_network(CLI::App& app, std::string& network, const std::string& help) {
  const CLI::Validator check([](std::string& text) { return text.empty() ? "'' names no network" : ""; }, "");
  return app.add_option("--network", network, help)->check(check)->type_name("NETWORK");
}

// An error that names the first of these options that was given: a flag that does nothing is a misunderstanding.
inline Status none_given(const CLI::App& app, std::initializer_list<const char*> names, const std::string& beside) {
  for (const char* name : names)
    if (app.count(name) > 0) return Error{"has no meaning beside " + beside, name, "leave it out"};
  return Done{};
}

}  // namespace phaze::cli
