// What others measured, solved or published, and some tests compare with: it is not ours to distribute. Where it is not
// there, those tests are skipped and say what they lack; optima are checked by oracles of our own, too.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

namespace phaze {

// A file or folder of it, such as "placement/instances.json".
inline std::filesystem::path reference(std::string_view what) {
  const char* given = std::getenv("PHAZE_REFERENCE");
  return std::filesystem::path(given != nullptr ? given : PHAZE_SOURCE_DIR "/../shared/reference") / what;
}

// Why a test without it is skipped.
inline std::string lacks(std::string_view what) {
  return "results of others, not part of this project, are compared with where they are at hand: there is no " +
         reference(what).string() + "; set PHAZE_REFERENCE to a folder with " + std::string(what);
}

}  // namespace phaze
