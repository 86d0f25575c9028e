#include "phaze/cost/calibration/fit.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "phaze/base/testing/reference.h"
#include "phaze/cost/gemm.h"
#include "phaze/cost/vector.h"
#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/least_buffers.h"

namespace phaze::cost {
namespace {

// Measurements of an imagined chip, made by the model itself.
Measurements imagined(const hardware::Chip& chip) {
  Measurements made{.device = "imagined"};
  for (const std::int64_t size : {4096, 6000, 8192}) {
    const auto seconds = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
      const GemmCost cost = least_gemm_cost({.m = m, .n = n, .k = k}, gemm_machine(chip, chip.tensor_cores.count));
      return cost.cycles / (chip.clock_hz * chip.calibration.compute) + chip.calibration.start_seconds;
    };
    const std::int64_t m = size, n = 2 * size, k = 4096;
    made.gemms.push_back({"p", 1, m, n, k, seconds(m, n, k), seconds(m, k, n), seconds(k, n, m)});
  }
  for (const auto op : {workload::VectorOp::kMul, workload::VectorOp::kGelu, workload::VectorOp::kSoftmax}) {
    const auto seconds = [&](bool backward) {
      const workload::VectorWork work{.op = op, .backward = backward, .rows = 32768, .cols = 4096};
      return vector_cost(work, vector_bytes(work, 2), chip, chip.vector_cores.count).seconds +
             chip.calibration.start_seconds;
    };
    made.vectors.push_back({op, 32768, 4096, seconds(false), seconds(false) + seconds(true)});
  }
  return made;
}

TEST(Calibration, finds_the_figures_that_made_the_measurements) {
  hardware::Chip truth = *hardware::load_chip("h200");
  truth.calibration.compute = 0.62;
  truth.calibration.hbm = 0.71;
  const auto fit = fit_calibration(*hardware::load_chip("h200"), imagined(truth));
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->calibration.compute, 0.62, 0.03);
  EXPECT_NEAR(fit->calibration.hbm, 0.71, 0.03);
  for (const Residual& residual : fit->after) EXPECT_LT(residual.mean, 0.03) << residual.group;
}

TEST(Calibration, what_lasts_is_measured_apart_and_shows_in_training_alone) {
  hardware::Chip chip = *hardware::load_chip("h200");
  Measurements measurements = imagined(chip);
  EXPECT_EQ(fit_calibration(chip, measurements)->calibration.sustained, chip.calibration.sustained);
  measurements.sustained = {{8192, 8192, 8192, 1e-3, 1.25e-3}, {8192, 4096, 4096, 1e-3, 1e-3}};
  chip.calibration.sustained = 0.5;
  const auto fit = fit_calibration(chip, measurements);
  ASSERT_TRUE(fit);
  EXPECT_DOUBLE_EQ(fit->calibration.sustained, 0.9);
  // Products alone on the chip take what they took, whatever lasts.
  for (const Residual& residual : fit->after) EXPECT_LT(residual.mean, 0.03) << residual.group;
}

TEST(Calibration, tiles_that_the_core_buffers_do_not_hold_are_not_tried) {
  // Measurements that products of no cycles would explain best.
  Measurements instant{.device = "imagined"};
  instant.gemms.push_back({"p", 1, 8192, 8192, 8192, 1e-4, 1e-4, 1e-4});
  const hardware::Chip chip = *hardware::load_chip("tpuv4");
  const auto fit = fit_calibration(chip, instant);
  ASSERT_TRUE(fit) << to_string(fit.error());
  hardware::Chip fitted = chip;
  fitted.calibration = fit->calibration;
  EXPECT_TRUE(hardware::holds_products(fitted));
}

TEST(Calibration, a_written_chip_reads_back_as_the_same_chip) {
  for (const std::string& name : hardware::chip_presets()) {
    const hardware::Chip chip = *hardware::load_chip(name);
    const auto again = hardware::parse_chip_file(hardware::chip_file_text(chip));
    ASSERT_TRUE(again) << name << ": " << to_string(again.error());
    EXPECT_TRUE(*again == chip) << hardware::chip_file_text(chip);
  }
}

TEST(Calibration, bad_measurements_name_the_entry) {
  const auto refuse = [](const char* text) {
    const auto parsed = parse_measurements(text);
    return parsed ? "accepted" : to_string(parsed.error());
  };
  EXPECT_EQ(refuse("["), "line 1, column 2: is not valid JSON");
  EXPECT_EQ(refuse("[]"), "is not a JSON object (make it with scripts/measure-gpu)");
  EXPECT_EQ(refuse("{}"), "holds no measurements (it needs lists 'gemm', 'vector' or 'layer')");
  EXPECT_EQ(refuse(R"({"gemm": 1})"), "key 'gemm': is not a list");
  EXPECT_EQ(refuse(R"({"gemm": [{"name": "a"}]})"), "key 'gemm', entry 1: key 'batch' is missing");
  EXPECT_EQ(refuse(R"({"gemm": [{"name": "a", "batch": 1, "m": 1.5}]})"),
            "key 'gemm', entry 1: key 'm' is not a positive whole number");
  EXPECT_EQ(refuse(R"({"vector": [{"op": "gelo", "tokens": 1, "hidden": 1, "fwd_us": 1, "fwd_bwd_us": 2}]})"),
            "key 'vector', entry 1: there is no vector operator 'gelo'");
  EXPECT_EQ(refuse(R"({"vector": [{"op": "gelu", "tokens": 1, "hidden": 1, "fwd_us": -1, "fwd_bwd_us": 2}]})"),
            "key 'vector', entry 1: key 'fwd_us' is not above zero");
}

TEST(Calibration, the_h200_preset_is_as_close_to_a_real_one_as_the_documentation_says) {
  constexpr const char* kMeasurements = "gpu/h200.json";
  const auto file = reference(kMeasurements);
  if (!std::filesystem::exists(file)) GTEST_SKIP() << lacks(kMeasurements);
  const auto measurements = load_measurements(file.string());
  ASSERT_TRUE(measurements);
  const auto all = compare(*hardware::load_chip("h200"), *measurements);
  ASSERT_TRUE(all);
  for (const Residual& residual : summarise(*all)) {
    const double most = residual.group == "kept activations"             ? 0.01
                        : residual.group.starts_with("layers")           ? 0.08
                        : residual.group == "products of 50 us and more" ? 0.08
                                                                         : 1;
    EXPECT_LT(residual.mean, most) << residual.group;
  }
}

}  // namespace
}  // namespace phaze::cost
