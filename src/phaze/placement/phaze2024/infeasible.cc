#include "phaze/placement/phaze2024/infeasible.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace phaze::placement::phaze2024 {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;
constexpr double kUnlimited = std::numeric_limits<double>::max();

// The fewest devices of one pipeline whose stages all fit into `memory`, or any number up to `enough`. More replicas
// only need more.
std::int64_t fewest_devices(const StageList& list, std::int64_t width, double memory, std::int64_t enough) {
  std::vector<std::int64_t> fewer(list.states(), kNever), now;
  fewer.back() = 0;
  std::int64_t fewest = kNever;
  bool reached = true;  // the end, from any state, in k stages
  for (std::size_t k = 1; k <= list.most_stages() && reached && fewest > enough; ++k) {
    now.assign(list.states(), kNever);
    reached = false;
    for (std::size_t state = 0; state < list.states(); ++state)
      list.each_entry(state, [&](const StageList::Entry& stage) {
        if (fewer[stage.to] == kNever || !stage.fits(k, memory)) return;
        now[state] = std::min(now[state], fewer[stage.to] + (stage.single ? 1 : width));
        reached = true;
      });
    fewest = std::min(fewest, now.front());
    fewer.swap(now);
  }
  return fewest;
}

// The least memory with which at most `devices` are needed, to the last bit: non-negative doubles are ordered as their
// bit patterns are.
std::optional<double> least_memory(const StageList& list, std::int64_t width, std::int64_t devices) {
  if (fewest_devices(list, width, kUnlimited, devices) > devices) return std::nullopt;
  auto low = std::bit_cast<std::uint64_t>(0.0);
  auto high = std::bit_cast<std::uint64_t>(kUnlimited);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (fewest_devices(list, width, std::bit_cast<double>(middle), devices) <= devices)
      high = middle;
    else
      low = middle + 1;
  }
  return std::bit_cast<double>(low);
}

std::optional<std::int64_t> filled_by(const Instance& instance, const Graph& graph,
                                      const std::vector<std::int64_t>& order, double memory) {
  const double copies = instance.optimizer == Optimizer::kAdam ? 3 : 2;
  for (std::size_t i = 0; i < graph.size(); ++i)
    if (copies * graph.parameters[i] + graph.activations[i] >= memory) return order[i];
  return std::nullopt;
}

}  // namespace

std::optional<Shortage> explain_shortage(const Instance& instance, const std::vector<std::int64_t>& order,
                                         const std::vector<Graph>& graphs, std::size_t stage_limit,
                                         Progress& progress) {
  // The list is gone through once per number of stages and bit of the answer, so it must be shorter than the solver's:
  // about a second of work. Chains of up to 256 layers are all there.
  const std::size_t shorter = std::min(stage_limit, (std::size_t{1} << 23U) / order.size());
  Shortage shortage{.devices_at_least = kNever};
  for (const Graph& graph : graphs) {
    const StageList list(instance, graph, kUnlimited, shorter, progress);
    if (list.stopped()) return std::nullopt;
    shortage.exact = shortage.exact && list.complete();
    shortage.devices_at_least = std::min(shortage.devices_at_least, fewest_devices(list, graph.width, kUnlimited, 1));
    const auto memory = least_memory(list, graph.width, instance.devices);
    if (memory && (!shortage.memory_per_device || *memory < *shortage.memory_per_device)) {
      shortage.memory_per_device = memory;
      shortage.node = filled_by(instance, graph, order, *memory);
    }
    if (const auto devices = fewest_devices(list, graph.width, instance.memory_per_device, 1); devices < kNever)
      shortage.devices = std::min(devices, shortage.devices.value_or(devices));
  }
  return shortage;
}

std::string to_string(const Instance& instance, const Shortage& shortage) {
  const char* least = shortage.exact ? "at least" : "for example";
  const auto gigabytes = [](double bytes) { return fmt::format("{:.6g} GB", bytes / 1e9); };
  std::string text;
  if (shortage.memory_per_device) {
    text = fmt::format("too little memory: {} per device given, {} {} needed on {} devices",
                       gigabytes(instance.memory_per_device), least, gigabytes(*shortage.memory_per_device),
                       instance.devices);
    if (shortage.node) text += fmt::format(", which layer {} takes by itself", *shortage.node);
  } else {
    text = fmt::format("too few devices: {} given, {} {} needed whatever their memory", instance.devices, least,
                       shortage.devices_at_least);
  }
  if (shortage.devices)
    text += fmt::format("; with the memory given, {} {} devices would do", least, *shortage.devices);
  else
    text += "; with the memory given, no number of devices would do";
  return text;
}

}  // namespace phaze::placement::phaze2024
