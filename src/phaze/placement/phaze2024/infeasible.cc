#include "phaze/placement/phaze2024/infeasible.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace phaze::placement::phaze2024 {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 2;

// The fewest devices of one pipeline whose stages all fit into `memory`. More replicas only need more.
std::int64_t fewest_devices(const StageList& list, std::int64_t width, double memory) {
  std::vector<std::int64_t> fewer(list.states(), kNever), now;
  fewer.back() = 0;
  std::int64_t fewest = kNever;
  for (std::size_t k = 1; k <= list.most_stages(); ++k) {
    now.assign(list.states(), kNever);
    for (std::size_t state = 0; state < list.states(); ++state)
      list.each_entry(state, [&](const StageList::Entry& stage) {
        if (fewer[stage.to] < kNever && stage.fits(k, memory))
          now[state] = std::min(now[state], fewer[stage.to] + (stage.single ? 1 : width));
      });
    fewest = std::min(fewest, now.front());
    fewer.swap(now);
  }
  return fewest;
}

// The least memory with which at most `devices` are needed, to the last bit: non-negative doubles are ordered as their
// bit patterns are.
std::optional<double> least_memory(const StageList& list, std::int64_t width, std::int64_t devices) {
  if (fewest_devices(list, width, std::numeric_limits<double>::max()) > devices) return std::nullopt;
  auto low = std::bit_cast<std::uint64_t>(0.0);
  auto high = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::max());
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (fewest_devices(list, width, std::bit_cast<double>(middle)) <= devices)
      high = middle;
    else
      low = middle + 1;
  }
  return std::bit_cast<double>(low);
}

}  // namespace

std::optional<Shortage> explain_shortage(const Instance& instance, const std::vector<Graph>& graphs,
                                         std::size_t stage_limit, Progress& progress) {
  // The list is gone through for every bit of the answer, so it may be shorter than the solver's.
  const std::size_t shorter = std::min(stage_limit, std::size_t{1} << 17U);
  Shortage shortage;
  for (const Graph& graph : graphs) {
    const StageList list(instance, graph, std::numeric_limits<double>::max(), shorter, progress);
    if (list.stopped()) return std::nullopt;
    shortage.exact = shortage.exact && list.complete();
    if (const auto memory = least_memory(list, graph.width, instance.devices))
      shortage.memory_per_device = std::min(*memory, shortage.memory_per_device.value_or(*memory));
    if (const auto devices = fewest_devices(list, graph.width, instance.memory_per_device); devices < kNever)
      shortage.devices = std::min(devices, shortage.devices.value_or(devices));
  }
  return shortage;
}

std::string to_string(const Instance& instance, const Shortage& shortage) {
  const char* least = shortage.exact ? "at least" : "for example";
  const auto gigabytes = [](double bytes) { return fmt::format("{:.6g} GB", bytes / 1e9); };
  if (!shortage.memory_per_device)
    return fmt::format("devices are too few: {} are given and {} {} are needed, whatever their memory",
                       instance.devices, least, shortage.devices.value_or(0));
  std::string text = fmt::format("memory is too small: {} per device are given; {} devices need {} {} each",
                                 gigabytes(instance.memory_per_device), instance.devices, least,
                                 gigabytes(*shortage.memory_per_device));
  if (shortage.devices)
    text += fmt::format("; with the memory given, {} {} devices would do", least, *shortage.devices);
  else
    text += "; no number of devices would do with the memory given";
  return text;
}

}  // namespace phaze::placement::phaze2024
