#include "phaze/cost/calibration/fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "phaze/cost/gemm.h"
#include "phaze/cost/op_cost.h"
#include "phaze/cost/vector.h"
#include "phaze/hardware/cluster.h"
#include "phaze/hardware/least_buffers.h"
#include "phaze/workload/transformer/build.h"

namespace phaze::cost {
namespace {

constexpr double kShort = 50e-6;

// The block's graphs do not depend on the chip: built once.
Result<workload::Layer> block_of(const MeasuredLayer& layer) {
  workload::TransformerConfig config;
  config.name = layer.name;
  config.layers = 1;
  config.hidden = layer.hidden;
  config.heads = layer.heads;
  config.kv_heads = layer.kv_heads;
  config.head_dim = layer.hidden / layer.heads;
  config.feed_forward = layer.feed_forward;
  config.vocabulary = 1;
  config.embedding_size = layer.hidden;
  config.default_sequence = layer.sequence;
  config.activation = layer.gated ? workload::VectorOp::kSilu : workload::VectorOp::kGelu;
  config.gated = layer.gated;
  config.fused_gate_up = layer.gated;
  config.fused_qkv = true;
  config.norm = layer.rms_norm ? workload::NormKind::kRmsNorm : workload::NormKind::kLayerNorm;
  config.norm_bias = !layer.rms_norm;
  config.qkv_bias = config.projection_bias = config.feed_forward_bias = !layer.rms_norm;
  config.causal = layer.causal;
  config.dropout = {.attention = layer.dropout, .hidden = layer.dropout};
  const auto graph = workload::build(
      config, {.sequence = layer.sequence,
               .microbatch = layer.microbatch,
               .attention = layer.flash ? workload::AttentionKind::kFlash : workload::AttentionKind::kEager});
  if (!graph) return within("layer '" + layer.name + "'", graph.error());
  for (const workload::Layer& part : graph->layers)
    if (part.name == "block") return part;
  return Error{"has no block", "layer '" + layer.name + "'"};
}

class Comparer {
 public:
  static Result<Comparer> make(const Measurements& measurements) {
    Comparer comparer(measurements);
    for (const MeasuredLayer& layer : measurements.layers) {
      auto block = block_of(layer);
      if (!block) return block.error();
      comparer.blocks_.push_back(std::move(*block));
    }
    return comparer;
  }

  Result<std::vector<Comparison>> compare(const hardware::Chip& chip) const {
    const auto network = hardware::own_network(chip);
    if (!network) return network.error();
    const OperatorCosts costs({.chip = chip, .network = *network}, memo_.get());
    std::vector<Comparison> all;
    for (const MeasuredGemm& gemm : measurements_->gemms) {
      const auto add = [&](const char* pass, std::int64_t m, std::int64_t n, std::int64_t k, double measured) {
        const GemmCost cost =
            least_gemm_cost({.batch = gemm.batch, .m = m, .n = n, .k = k}, gemm_machine(chip, chip.tensor_cores.count));
        const double seconds =
            cost.cycles / (chip.clock_hz * chip.calibration.compute) + chip.calibration.start_seconds;
        all.push_back({measured >= kShort ? "products of 50 us and more" : "products below 50 us",
                       gemm.name + " " + pass, seconds, measured});
      };
      add("forward", gemm.m, gemm.n, gemm.k, gemm.forward);
      add("input gradient", gemm.m, gemm.k, gemm.n, gemm.input_gradient);
      add("weight gradient", gemm.k, gemm.n, gemm.m, gemm.weight_gradient);
    }
    for (const MeasuredVector& vector : measurements_->vectors) {
      const auto seconds = [&](bool backward) {
        const workload::VectorWork work{
            .op = vector.op, .backward = backward, .rows = vector.tokens, .cols = vector.hidden};
        const Estimate one = vector_cost(work, vector_bytes(work, 2), chip, chip.vector_cores.count);
        return one.hbm_bytes > 0 ? one.seconds + chip.calibration.start_seconds : 0;
      };
      const std::string name = std::string(workload::to_string(vector.op)) + " " + std::to_string(vector.tokens) + "x" +
                               std::to_string(vector.hidden);
      const auto add = [&](const char* pass, double estimate, double measured) {
        all.push_back({measured >= kShort ? "vector operators of 50 us and more" : "vector operators below 50 us",
                       name + pass, estimate, measured});
      };
      add(" forward", seconds(false), vector.forward);
      add(" both", seconds(false) + seconds(true), vector.forward_backward);
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const MeasuredLayer& layer = measurements_->layers[i];
      const std::string name =
          layer.name + " x" + std::to_string(layer.microbatch) + (layer.flash ? " flash" : " eager");
      const double forward = serial_cost(blocks_[i].forward, costs).seconds;
      const double backward = serial_cost(blocks_[i].backward, costs).seconds;
      all.push_back({"layers forward", name, forward, layer.forward});
      all.push_back({"layers forward and backward", name, forward + backward, layer.forward_backward});
      all.push_back({"kept activations", name, static_cast<double>(blocks_[i].saved.none.value()), layer.saved_bytes});
    }
    return all;
  }

 private:
  explicit Comparer(const Measurements& measurements)
      : measurements_(&measurements), memo_(std::make_unique<Memo>(1 << 16)) {}

  const Measurements* measurements_;
  std::vector<workload::Layer> blocks_;
  std::unique_ptr<Memo> memo_;
};

double share_sustained(const std::vector<MeasuredSustained>& products) {
  double sum = 0;
  for (const MeasuredSustained& product : products) sum += product.burst / product.sustained;
  return std::min(1.0, std::round(1000 * sum / static_cast<double>(products.size())) / 1000);
}

double objective(const std::vector<Comparison>& all) {
  // Group → sum and count of |log ratio|.
  std::map<std::string, std::pair<double, double>> groups;
  for (const Comparison& one : all) {
    if (one.group.ends_with("below 50 us") || one.group == "kept activations") continue;
    auto& [sum, count] = groups[one.group];
    sum += std::abs(std::log(one.estimate / one.measured));
    ++count;
  }
  double total = 0;
  for (const auto& [group, tally] : groups) total += tally.first / tally.second;
  return total;
}

}  // namespace

std::vector<Residual> summarise(const std::vector<Comparison>& all) {
  std::vector<Residual> list;
  for (const Comparison& one : all) {
    auto found = std::ranges::find(list, one.group, &Residual::group);
    if (found == list.end()) found = list.insert(list.end(), Residual{.group = one.group});
    const double error = std::abs(one.estimate / one.measured - 1);
    ++found->cases;
    found->mean += error;
    if (error >= found->worst) {
      found->worst = error;
      found->worst_case = one.name;
    }
  }
  for (Residual& residual : list) residual.mean /= static_cast<double>(residual.cases);
  return list;
}

Result<std::vector<Comparison>> compare(const hardware::Chip& chip, const Measurements& measurements) {
  const auto comparer = Comparer::make(measurements);
  if (!comparer) return comparer.error();
  return comparer->compare(chip);
}

Result<Fit> fit_calibration(const hardware::Chip& chip, const Measurements& measurements) {
  const auto comparer = Comparer::make(measurements);
  if (!comparer) return comparer.error();
  const auto before = comparer->compare(chip);
  if (!before) return before.error();

  hardware::Chip trial = chip;
  // The chip's network was read above, so comparing cannot fail any more.
  const auto error_of = [&](const hardware::Calibration& calibration) {
    trial.calibration = calibration;
    return objective(*comparer->compare(trial));
  };
  hardware::Calibration best = chip.calibration;
  best.start_seconds = std::max(best.start_seconds, 2e-6);
  double least = error_of(best);
  const auto keep_if_better = [&](const hardware::Calibration& calibration) {
    const double error = error_of(calibration);
    if (error >= least) return false;
    least = error;
    best = calibration;
    return true;
  };
  using hardware::Calibration;
  constexpr std::array<double Calibration::*, 5> kFitted = {&Calibration::compute, &Calibration::hbm,
                                                            &Calibration::vector, &Calibration::attention,
                                                            &Calibration::start_seconds};
  for (const double step : {0.3, 0.1, 0.03, 0.01}) {
    // Tiles change what the other parameters mean, so they are tried at every step.
    for (const auto& [rows, cols] : {std::pair{0, 0}, {64, 64}, {128, 64}, {128, 128}, {128, 256}, {256, 128}}) {
      hardware::Calibration calibration = best;
      calibration.tile_rows = rows;
      calibration.tile_cols = cols;
      trial.calibration = calibration;
      if (hardware::holds_products(trial)) keep_if_better(calibration);
    }
    for (bool moved = true; moved;) {
      moved = false;
      for (double Calibration::*const member : kFitted)
        for (const double factor : {1 + step, 1 / (1 + step)}) {
          hardware::Calibration calibration = best;
          calibration.*member *= factor;
          if (member != &Calibration::start_seconds) calibration.*member = std::min(1.0, calibration.*member);
          while (keep_if_better(calibration)) {
            moved = true;
            calibration.*member *= factor;
            if (member != &Calibration::start_seconds) calibration.*member = std::min(1.0, calibration.*member);
          }
        }
    }
  }
  // Three digits are all that measurements bear, and what a file holds.
  for (double Calibration::*const member : kFitted) {
    const double scale = std::pow(10, 2 - std::floor(std::log10(best.*member)));
    best.*member = std::round(best.*member * scale) / scale;
  }
  if (!measurements.sustained.empty()) best.sustained = share_sustained(measurements.sustained);
  trial.calibration = best;
  return Fit{best, summarise(*before), summarise(*comparer->compare(trial))};
}

}  // namespace phaze::cost
