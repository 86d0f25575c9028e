// schedule_hard gap [SECONDS]: exact against ILP on random orders of 40 and 100 operators, as a markdown table.
// schedule_hard agree [COUNT]: both engines on COUNT random instances of up to 14 operators; fails if they disagree.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "phaze/schedule/solve.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

using testing::Model;

const char* name_of(Model model) {
  return model == Model::kPhaze ? "phaze" : model == Model::kMoldable ? "moldable" : "anything";
}

double percent_above(double value, double bound) { return 100 * (value / bound - 1); }

int compare_gaps(double seconds) {
  std::printf("| model | operators | branches | exact: above its bound | ILP: above its bound | ILP above exact |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (const Model model : {Model::kPhaze, Model::kMoldable})
    for (const std::size_t ops : {40, 100})
      for (const std::size_t width : {3, 4, 5, 6}) {
        constexpr std::uint64_t kSeeds = 5;
        double exact_gap = 0, ilp_gap = 0, behind = 0;
        int proven = 0, ilp_proven = 0;
        for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
          const Instance instance = testing::random_branches(model, ops, width, 100 * ops + 10 * width + seed);
          Stop stop({.seconds = seconds}), other({.seconds = seconds});
          const Solution exact = solve(instance, {}, stop);
          const Solution ilp = solve(instance, {.engine = Engine::kIlp}, other);
          exact_gap += percent_above(exact.schedule.makespan, exact.lower_bound) / kSeeds;
          ilp_gap += percent_above(ilp.schedule.makespan, ilp.lower_bound) / kSeeds;
          behind += percent_above(ilp.schedule.makespan, exact.schedule.makespan) / kSeeds;
          proven += exact.proof == Proof::kOptimal ? 1 : 0;
          ilp_proven += ilp.proof == Proof::kOptimal ? 1 : 0;
        }
        std::printf("| %s | %zu | %zu | %.2f %% (%d of %d proven) | %.2f %% (%d of %d) | %.2f %% |\n", name_of(model),
                    ops, width, exact_gap, proven, static_cast<int>(kSeeds), ilp_gap, ilp_proven,
                    static_cast<int>(kSeeds), behind);
        std::fflush(stdout);
      }
  return 0;
}

int compare_answers(std::uint64_t count) {
  constexpr std::array kModels = {Model::kPhaze, Model::kMoldable, Model::kAnything};
  std::array<double, 3> seconds{}, slowest{};
  std::array<int, 3> instances{}, unproven{};
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    const std::size_t which = seed % 3;
    const Instance instance = testing::random_instance(kModels[which], 2 + seed / 3 % 13, 1'000'000 + seed);
    Stop stop;
    const double optimum = solve(instance, {}, stop).schedule.makespan;
    const auto start = std::chrono::steady_clock::now();
    Stop other({.seconds = 20});
    const Solution ilp = solve(instance, {.engine = Engine::kIlp, .ilp = {.antichain_cut = false}}, other);
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    seconds[which] += took;
    slowest[which] = std::max(slowest[which], took);
    ++instances[which];
    const bool proven = ilp.proof == Proof::kOptimal;
    if (!proven) ++unproven[which];
    // An ILP that ran out of time must still enclose the optimum.
    const bool agree = proven
                           ? std::abs(ilp.schedule.makespan - optimum) <= 1e-6 * optimum
                           : ilp.lower_bound <= optimum * (1 + 1e-6) && ilp.schedule.makespan >= optimum * (1 - 1e-6);
    if (agree) continue;
    std::printf("seed %llu: exact %.12g, ILP %.12g (bound %.12g)\n", static_cast<unsigned long long>(seed), optimum,
                ilp.schedule.makespan, ilp.lower_bound);
    return 1;
  }
  std::printf("| model | instances | ILP out of time | ILP mean | ILP slowest |\n|---|---|---|---|---|\n");
  for (std::size_t m = 0; m < 3; ++m)
    std::printf("| %s | %d | %d | %.3f s | %.1f s |\n", name_of(kModels[m]), instances[m], unproven[m],
                seconds[m] / std::max(1, instances[m]), slowest[m]);
  return 0;
}

}  // namespace
}  // namespace phaze::schedule

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "gap") return phaze::schedule::compare_gaps(argc > 2 ? std::atof(argv[2]) : 1);
  if (what == "agree") return phaze::schedule::compare_answers(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500);
  std::fprintf(stderr, "usage: schedule_hard gap [SECONDS] | agree [COUNT]\n");
  return 2;
}
