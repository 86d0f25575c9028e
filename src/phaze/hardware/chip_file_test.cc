#include "phaze/hardware/chip_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "phaze/hardware/least_buffers.h"

namespace phaze::hardware {
namespace {

TEST(InlineChip, sets_what_it_names_and_keeps_the_rest) {
  const auto chip = load_chip("tc=4x64x32,vc=8x256,glb=64MiB,hbm=80GiB@2.5TB/s,clock=940MHz");
  ASSERT_TRUE(chip) << to_string(chip.error());
  EXPECT_EQ(chip->tensor_cores, (TensorCores{4, 64, 32}));
  EXPECT_EQ(chip->vector_cores, (VectorCores{8, 256}));
  EXPECT_EQ(chip->global_buffer, Bytes(std::int64_t{64} << 20));
  EXPECT_EQ(chip->hbm, Bytes(std::int64_t{80} << 30));
  EXPECT_DOUBLE_EQ(chip->hbm_bandwidth, 2.5e12);
  EXPECT_DOUBLE_EQ(chip->clock_hz, 940e6);
  const auto partial = load_chip("hbm=64GiB");
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->tensor_cores, Chip{}.tensor_cores);
  EXPECT_DOUBLE_EQ(partial->hbm_bandwidth, 1.2e12);
}

TEST(ChipFile, sets_what_it_names) {
  const auto chip = parse_chip_file("name: mine\nrows: 64\nclock: 2GHz\npublished: {peak: 100TFLOP/s, tdp: 300W}\n");
  ASSERT_TRUE(chip) << to_string(chip.error());
  EXPECT_EQ(chip->name, "mine");
  EXPECT_EQ(chip->tensor_cores.rows, 64);
  EXPECT_DOUBLE_EQ(chip->published.tdp_watts, 300);
}

// Values of all sizes and with all their digits.
class RandomChips {
 public:
  explicit RandomChips(std::uint64_t seed) : random_(seed) {}

  Chip chip() {
    Chip chip;
    chip.name = "chip " + std::to_string(whole(1000));
    chip.tensor_cores = {whole(200), whole(256), whole(256)};
    chip.vector_cores = {whole(200), whole(256)};
    chip.global_buffer = Bytes(11 + whole(1 << 30));
    chip.global_buffer_bytes_per_cycle = static_cast<double>(whole(1 << 20));
    chip.hbm = Bytes(whole(1 << 30) * whole(1 << 10));
    chip.hbm_bandwidth = real(1, 1e13);
    chip.clock_hz = real(1e6, 1e10);
    chip.link_bandwidth = real(1, 1e13);
    chip.process_nm = static_cast<double>(1 + whole(89));
    Calibration& calibration = chip.calibration;
    for (double* fraction :
         {&calibration.compute, &calibration.sustained, &calibration.attention, &calibration.vector, &calibration.hbm})
      *fraction = real(1e-6, 1);
    calibration.start_seconds = real(1e-9, 1e-3);
    calibration.dispatch_seconds = real(1e-9, 1e-3);
    calibration.serial = whole(2) == 1;
    if (whole(2) == 1) {
      calibration.tile_rows = whole(256);
      calibration.tile_cols = whole(256);
      chip.core_buffer = least_buffers(chip).core + Bytes(whole(1 << 20));
    }
    chip.published.peak_flops = real(1e9, 1e18);
    chip.published.tdp_watts = real(1, 2000);
    chip.published.die_mm2 = real(1, 2000);
    return chip;
  }

 private:
  std::int64_t whole(std::int64_t most) { return std::uniform_int_distribution<std::int64_t>(1, most)(random_); }
  // Half of them as people write them, with few digits.
  double real(double low, double high) {
    const double value = std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random_));
    return whole(2) == 1 ? value : std::stod(std::to_string(whole(999)) + "e" + std::to_string(exponent(value) - 3));
  }
  static int exponent(double value) { return static_cast<int>(std::floor(std::log10(value))); }

  std::mt19937_64 random_;
};

TEST(ChipFile, a_written_chip_reads_back_as_the_same_chip_to_the_last_bit) {
  RandomChips random(9);
  for (int round = 0; round < 2000; ++round) {
    const Chip chip = random.chip();
    const std::string text = chip_file_text(chip);
    const auto again = parse_chip_file(text);
    ASSERT_TRUE(again) << "round " << round << ": " << to_string(again.error()) << "\n" << text;
    ASSERT_TRUE(*again == chip) << "round " << round << "\n" << text;
  }
}

TEST(ChipFile, links_are_those_of_the_network_unless_the_file_says_otherwise) {
  const auto links = [](const std::string& text) {
    const std::string path = testing::TempDir() + "links.yaml";
    std::ofstream(path) << text;
    const auto chip = load_chip(path);
    return chip ? chip->link_bandwidth : -1;
  };
  EXPECT_DOUBLE_EQ(links("rows: 64\n"), Chip{}.link_bandwidth);
  EXPECT_DOUBLE_EQ(links("network: 8x300GB/s,25GB/s\n"), 650e9);
  EXPECT_DOUBLE_EQ(links("network: nowhere.yaml\nlinks: 100GB/s\n"), 100e9);
  EXPECT_DOUBLE_EQ(links("network: nowhere.yaml\n"), -1);
}

TEST(ChipFile, figures_are_written_with_no_more_digits_than_they_have) {
  Chip chip;
  chip.clock_hz = 1.83e9;
  chip.hbm_bandwidth = 1555e9;
  chip.calibration.start_seconds = 4.44 * 1e-6;
  const std::string text = chip_file_text(chip);
  for (const char* line : {"clock: 1.83GHz\n", "hbm_bandwidth: 1555GB/s\n", "  start: 4.44us\n"})
    EXPECT_NE(text.find(line), std::string::npos) << text;
}

TEST(Chips, broken_ones_are_refused_by_place) {
  const auto refuse = [](std::string_view text) {
    const auto chip = load_chip(text);
    return chip ? std::string("accepted") : to_string(chip.error());
  };
  EXPECT_EQ(refuse("h10-sxm"), "CHIP: there is no chip 'h10-sxm' (did you mean 'h100-sxm'?)");
  EXPECT_EQ(refuse("./nowhere.yaml"), "./nowhere.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(refuse("tc=8x128"),
            "chip 'tc=8x128': tc: has 2 factors (write it like tc=8x128x128 (cores x rows x columns))");
  EXPECT_EQ(refuse("tc=8xax128"),
            "chip 'tc=8xax128': tc: 'a' is not a positive whole number (write it like tc=8x128x128 (cores x rows x "
            "columns))");
  EXPECT_EQ(refuse("tc=8x128x9999999"), "chip 'tc=8x128x9999999': tc: '9999999' is more than 1048576");
  EXPECT_EQ(refuse("vc=0x128"),
            "chip 'vc=0x128': vc: '0' is not a positive whole number (write it like vc=2x128 (cores x lanes))");
  EXPECT_EQ(
      refuse("glb=128"),
      "chip 'glb=128': glb: '128' has no unit (write it like 128MiB; units: B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)");
  EXPECT_EQ(refuse("glb=128mb"),
            "chip 'glb=128mb': glb: '128mb' has the unknown unit 'mb' (write it like 128MiB; units: B, KiB, MiB, GiB, "
            "TiB, KB, MB, GB, TB)");
  EXPECT_EQ(refuse("glb=-1MiB"),
            "chip 'glb=-1MiB': glb: '-1MiB' does not start with a positive number (write it like 128MiB)");
  EXPECT_EQ(refuse("glb=0.3B"), "chip 'glb=0.3B': glb: '0.3B' is not a whole number of bytes below 2^62");
  EXPECT_EQ(refuse("hbm=32GiB@1200GB"),
            "chip 'hbm=32GiB@1200GB': hbm: '1200GB' does not end in /s (write it like 1200GB/s)");
  EXPECT_EQ(refuse("clock=fast"),
            "chip 'clock=fast': clock: 'fast' does not start with a positive number (write it like 1.05GHz)");
  EXPECT_EQ(refuse("clk=1GHz"), "chip 'clk=1GHz': clk: unknown part 'clk' (known: tc, vc, glb, hbm, clock, process)");
  EXPECT_EQ(refuse("tc=8x8x8,"), "accepted");
  EXPECT_EQ(refuse("glb=8B"), "chip 'glb=8B': glb: 8B holds not two elements of each operand (write 12B or more)");
  EXPECT_EQ(refuse("tc=8x8x8,glb"), "chip 'tc=8x8x8,glb': 'glb' is not of the form key=value");
}

TEST(ChipFile, broken_files_are_refused_by_line) {
  const auto refuse = [](std::string_view text) {
    const auto chip = parse_chip_file(text);
    return chip ? std::string("accepted") : to_string(chip.error());
  };
  EXPECT_EQ(refuse("name: x\nrow: 5\n"), "line 2: unknown key 'row' (did you mean 'rows'?)");
  EXPECT_EQ(refuse("name: x\nrows: many\n"), "line 2: key 'rows': 'many' is not a positive whole number");
  EXPECT_EQ(refuse("rows: [1, 2]\n"), "line 1: key 'rows' needs a plain value");
  EXPECT_EQ(
      refuse("glb: 128\n"),
      "line 1: key 'glb': '128' has no unit (write it like 128MiB; units: B, KiB, MiB, GiB, TiB, KB, MB, GB, TB)");
  EXPECT_EQ(refuse("process: 7\n"), "line 1: key 'process': '7' does not end in nm (write it like 7nm)");
  EXPECT_EQ(refuse("process: 1nm\n"), "line 1: key 'process': '1nm' is not between 2nm and 90nm");
  EXPECT_EQ(refuse("- a\n- b\n"), "line 1: is not a YAML map (write it as 'key: value' lines)");
  EXPECT_EQ(refuse("a: [1\n"), "line 2: is not valid YAML: end of sequence flow not found");
  EXPECT_EQ(refuse("published: {peek: 1TFLOP/s}\n"), "line 1: unknown key 'published.peek' (did you mean 'peak'?)");
  EXPECT_EQ(refuse("name: x\nglb: 11B\n"),
            "line 2: key 'glb': 11B holds not two elements of each operand (write 12B or more)");
  EXPECT_EQ(refuse("name: x\nglb: 12B\n"), "accepted");
  EXPECT_EQ(refuse("rows: 64\nrows: 128\n"), "line 2: key 'rows' is there twice (leave one of them out)");
  EXPECT_EQ(refuse("calibration: {compute: 0.5}\ncalibration:\n  tile: 128x256\n"),
            "line 2: key 'calibration' is there twice (leave one of them out)");
  EXPECT_EQ(refuse("calibration:\n  compute: 0.5\n  compute: 0.6\n"),
            "line 3: key 'compute' is there twice (leave one of them out)");
  EXPECT_EQ(refuse("core_buffer: 16KiB\nrows: 128\n"),
            "line 1: key 'core_buffer': 16KiB holds no block of the 128x128 array (write 192KiB or more)");
  EXPECT_EQ(refuse("core_buffer: 192KiB\nrows: 128\n"), "accepted");
  EXPECT_EQ(
      refuse("calibration:\n  compute: 0.5\n  tile: 128x256\n"),
      "line 3: key 'calibration.tile': a core buffer of 256KiB holds no tile of 128x256 on the 128x128 array (write "
      "a smaller tile, or core_buffer: 320KiB)");
  EXPECT_EQ(refuse("core_buffer: 256KiB\ncalibration: {tile: 128x256}\n"),
            "line 1: key 'core_buffer': 256KiB holds no tile of 128x256 on the 128x128 array (write 320KiB or more)");
  EXPECT_EQ(refuse("core_buffer: 320KiB\ncalibration: {tile: 128x256}\n"), "accepted");
  EXPECT_EQ(refuse("published: {tdp: hot}\n"),
            "line 1: key 'published.tdp': 'hot' does not start with a positive number (write it like 192W)");
}

}  // namespace
}  // namespace phaze::hardware
