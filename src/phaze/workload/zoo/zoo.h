// The model zoo: published configurations under short names, compiled into the library from data/zoo.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "phaze/base/result.h"
#include "phaze/workload/transformer/config.h"

namespace phaze::workload {

struct ZooEntry {
  TransformerConfig config;
  std::string source;
  std::string note;
  std::int64_t published_parameters = 0;
  std::string published;  // the config.json
};

// In alphabetical order.
std::vector<std::string> zoo_names();

// Unknown names are an error that proposes the nearest.
Result<ZooEntry> zoo_entry(std::string_view name);

}  // namespace phaze::workload
