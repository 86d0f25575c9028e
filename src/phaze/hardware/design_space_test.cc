#include "phaze/hardware/design_space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "phaze/base/testing/reference.h"
#include "phaze/hardware/area.h"
#include "phaze/hardware/least_buffers.h"

namespace phaze::hardware {
namespace {

std::vector<Chip> kept(const DesignSpace& space) {
  std::vector<Chip> chips;
  space.for_each_kept([&](const Chip& chip) {
    chips.push_back(chip);
    return true;
  });
  return chips;
}

std::int64_t walk(const DesignSpace& space) { return static_cast<std::int64_t>(kept(space).size()); }

TEST(PhazeSpace, has_the_published_chips) {
  const DesignSpace space = phaze_space();
  EXPECT_EQ(space.points(), 75712);
  EXPECT_EQ(space.count_kept(), 29360);
  EXPECT_EQ(walk(space), 29360);
}

TEST(PhazeSpace, every_published_area_is_reproduced_to_the_last_bit_and_in_order) {
  const auto folder = reference("area");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << lacks("area");
  const std::vector<Chip> chips = kept(phaze_space());
  std::ifstream file(folder / "chips_sample.csv");
  std::string line;
  std::getline(file, line);
  std::size_t row = 0;
  for (; std::getline(file, line); ++row) {
    ASSERT_LT(20 * row, chips.size());
    const Chip& chip = chips[20 * row];
    std::stringstream cells(line);
    std::vector<double> values;
    for (std::string cell; std::getline(cells, cell, ',');) values.push_back(std::stod(cell));
    const std::vector<double> mine = {static_cast<double>(chip.tensor_cores.count),
                                      static_cast<double>(chip.vector_cores.count),
                                      static_cast<double>(chip.tensor_cores.rows),
                                      static_cast<double>(chip.tensor_cores.cols),
                                      static_cast<double>(chip.vector_cores.lanes),
                                      static_cast<double>(chip.global_buffer.value()),
                                      area_phaze22(chip).total};
    EXPECT_EQ(values, mine) << "row " << row;
  }
  EXPECT_EQ(row, 1468U);
}

// A point by its number, whose digits are the places of its values: the last dimension has the lowest digit.
Chip chip_at(const DesignSpace& space, std::int64_t point) {
  Chip chip = space.base;
  for (auto dimension = space.dimensions.rbegin(); dimension != space.dimensions.rend(); ++dimension) {
    const auto radix = static_cast<std::int64_t>(dimension->values.size());
    const double value = dimension->values[static_cast<std::size_t>(point % radix)];
    dimension->parameter->set(chip, value);
    for (const Tie& tie : space.ties)
      if (tie.equals == dimension->parameter) tie.parameter->set(chip, value);
    point /= radix;
  }
  return chip;
}

TEST(DesignSpace, points_are_walked_in_the_order_of_their_numbers) {
  const DesignSpace space = phaze_space();
  std::vector<Chip> by_number;
  for (std::int64_t i = 0; i < space.points(); ++i)
    if (const Chip chip = chip_at(space, i); space.keeps(chip)) by_number.push_back(chip);
  EXPECT_EQ(by_number, kept(space));
}

// Counting by bisection agrees with looking at every point, whatever the limits.
TEST(DesignSpace, counts_what_it_walks) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    DesignSpace space;
    for (const char* name : {"tensor_cores", "rows", "cols", "vector_cores", "glb"}) {
      std::vector<double> values;
      double value = name[0] == 'g' ? 1048576 : 1 + static_cast<double>(random() % 3);
      for (std::uint64_t n = 1 + random() % 5; n > 0; --n) {
        values.push_back(value);
        value = name[0] == 'g' ? value * 2 : value + static_cast<double>(1 + random() % 60);
      }
      if (random() % 2 == 0) std::reverse(values.begin(), values.end());
      space.dimensions.push_back({*find_parameter(name), values});
    }
    std::shuffle(space.dimensions.begin(), space.dimensions.end(), random);
    space.limits.max_area_um2 = 1e6 * static_cast<double>(1 + random() % 400);
    if (random() % 2 == 0) space.limits.min_area_share = 0.1 * static_cast<double>(random() % 10);
    if (random() % 3 == 0) space.limits.max_tdp_watts = 90 + static_cast<double>(random() % 200);
    EXPECT_EQ(space.count_kept(), walk(space)) << "round " << round;
  }
}

// Says stop when it is asked for the first time.
class Impatient final : public Progress {
 public:
  bool advance(std::string_view, std::int64_t, std::int64_t) override { return false; }
};

TEST(DesignSpace, counting_and_walking_stop_when_asked_to_whether_or_not_anything_is_kept) {
  DesignSpace space = phaze_space();
  Impatient impatient;
  EXPECT_EQ(space.count_kept(impatient), std::nullopt);
  std::size_t visited = 0;
  const auto visit = [&](const Chip&) { return ++visited > 0; };
  space.for_each_kept(visit, impatient);
  EXPECT_LE(visited, space.dimensions.back().values.size());
  // Without any that is kept, nobody but the progress could stop a walk that takes a year.
  space.dimensions.assign(4, {*find_parameter("lanes"), std::vector<double>(1000, 4096.0)});
  space.limits.max_area_um2 = 1;
  visited = 0;
  space.for_each_kept(visit, impatient);
  EXPECT_EQ(visited, 0U);
  EXPECT_EQ(space.count_kept(impatient), std::nullopt);
}

// What buffers hold has no order along the sides of an array whose kernels have tiles; counting must not bisect there.
TEST(DesignSpace, counts_and_walks_only_chips_whose_buffers_hold_products) {
  std::mt19937_64 random(5);
  std::int64_t left_out = 0;
  for (int round = 0; round < 200; ++round) {
    DesignSpace space;
    if (random() % 2 == 0)
      space.base.calibration.tile_rows = space.base.calibration.tile_cols =
          static_cast<std::int64_t>(2 + random() % 100);
    if (random() % 2 == 0) space.base.core_buffer = Bytes(static_cast<std::int64_t>(1024 + random() % 100000));
    std::vector<const char*> names = {"rows", "cols", "glb", "tensor_cores"};
    if (random() % 2 == 0) names.push_back("core_buffer");
    for (const char* name : names) {
      std::vector<double> values;
      double value = 2 + static_cast<double>(random() % 8);
      for (std::uint64_t n = 1 + random() % 5; n > 0; --n) {
        values.push_back(value);
        value = 1 + std::floor(value * (name[0] == 'c' && name[2] == 'r' ? 20 : 2.5));
      }
      if (random() % 2 == 0) std::reverse(values.begin(), values.end());
      space.dimensions.push_back({*find_parameter(name), values});
    }
    if (random() % 4 == 0) space.ties = {{*find_parameter("core_buffer"), *find_parameter("glb")}};
    if (random() % 4 == 0) space.limits.max_area_um2 = 1e4 * static_cast<double>(1 + random() % 400);
    std::shuffle(space.dimensions.begin(), space.dimensions.end(), random);
    for (const Chip& chip : kept(space)) EXPECT_TRUE(holds_products(chip)) << "round " << round;
    EXPECT_EQ(space.count_kept(), walk(space)) << "round " << round;
    left_out += space.points() - walk(space);
  }
  EXPECT_GT(left_out, 1000);
}

TEST(SpaceFile, lists_ranges_powers_and_ties) {
  const auto space = parse_space_file(R"(
name: mine
base: tpuv4
dimensions:
  tensor_cores: [1, 2, 4]
  rows: {powers_of_two: [16, 256]}
  lanes: {equals: rows}
  cols: {from: 32, to: 128, step: 32}
  hbm: [32GiB, 64GiB]
limits:
  area: tpuv4-phaze
  tdp: 300W
)");
  ASSERT_TRUE(space) << to_string(space.error());
  EXPECT_EQ(space->points(), 3 * 5 * 4 * 2);
  EXPECT_EQ(space->count_kept(), walk(*space));
  DesignSpace unlimited = *space;
  unlimited.limits = {};
  const std::vector<Chip> chips = kept(unlimited);
  ASSERT_EQ(static_cast<std::int64_t>(chips.size()), space->points());
  EXPECT_EQ(chips.front().vector_cores.lanes, 16);
  EXPECT_EQ(chips.back().hbm, Bytes(std::int64_t{64} << 30));
  EXPECT_DOUBLE_EQ(*space->limits.max_area_um2, area_phaze22(Chip{}).total);
}

TEST(SpaceFile, a_billion_points_are_counted_without_holding_them) {
  const auto space = parse_space_file(R"(
dimensions:
  tensor_cores: {from: 1, to: 100, step: 1}
  vector_cores: {from: 1, to: 10, step: 1}
  rows: [8, 16]
  glb: {from: 1KiB, to: 512MiB, step: 1KiB}
limits: {area: 100mm2}
)");
  ASSERT_TRUE(space) << to_string(space.error());
  EXPECT_EQ(space->points(), std::int64_t{100} * 10 * 2 * 524288);
  EXPECT_GT(space->count_kept(), 0);
  EXPECT_LT(space->count_kept(), space->points());
}

// Looking at each of these would take minutes.
TEST(SpaceFile, a_dimension_that_begins_with_one_is_bisected_like_any_other) {
  for (const char* innermost : {"lanes", "vector_cores"}) {
    const auto space = parse_space_file(fmt::format(R"(
dimensions:
  tensor_cores: {{from: 1, to: 4096, step: 1}}
  {}: {{from: 1, to: 1000000, step: 1}}
limits: {{area: 300mm2}}
)",
                                                    innermost));
    ASSERT_TRUE(space) << to_string(space.error());
    const auto started = std::chrono::steady_clock::now();
    EXPECT_GT(space->count_kept(), 0);
    EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
  }
}

TEST(SpaceFile, broken_files_are_refused_by_line) {
  const auto refuse = [](std::string_view text) {
    const auto space = parse_space_file(text);
    return space ? std::string("accepted") : to_string(space.error());
  };
  EXPECT_EQ(refuse("name: x\n"), "key 'dimensions': has no dimensions (name at least one parameter with its values)");
  EXPECT_EQ(refuse("dimension: {}\n"), "line 1: unknown key 'dimension' (did you mean 'dimensions'?)");
  EXPECT_EQ(refuse("dimensions:\n  tensorcores: [1]\n"),
            "line 2: unknown key 'tensorcores' (did you mean 'tensor_cores'?)");
  EXPECT_EQ(refuse("dimensions:\n  rows: []\n"), "line 2: key 'rows': the list is empty");
  EXPECT_EQ(refuse("dimensions:\n  rows: {powers_of_two: [8, 4]}\n"), "line 2: key 'rows': the range is empty");
  EXPECT_EQ(refuse("dimensions:\n  rows: {from: 8}\n"),
            "line 2: key 'rows' is neither a list nor a range (write [1, 2, 4], {from: 2, to: 256, step: 2}, "
            "{powers_of_two: [2, 256]} or {equals: rows})");
  EXPECT_EQ(refuse("dimensions:\n  lanes: {equals: rows}\n  cols: [1]\n"),
            "line 2: 'lanes' equals 'rows', which is no dimension");
  EXPECT_EQ(refuse("dimensions:\n  glb: [1MiB, 128MiB]\n  tensor_cores: {equals: glb}\n"),
            "line 3: key 'tensor_cores': equals 'glb', and '134217728' is more than 1048576");
  EXPECT_EQ(refuse("dimensions:\n  process: {equals: rows}\n  rows: [16, 128]\n"),
            "line 2: key 'process': equals 'rows', and '128nm' is not between 2nm and 90nm");
  EXPECT_EQ(refuse("dimensions:\n  rows: [16, 128]\n  lanes: {equals: rows}\n  core_buffer: {equals: glb}\n"
                   "  glb: [1MiB]\n"),
            "accepted");
  EXPECT_EQ(refuse("dimensions: {rows: [1]}\nlimits: {aera: 3mm2}\n"),
            "line 2: unknown key 'limits.aera' (did you mean 'area'?)");
  EXPECT_EQ(refuse("dimensions: {rows: [1]}\nlimits: {min_area_share: 2}\n"),
            "line 2: key 'limits.min_area_share': '2' is not above 0 and at most 1");
  EXPECT_EQ(refuse("base: tpu4\ndimensions: {rows: [1]}\n"),
            "line 1: key 'base': CHIP: there is no chip 'tpu4' (did you mean 'tpuv4'?)");
}

}  // namespace
}  // namespace phaze::hardware
