#include <algorithm>
#include <limits>

#include "phaze/cost/sunstone.h"
#include "phaze/hardware/sram.h"

namespace phaze::cost {
namespace {

constexpr std::size_t kN = 0;
constexpr std::size_t kC = 1;
constexpr std::size_t kK = 2;
constexpr std::array<double, 3> kWordsPerCycle = {64, 256, 128};  // core buffers, global buffer, DRAM

}  // namespace

SunstoneMapping SunstoneMapper::least_mapping(const SunstoneCore& core) {
  SunstoneMapping mapping;
  mapping.cycles = least_cycles(core);
  if (mapping.cycles == std::numeric_limits<double>::infinity()) return mapping;
  const double limit = mapping.cycles * (1 + 1e-12);

  // Words over a boundary between an inner and an outer tile; the stationary tensor is re-used over the outer one.
  struct Moved {
    double reads = 0, writes = 0;
  };
  const auto moved = [&](const auto& inner, const auto& outer, std::size_t stationary) {
    std::array<double, kDims> words{};
    for (std::size_t d = 0; d < kDims; ++d) words[d] = macs_ / (d == stationary ? outer(d) : inner(d));
    return Moved{words[kN] + words[kC] + words[kK] - outputs_, words[kC]};
  };
  const auto extent = [&](Point point) { return [this, point](std::size_t d) { return size(point, d); }; };
  const auto whole = [&](std::size_t d) { return static_cast<double>(whole_[d]); };
  // The first stationary tensor with which a boundary keeps the limit, or kDims.
  const auto stays = [&](const auto& inner, const auto& outer, std::size_t level) {
    for (std::size_t s = 0; s < kDims; ++s) {
      const Moved words = moved(inner, outer, s);
      if (std::max(words.reads, words.writes) / kWordsPerCycle[level] <= limit) return s;
    }
    return kDims;
  };
  const auto pair_sums = [&](Point p) {
    return size(p, kN) * size(p, kC) + size(p, kC) * size(p, kK) + size(p, kN) * size(p, kK);
  };
  const auto divides = [&](Point small, Point large) {
    for (std::size_t d = 0; d < kDims; ++d)
      if (static_cast<std::int64_t>(size(large, d)) % static_cast<std::int64_t>(size(small, d)) != 0) return false;
    return true;
  };

  // The widest array spread behind each inside tile.
  constexpr double kRegisterWords = 32;
  std::vector<Point> widest(points(), 0);
  std::vector<bool> reachable(points(), false);
  for (const Point a : spreads(core.rows, core.cols))
    for (Point p = 0; p < points(); ++p) {
      if (pair_sums(p) > kRegisterWords) continue;
      const Point u = times(a, p);
      if (u >= points()) continue;
      if (!reachable[u] || volume(a) > volume(widest[u])) widest[u] = a;
      reachable[u] = true;
    }
  std::vector<Point> global;
  for (Point g = 0; g < points(); ++g)
    if (pair_sums(g) <= static_cast<double>(core.global_buffer_words) && stays(extent(g), whole, 2) < kDims)
      global.push_back(g);

  const double buffer = static_cast<double>(std::max<std::int64_t>(1024, 16 * core.rows * core.cols));
  for (Point q = 0; q < points(); ++q) {
    const double n = size(q, kN), c = size(q, kC), k = size(q, kK);
    if (n * c > buffer || c * k > buffer || n * k > buffer) continue;
    Point inside = static_cast<Point>(points());
    for (Point u = 0; u < points(); ++u)
      if (reachable[u] && divides(u, q) && (inside == points() || volume(widest[u]) > volume(widest[inside])) &&
          stays(extent(u), extent(q), 0) < kDims)
        inside = u;
    if (inside == points()) continue;
    for (const Point b : core_spreads(core.cores)) {
      const double parallel = volume(widest[inside]) * volume(b);
      const Point v = times(q, b);
      if (v >= points() || macs_ / parallel > limit) continue;
      for (const Point g : global) {
        if (!divides(v, g) || stays(extent(v), extent(g), 1) == kDims) continue;
        const auto triple = [&](Point p) {
          return SunstoneMapping::Extents{static_cast<std::int64_t>(size(p, 0)), static_cast<std::int64_t>(size(p, 1)),
                                          static_cast<std::int64_t>(size(p, 2))};
        };
        mapping.feasible = true;
        mapping.array = triple(widest[inside]);
        mapping.inside = triple(inside);
        mapping.core = triple(q);
        mapping.cores = triple(b);
        mapping.global = triple(g);
        mapping.stationary = {stays(extent(inside), extent(q), 0), stays(extent(v), extent(g), 1),
                              stays(extent(g), whole, 2)};
        const std::array<Moved, 3> words = {moved(extent(inside), extent(q), mapping.stationary[0]),
                                            moved(extent(v), extent(g), mapping.stationary[1]),
                                            moved(extent(g), whole, mapping.stationary[2])};
        constexpr std::array<Bound, 3> kBounds = {Bound::kCoreBuffer, Bound::kGlobalBuffer, Bound::kHbm};
        double longest = macs_ / parallel;
        mapping.bound_by = Bound::kCompute;
        for (std::size_t l = 0; l < 3; ++l) {
          mapping.reads[l] = words[l].reads;
          mapping.writes[l] = words[l].writes;
          const double cycles = std::max(words[l].reads, words[l].writes) / kWordsPerCycle[l];
          if (cycles <= longest) continue;
          longest = cycles;
          mapping.bound_by = kBounds[l];
        }
        return mapping;
      }
    }
  }
  return mapping;
}

std::string describe(const SunstoneMapping& mapping) {
  const auto text = [](const SunstoneMapping::Extents& extents) {
    return std::to_string(extents[0]) + "x" + std::to_string(extents[1]) + "x" + std::to_string(extents[2]);
  };
  // The tensor re-used along N is the weights, along C the outputs, along K the inputs.
  constexpr std::array<const char*, 3> kTensors = {"weights", "outputs", "inputs"};
  return "array " + text(mapping.array) + " (N x C x K); array and registers " + text(mapping.inside) +
         "; core buffer " + text(mapping.core) + ", " + kTensors[mapping.stationary[0]] + " stay; cores " +
         text(mapping.cores) + "; global buffer " + text(mapping.global) + ", " + kTensors[mapping.stationary[1]] +
         " stay; DRAM, " + kTensors[mapping.stationary[2]] + " stay";
}

double sunstone_joules(const SunstoneMapping& mapping, double macs, const hardware::Chip& chip) {
  constexpr double kMac = 0.93807;
  constexpr double kRegisterRead = 0.222334;
  constexpr double kRegisterWrite = 0.296446;
  constexpr double kDramBit = 8;
  // An SRAM word of 64 bits holds four.
  const auto sram = [](Bytes capacity, double reads, double writes) {
    const hardware::Sram memory = hardware::sram_22nm(capacity);
    return (reads * (0.5 * memory.read_pj + 1.586294) + writes * (0.5 * memory.write_pj + 2)) / 4;
  };
  const double picojoules = macs * (kMac + 2 * kRegisterRead + kRegisterWrite) +
                            sram(chip.tensor_core_buffer(), mapping.reads[0], mapping.writes[0]) +
                            sram(chip.global_buffer, mapping.reads[1], mapping.writes[1]) +
                            16 * kDramBit * (mapping.reads[2] + mapping.writes[2]);
  return picojoules * 1e-12;
}

}  // namespace phaze::cost
