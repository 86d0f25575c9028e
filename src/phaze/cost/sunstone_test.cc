#include "phaze/cost/sunstone.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "phaze/base/testing/reference.h"
#include "phaze/cost/sunstone_table.h"

namespace phaze::cost {
namespace {

using Triple = std::array<std::int64_t, 3>;

bool divides(const Triple& a, const Triple& b) { return b[0] % a[0] == 0 && b[1] % a[1] == 0 && b[2] % a[2] == 0; }

std::vector<Triple> triples(const Triple& whole) {
  std::vector<Triple> list;
  for (std::int64_t n = 1; n <= whole[0]; ++n)
    for (std::int64_t c = 1; c <= whole[1]; ++c)
      for (std::int64_t k = 1; k <= whole[2]; ++k)
        if (const Triple t = {n, c, k}; divides(t, whole)) list.push_back(t);
  return list;
}

// The definition, written down once more without any of the mapper's ideas: every p, a, q, b, g and stationary tensor.
double brute_force(const Triple& whole, const SunstoneCore& core) {
  const auto all = triples(whole);
  const auto product = [](const Triple& t) { return t[0] * t[1] * t[2]; };
  const auto grid_holds = [&](const Triple& t, std::int64_t x, std::int64_t y) {
    return std::ranges::any_of(triples(t),
                               [&](const Triple& r) { return product(r) <= x && product(t) / product(r) <= y; });
  };
  const auto times = [](const Triple& a, const Triple& b) { return Triple{a[0] * b[0], a[1] * b[1], a[2] * b[2]}; };
  const double macs = static_cast<double>(product(whole));
  const double outputs = static_cast<double>(whole[0] * whole[2]);
  const auto cycles = [&](const Triple& inner, const Triple& outer, std::size_t stationary, double bandwidth) {
    std::array<double, 3> moved{};
    for (std::size_t d = 0; d < 3; ++d) moved[d] = macs / static_cast<double>(d == stationary ? outer[d] : inner[d]);
    return std::max(moved[0] + moved[1] + moved[2] - outputs, moved[1]) / bandwidth;
  };
  const auto least = [&](const Triple& inner, const Triple& outer, double bandwidth) {
    return std::min(
        {cycles(inner, outer, 0, bandwidth), cycles(inner, outer, 1, bandwidth), cycles(inner, outer, 2, bandwidth)});
  };
  const std::int64_t x = std::int64_t{1} << static_cast<int>(std::ceil(std::log2(static_cast<double>(core.cores)) / 2));
  std::vector<Triple> arrays, spreads;
  for (const Triple& t : all) {
    if (grid_holds(t, core.rows, core.cols)) arrays.push_back(t);
    if (grid_holds(t, x, core.cores / x)) spreads.push_back(t);
  }
  const std::int64_t buffer = std::max<std::int64_t>(1024, 16 * core.rows * core.cols);
  double best = std::numeric_limits<double>::infinity();
  for (const Triple& q : all) {
    if (q[0] * q[1] > buffer || q[1] * q[2] > buffer || q[0] * q[2] > buffer) continue;
    for (const Triple& a : arrays)
      for (const Triple& p : all) {
        const Triple u = times(p, a);
        if (p[0] * p[1] + p[1] * p[2] + p[0] * p[2] > 32 || !divides(u, q)) continue;
        for (const Triple& b : spreads) {
          const Triple v = times(q, b);
          if (!divides(v, whole)) continue;
          for (const Triple& g : all) {
            if (!divides(v, g) || g[0] * g[1] + g[1] * g[2] + g[0] * g[2] > core.global_buffer_words) continue;
            best = std::min(best, std::max({macs / static_cast<double>(product(a) * product(b)), least(u, q, 64),
                                            least(v, g, 256), least(g, whole, 128)}));
          }
        }
      }
  }
  return best;
}

TEST(Sunstone, equals_brute_force_on_small_problems) {
  std::mt19937_64 random(11);
  const std::array<std::int64_t, 8> sizes = {1, 2, 3, 4, 6, 8, 12, 5};
  for (int round = 0; round < 60; ++round) {
    const Triple whole = {sizes[random() % 8], sizes[random() % 8], sizes[random() % 8]};
    const SunstoneCore core{.cores = std::int64_t{1} << (random() % 4),
                            .rows = std::int64_t{1} << (random() % 3),
                            .cols = std::int64_t{1} << (random() % 3),
                            .global_buffer_words = static_cast<std::int64_t>(3 + random() % 200)};
    SunstoneMapper mapper(whole[0], whole[1], whole[2]);
    EXPECT_DOUBLE_EQ(mapper.least_cycles(core), brute_force(whole, core))
        << "round " << round << ": " << whole[0] << "x" << whole[1] << "x" << whole[2];
  }
}

TEST(Sunstone, equals_the_exact_minimum_of_the_reference_and_never_exceeds_the_original) {
  constexpr const char* kResults = "cost/gemm_sunstone.json";
  const auto path = reference(kResults);
  if (!std::filesystem::exists(path)) GTEST_SKIP() << lacks(kResults);
  std::ifstream file(path);
  const auto cases = nlohmann::json::parse(file).at("cases");
  std::map<Triple, SunstoneMapper> mappers;
  for (const auto& result : cases) {
    const Triple whole = {result.at("N"), result.at("C"), result.at("K")};
    auto& mapper = mappers.try_emplace(whole, whole[0], whole[1], whole[2]).first->second;
    const double cycles = mapper.least_cycles({.cores = result.at("num"),
                                               .rows = result.at("width"),
                                               .cols = result.at("depth"),
                                               .global_buffer_words = result.at("glb")});
    EXPECT_NEAR(cycles / result.at("exact_min_latency").get<double>(), 1.0, 1e-9) << result.dump();
    EXPECT_LE(cycles, result.at("latency").get<double>() * (1 + 1e-12)) << result.dump();
  }
}

TEST(Sunstone, more_of_anything_never_hurts) {
  std::mt19937_64 random(5);
  SunstoneMapper mapper(512, 1024, 768);
  for (int round = 0; round < 200; ++round) {
    const SunstoneCore core{.cores = std::int64_t{1} << (2 * (random() % 5)),
                            .rows = std::int64_t{1} << (random() % 8),
                            .cols = std::int64_t{1} << (random() % 8),
                            .global_buffer_words = std::int64_t{1} << (10 + random() % 12)};
    const double cycles = mapper.least_cycles(core);
    for (int which = 0; which < 4; ++which) {
      SunstoneCore larger = core;
      if (which == 0) larger.cores *= 4;
      if (which == 1) larger.rows *= 2;
      if (which == 2) larger.cols *= 2;
      if (which == 3) larger.global_buffer_words *= 2;
      EXPECT_LE(mapper.least_cycles(larger), cycles) << "round " << round << ", parameter " << which;
    }
  }
}

TEST(SunstoneTable, answers_as_the_mapper_does) {
  std::vector<hardware::Chip> chips(3);
  chips[1].tensor_cores = {.count = 64, .rows = 32, .cols = 16};
  chips[2].global_buffer = Bytes(2 << 20);
  const SunstoneTable table(chips);
  for (const Triple& problem : {Triple{512, 1024, 3072}, Triple{77, 60, 128}}) {
    SunstoneMapper mapper(problem[0], problem[1], problem[2]);
    for (const hardware::Chip& chip : chips)
      for (const std::int64_t cores : {std::int64_t{1}, chip.tensor_cores.count}) {
        const auto cycles = table.least_cycles(problem[0], problem[1], problem[2], chip, cores);
        ASSERT_TRUE(cycles);
        EXPECT_EQ(*cycles, mapper.least_cycles(
                               {cores, chip.tensor_cores.rows, chip.tensor_cores.cols, chip.global_buffer.value()}));
      }
    EXPECT_FALSE(table.least_cycles(problem[0], problem[1], problem[2], chips[0], 3)) << "no array of three cores";
  }
}

}  // namespace
}  // namespace phaze::cost
