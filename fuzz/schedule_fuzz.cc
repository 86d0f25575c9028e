#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phaze/schedule/instance_file.h"
#include "phaze/schedule/solve.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phaze::schedule;
  const auto named = parse_instance(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!named) return 0;
  // The solver has its schedules judged before it returns them.
  phaze::Stop stop({.work = 200});
  (void)solve(named->instance, {}, stop);
  return 0;
}
