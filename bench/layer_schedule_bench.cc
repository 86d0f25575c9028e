// How long the layers of the zoo take to schedule on chips of the 2024 space, with real costs, under both models.
//
// Every layer of every zoo model, widths 1, 2, 4 and 8 where they divide the heads, forward and backward, on 50 chips
// spread over the space. Costs come from a memo filled before the clock starts, so the times are the scheduler's alone;
// they are processor time, so that other work on the machine does not count.
// Prints a table: `layer_schedule_bench [CHIPS [STATES [all|phaze [GAP]]]]`; with `phaze`, of that model alone; with a
// gap, like 0.001, schedules that are shorter by no more than that share are not looked for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include "phaze/base/progress.h"
#include "phaze/hardware/cluster.h"
#include "phaze/hardware/design_space.h"
#include "phaze/layer_schedule/layer_scheduler.h"
#include "phaze/workload/load.h"
#include "phaze/workload/zoo/zoo.h"

namespace phaze::layer_schedule {
namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<workload::LayerGraph> models() {
  std::vector<workload::LayerGraph> graphs;
  NoProgress quiet;
  for (const std::string& name : workload::zoo_names())
    for (const std::int64_t width : {1, 2, 4, 8})
      if (auto graph = workload::load_model(name, {.parallel = {.width = width}, .fuse = true}, quiet))
        graphs.push_back(std::move(*graph));
  return graphs;
}

std::vector<hardware::Chip> chips(std::size_t wanted) {
  const hardware::DesignSpace space = hardware::phaze_space();
  const auto step = static_cast<std::size_t>(space.count_kept()) / wanted;
  std::vector<hardware::Chip> list;
  std::size_t index = 0;
  space.for_each_kept([&](const hardware::Chip& chip) {
    if (index++ % step == step / 2 && list.size() < wanted) list.push_back(chip);
    return true;
  });
  return list;
}

struct Tally {
  std::vector<double> seconds;
  std::size_t unproven = 0;
  std::size_t wide_gap = 0;  // of more than 0.1 %
  double worst_gap = 0;
  double makespans = 0;
};

void print(const char* name, Tally& tally) {
  std::ranges::sort(tally.seconds);
  double sum = 0;
  for (const double one : tally.seconds) sum += one;
  const auto at = [&](double share) {
    return tally.seconds[static_cast<std::size_t>(share * static_cast<double>(tally.seconds.size() - 1))] * 1e6;
  };
  const auto slow = std::ranges::count_if(tally.seconds, [](double one) { return one > 10e-3; });
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.0f} | {:.0f} | {:.4f} % | {} | {} | {:.2f} % |\n", name,
             tally.seconds.size(), sum / static_cast<double>(tally.seconds.size()) * 1e6, at(0.5), at(0.999), at(1.0),
             100.0 * static_cast<double>(slow) / static_cast<double>(tally.seconds.size()), tally.unproven,
             tally.wide_gap, 100 * tally.worst_gap);
}

enum class Models : std::uint8_t { kAll, kPhaze };

void run(std::size_t wanted, std::uint64_t states, Models which, double asked_gap) {
  const auto graphs = models();
  cost::Memo memo(std::size_t{1} << 22);
  const hardware::Network network = *hardware::load_network("8x300GB/s@2us,25GB/s@5us");
  const auto scheduler_of = [&](const InstanceOptions& options) {
    return LayerScheduler(options, states, schedule::Engine::kExact, nullptr, asked_gap);
  };
  LayerScheduler phaze = scheduler_of({.model = ScheduleModel::kPhaze});
  LayerScheduler moldable = scheduler_of({.model = ScheduleModel::kMoldable});
  LayerScheduler unshared = scheduler_of({.model = ScheduleModel::kMoldable, .share_hbm = false});
  Tally of_phaze, of_moldable, of_unshared;
  double log_ratio = 0;
  std::size_t longer = 0;
  const auto measure = [&](LayerScheduler& scheduler, const workload::OpGraph& graph, const cost::OperatorCosts& costs,
                           Tally& tally) {
    // Fills the memo, then the clock runs over the schedule alone.
    schedule::Instance warm;
    fill_instance(graph, costs, {}, warm);
    const double start = processor_seconds();
    const LayerTime time = scheduler.time(graph, costs);
    tally.seconds.push_back(processor_seconds() - start);
    const double gap = 1 - time.lower_bound / std::max(time.seconds, 1e-30);
    tally.unproven += time.proven || gap <= asked_gap ? 0 : 1;
    tally.wide_gap += gap > 1e-3 ? 1 : 0;
    tally.worst_gap = std::max(tally.worst_gap, gap);
    return time.seconds;
  };
  for (const hardware::Chip& chip : chips(wanted)) {
    const cost::OperatorCosts costs({.chip = chip, .network = network}, &memo);
    for (const workload::LayerGraph& graph : graphs)
      for (const workload::Layer& layer : graph.layers)
        for (const workload::OpGraph* pass : {&layer.forward, &layer.backward}) {
          if (pass->empty()) continue;
          const double narrow = measure(phaze, *pass, costs, of_phaze);
          if (which == Models::kPhaze) continue;
          measure(moldable, *pass, costs, of_moldable);
          const double wide = measure(unshared, *pass, costs, of_unshared);
          if (narrow <= 0) continue;
          log_ratio += std::log(wide / narrow);
          longer += wide > narrow * (1 + 1e-9) ? 1 : 0;
        }
  }
  fmt::print(
      "| model | layers | mean, us | median | 99.9 % | worst | over 10 ms | unproven | gap over 0.1 % | worst gap |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  print("phaze", of_phaze);
  if (which == Models::kPhaze) return;
  print("moldable", of_moldable);
  print("moldable, bandwidth not shared", of_unshared);
  const auto count = static_cast<double>(of_phaze.seconds.size());
  fmt::print(
      "\nWithout shared bandwidth, moldable schedules take {:.1f} % of the time of phaze schedules on average "
      "(geometric mean); {} of {} are longer.\n",
      100 * std::exp(log_ratio / count), longer, of_phaze.seconds.size());
}

}  // namespace
}  // namespace phaze::layer_schedule

int main(int argc, char** argv) {
  using phaze::layer_schedule::Models;
  const std::string_view which = argc > 3 ? argv[3] : "all";
  if (argc > 5 || (which != "all" && which != "phaze")) {
    fmt::print(stderr, "usage: layer_schedule_bench [CHIPS [STATES [all|phaze [GAP]]]]\n");
    return 2;
  }
  phaze::layer_schedule::run(
      argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 50, argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 500,
      which == "phaze" ? Models::kPhaze : Models::kAll, argc > 4 ? std::strtod(argv[4], nullptr) : 0);
}
