// Instances as JSON:
//   {"resources": {"tc": 8, "hbm": 1.0},
//    "ops": [{"id": 0, "name": "qkv", "modes": [{"duration": 1.5e-3, "demand": {"tc": 1, "hbm": 0.35}}]}],
//    "edges": [[0, 1]]}
// Identifiers are whole numbers, in any order. "name" and "demand" may be left out, and so may resources of a demand.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/schedule/instance.h"

namespace phaze::schedule {

struct NamedInstance {
  Instance instance;
  std::vector<std::int64_t> ids;  // of operators, as the file has them
};

// The instances returned pass validate().
Result<NamedInstance> parse_instance(std::string_view text);
Result<NamedInstance> read_instance(const std::filesystem::path& path);

}  // namespace phaze::schedule
