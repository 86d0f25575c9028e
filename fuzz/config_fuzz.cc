#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phaze/workload/import/hf/read_config.h"
#include "phaze/workload/transformer/build.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phaze::workload;
  const auto config = hf::parse_config(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!config) return 0;
  for (const std::int64_t width : {1, 2}) {
    const auto graph = build(*config, {.parallel = {width, width > 1}, .fuse = width > 1});
    if (graph) phaze::check(static_cast<bool>(validate(*graph)), "accepted graphs are valid");
  }
  return 0;
}
