// The optima of the released tool, where its results are at hand.
#include "phaze/base/testing/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "phaze/placement/phaze2024/instance_file.h"
#include "phaze/placement/phaze2024/solve.h"

namespace phaze::placement::phaze2024 {
namespace {

TEST(Reference, equals_the_optimum_of_the_released_tool) {
  constexpr const char* kOptima = "placement/instances.json";
  const auto path = reference(kOptima);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << lacks(kOptima);
  std::ifstream file(path);
  const auto cases = nlohmann::json::parse(file);
  ASSERT_FALSE(cases.empty());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto instance = parse_instance(cases[i].at("instance").dump(), "instance " + std::to_string(i));
    ASSERT_TRUE(instance) << to_string(instance.error());
    const auto& reference = cases[i].at("reference");
    for (const bool chain : {true, false}) {
      NoProgress progress;
      const Solution solution = solve(*instance, {.use_chain_solver = chain}, progress);
      ASSERT_EQ(solution.plan.has_value(), reference.at("feasible").get<bool>()) << i;
      if (!solution.plan) continue;
      const double expected = reference.at("timePerBatch").get<double>();
      EXPECT_LE(std::abs(solution.evaluation.time_per_batch - expected), 1e-9 * expected) << i;
    }
  }
}

}  // namespace
}  // namespace phaze::placement::phaze2024
