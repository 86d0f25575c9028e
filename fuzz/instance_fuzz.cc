#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phaze/base/check.h"
#include "phaze/placement/phaze2024/instance_file.h"
#include "phaze/placement/phaze2024/solve.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace phaze::placement::phaze2024;
  const auto instance = parse_instance(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!instance) return 0;
  // The solver checks its own plan; both solvers must agree on chains.
  phaze::NoProgress progress;
  const Options small = {.stage_limit = 4096};
  const Solution solution = solve(*instance, small, progress);
  if (!solution.statistics.chain) return 0;
  const Solution general = solve(*instance, {.stage_limit = 4096, .use_chain_solver = false}, progress);
  phaze::check(general.termination == Termination::kLimit || general.plan.has_value() == solution.plan.has_value(),
               "both solvers find a plan or none");
  return 0;
}
