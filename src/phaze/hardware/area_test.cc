#include "phaze/hardware/area.h"

#include <gtest/gtest.h>

#include <random>

#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/power.h"
#include "phaze/hardware/sram.h"

namespace phaze::hardware {
namespace {

TEST(Sram, is_exact_at_powers_of_two_and_between_its_neighbours_elsewhere) {
  EXPECT_EQ(sram_22nm(Bytes(1024)).area_um2, 6133.98);
  EXPECT_EQ(sram_22nm(Bytes(134217728)).area_um2, 175423000.0);
  EXPECT_DOUBLE_EQ(sram_22nm(Bytes(1536)).area_um2, (6133.98 + 8248.43) / 2);
  EXPECT_DOUBLE_EQ(sram_22nm(Bytes(512)).area_um2, 6133.98 / 2);
  EXPECT_DOUBLE_EQ(sram_22nm(Bytes(536870912)).area_um2, 2 * 349364000.0);
}

TEST(Area, the_budget_of_the_2024_study_is_reproduced_to_the_last_bit) {
  EXPECT_EQ(area_phaze22(Chip{}).total, 278826676.31216);
}

// More of anything never takes less silicon or power.
TEST(Area, area_and_power_grow_with_every_parameter) {
  std::mt19937_64 random(1);
  const auto exponent = [&](int low, int high) {
    return std::int64_t{1} << std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 2000; ++round) {
    Chip chip;
    chip.tensor_cores = {exponent(0, 10), exponent(1, 8), exponent(1, 8)};
    chip.vector_cores = {exponent(0, 10), exponent(1, 8)};
    chip.global_buffer = Bytes(exponent(20, 27));
    chip.process_nm = 7;
    const double area = area_phaze22(chip).total;
    const double watts = thermal_design_power(chip).total;
    for (int which = 0; which < 6; ++which) {
      Chip larger = chip;
      if (which == 0) larger.tensor_cores.count *= 2;
      if (which == 1) larger.tensor_cores.rows += 1;
      if (which == 2) larger.tensor_cores.cols *= 3;
      if (which == 3) larger.vector_cores.count += 1;
      if (which == 4) larger.vector_cores.lanes *= 2;
      if (which == 5) larger.global_buffer = Bytes(larger.global_buffer.value() + 4096);
      EXPECT_GT(area_phaze22(larger).total, area) << "round " << round << ", parameter " << which;
      EXPECT_GE(thermal_design_power(larger).total, watts) << "round " << round << ", parameter " << which;
    }
  }
}

TEST(Power, tpuv4_is_the_point_of_calibration) {
  Chip chip;
  chip.process_nm = 7;
  const Power power = thermal_design_power(chip);
  EXPECT_NEAR(power.total, 192, 1e-9);
  EXPECT_EQ(power.idle, 90);
  EXPECT_DOUBLE_EQ(power.total, power.idle + power.tensor_cores + power.vector_cores + power.global_buffer + power.hbm +
                                    power.leakage);
}

TEST(Power, energies_shrink_with_the_process) {
  Chip old_chip, new_chip;
  old_chip.process_nm = 22;
  new_chip.process_nm = 7;
  EXPECT_NEAR(event_energy(new_chip).mac / event_energy(old_chip).mac, 0.094 / 0.294, 1e-12);
  EXPECT_LT(event_energy(new_chip).global_buffer, event_energy(old_chip).global_buffer);
}

TEST(Presets, have_their_published_peaks) {
  for (const std::string& name : chip_presets()) {
    const auto chip = load_chip(name);
    ASSERT_TRUE(chip) << to_string(chip.error());
    EXPECT_EQ(chip->name, name);
    EXPECT_FALSE(chip->summary.empty()) << name;
    if (chip->published.peak_flops > 0) {
      EXPECT_NEAR(chip->peak_flops() / chip->published.peak_flops, 1.0, 0.005) << name;
    }
  }
  EXPECT_EQ(*load_chip("tpuv4-phaze"), [] {
    Chip chip;
    chip.name = "tpuv4-phaze";
    chip.summary = "TPUv4-like chip of the 2024 study, areas at 22 nm";
    return chip;
  }()) << "the preset and the defaults are one";
}

}  // namespace
}  // namespace phaze::hardware
