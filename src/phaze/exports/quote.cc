#include "phaze/exports/quote.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace phaze::exports {

std::string shell_word(std::string_view text) {
  constexpr std::string_view kHarmless = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kHarmless) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    // A word of a shell cannot hold a NUL, and a single quote only outside the quotes.
    if (c == '\0') continue;
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  }
  return word + "'";
}

std::string quoted_text(std::string_view text) {
  // Without ensure_ascii there would be bytes that are no UTF-8, and DEL, which TOML forbids; with it the escapes of
  // characters beyond the first plane are surrogate pairs, which TOML does not know. So: ASCII as JSON escapes it, the
  // rest as it is where it is UTF-8.
  std::string out = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  for (std::size_t at = out.find('\x7f'); at != std::string::npos; at = out.find('\x7f', at))
    out.replace(at, 1, "\\u007f");
  return out;
}

std::string one_line(std::string_view text) {
  // Through the JSON library, so that bytes that are no UTF-8 are replaced.
  std::string line = nlohmann::json::parse(quoted_text(text)).get<std::string>();
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  // C1 controls and the separators U+2028 and U+2029 end a line for some readers of YAML.
  for (const std::string_view breaker : {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"})
    for (std::size_t at = line.find(breaker); at != std::string::npos; at = line.find(breaker, at))
      line.replace(at, breaker.size(), " ");
  return line;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + "\"";
}

}  // namespace phaze::exports
