// How the best plan of a model changes with the number of devices, by the library: plan_sizes MODEL CHIP BATCH
#include <cstdio>
#include <cstdlib>
#include <string>

#include "phaze/hardware/chip_file.h"
#include "phaze/hardware/cluster.h"
#include "phaze/layer_times/request.h"
#include "phaze/placement/solve.h"

namespace {

phaze::Status print_plans(const std::string& model, const std::string& chip_name, std::int64_t batch) {
  auto chip = phaze::hardware::load_chip(chip_name);
  if (!chip) return chip.error();
  auto network = phaze::hardware::own_network(*chip);
  if (!network) return network.error();
  phaze::cost::Memo memo;  // operators that were priced once are not priced again
  phaze::NoProgress quiet;
  for (std::int64_t devices = 8; devices <= 64; devices *= 2) {
    auto cluster = phaze::hardware::make_cluster(*chip, devices, *network);
    if (!cluster) return cluster.error();
    const auto problem =
        phaze::layer_times::make_problem(model, *cluster, {.microbatches = {1, 2}, .global_batch = batch}, memo, quiet);
    if (!problem) return problem.error();
    const auto solution = phaze::placement::solve(problem->request, {}, quiet);
    if (solution.plans.empty()) {
      std::printf("%4ld devices: no plan fits\n", static_cast<long>(devices));
      continue;
    }
    const auto& best = solution.plans.front();
    const auto& how = best.plan.strategy;
    std::printf("%4ld devices: %.3f s per batch, pipeline %ld, tensor %ld, data %ld\n", static_cast<long>(devices),
                best.evaluation.time_per_batch, static_cast<long>(how.pipeline),
                static_cast<long>(problem->request.tables[how.table].tensor_parallel),
                static_cast<long>(how.data_parallel));
  }
  return phaze::Done{};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: plan_sizes MODEL CHIP BATCH\n", stderr);
    return 2;
  }
  const phaze::Status done = print_plans(argv[1], argv[2], std::atol(argv[3]));
  if (done) return 0;
  std::fprintf(stderr, "plan_sizes: %s\n", phaze::to_string(done.error()).c_str());
  return 2;
}
