#include "phaze/cost/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "phaze/cost/gemm.h"
#include "phaze/cost/vector.h"
#include "phaze/hardware/power.h"

namespace phaze::cost {

using workload::Attention;

Estimate attention_cost(const Attention& attention, double hbm_bytes, const hardware::Chip& chip,
                        std::int64_t tensor_cores, std::int64_t vector_cores) {
  // Operands of the products are on the chip already: only array and core buffers count.
  GemmMachine machine = gemm_machine(chip, tensor_cores);
  machine.global_bytes_per_cycle = machine.hbm_bytes_per_cycle = std::numeric_limits<double>::infinity();
  const auto keys = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(workload::visible_keys(attention))));
  const std::int64_t products = attention.batch * attention.heads;
  const std::int64_t queries = attention.query_length;
  const std::int64_t width = attention.head_dim;
  const GemmCost scores = least_gemm_cost({.batch = products, .m = queries, .n = keys, .k = width}, machine);
  const GemmCost context = least_gemm_cost({.batch = products, .m = queries, .n = width, .k = keys}, machine);
  // Backward: scores again and the weights' gradient have the shape of the first product; the gradients of queries,
  // keys and values that of the second, the last two turned round.
  const double cycles = attention.backward ? 2 * scores.cycles + 3 * context.cycles : scores.cycles + context.cycles;
  const double macs =
      static_cast<double>(products * queries) * static_cast<double>(keys * width) * (attention.backward ? 5 : 2);

  // In registers, a score takes the cycles of a dedicated unit, and one for its row's statistics, also in a kernel.
  const double scores_made = static_cast<double>(products * queries) * static_cast<double>(keys);
  const auto cycles_per_score = [](bool backward) {
    return 1 + cycles_per_element({.op = workload::VectorOp::kSoftmax, .backward = backward}, VectorUnits::kDedicated);
  };
  const double operations = scores_made * (cycles_per_score(false) + (attention.backward ? cycles_per_score(true) : 0));

  const hardware::Calibration& calibration = chip.calibration;
  const double matrix = cycles / (chip.clock_hz * calibration.compute * calibration.attention);
  const double vector = operations / (static_cast<double>(vector_cores * chip.vector_cores.lanes) * chip.clock_hz *
                                      calibration.vector * calibration.attention);
  const double hbm = hbm_bytes / (chip.hbm_bandwidth * calibration.hbm);
  const hardware::EventEnergy energy = hardware::event_energy(chip);
  constexpr double kPico = 1e-12;
  Estimate estimate;
  estimate.hbm_bytes = hbm_bytes;
  estimate.seconds = std::max({matrix, vector, hbm});
  estimate.bound_by = matrix >= std::max(vector, hbm) ? Bound::kCompute : vector >= hbm ? Bound::kVector : Bound::kHbm;
  estimate.joules = kPico * (macs * (energy.mac + energy.tensor_register) +
                             operations * (energy.mac + 2 * energy.vector_read + energy.vector_write) +
                             hbm_bytes * 8 * energy.hbm_bit);
  return estimate;
}

}  // namespace phaze::cost
