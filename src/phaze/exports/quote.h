// Text from files (model names, paths) inside other languages. Whatever the text holds, it stays text there.
#pragma once

#include <string>
#include <string_view>

namespace phaze::exports {

// One word for a POSIX shell: in single quotes unless every character is harmless.
std::string shell_word(std::string_view text);

// A double-quoted string of TOML and, all its escapes being JSON's, of YAML.
std::string quoted_text(std::string_view text);

// One line behind a comment sign: line breaks and control characters become spaces.
std::string one_line(std::string_view text);

// A field of a CSV file (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace phaze::exports
