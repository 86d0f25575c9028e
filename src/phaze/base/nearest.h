// The known word nearest to a mistyped one, for messages that propose a fix.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace phaze {

// Levenshtein distance with unit costs.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidate at the least edit distance, if about a third of the word at most is wrong; else "".
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// "did you mean 'x'?" or "known: a, b, c" when nothing is near.
std::string suggest(std::string_view word, std::span<const std::string> candidates);

}  // namespace phaze
