#include "phaze/base/nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace phaze {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> candidates) {
  const std::size_t tolerated = std::max<std::size_t>(1, (word.size() + 2) / 3);
  std::size_t best = tolerated + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string suggest(std::string_view word, std::span<const std::string> candidates) {
  if (const std::string near = nearest(word, candidates); !near.empty()) return "did you mean '" + near + "'?";
  std::string known = "known:";
  for (std::size_t i = 0; i < candidates.size(); ++i) known += (i == 0 ? " " : ", ") + candidates[i];
  return known;
}

}  // namespace phaze
