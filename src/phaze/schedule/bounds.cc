#include "phaze/schedule/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace phaze::schedule {

double between_heads_and_tails(const Block& block, std::span<const double> worth) {
  double best = 0;
  // For each head, operators by falling tail: the sum grows as the tail falls. Selection by repeated scans is quadratic
  // per head; blocks have few distinct heads and tails, and equal ones are skipped.
  for (std::size_t first = 0; first < block.size; ++first) {
    const Ticks head = block.heads[first];
    bool seen = false;
    for (std::size_t i = 0; i < first && !seen; ++i) seen = block.heads[i] == head;
    if (seen) continue;
    Ticks tail = std::numeric_limits<Ticks>::max();
    double sum = 0;
    while (true) {
      Ticks next = -1;
      for (std::size_t i = 0; i < block.size; ++i)
        if (block.heads[i] >= head && block.tails[i] < tail) next = std::max(next, block.tails[i]);
      if (next < 0) break;
      for (std::size_t i = 0; i < block.size; ++i)
        if (block.heads[i] >= head && block.tails[i] == next) sum += worth[i];
      best = std::max(best, static_cast<double>(head) + sum + static_cast<double>(next));
      tail = next;
    }
  }
  return best;
}

Ticks SimpleBounds::compute(const Block& block) {
  size_ = block.size;
  work_.assign(block.size * block.resources, std::numeric_limits<double>::infinity());
  Ticks best = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    best = std::max(best, block.heads[i] + block.fastest[i] + block.tails[i]);
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
      for (std::size_t k = 0; k < block.resources; ++k) {
        const double share = static_cast<double>(block.demand(m)[k]) / static_cast<double>(kCapacityUnits);
        double& least = work_[k * size_ + i];
        least = std::min(least, share * static_cast<double>(block.modes[m].duration));
      }
  }
  for (std::size_t k = 0; k < block.resources; ++k) {
    double total = 0;
    for (const double part : work(k)) total += part;
    // Heads and tails can add at most the longest head and tail; often that cannot matter.
    const Ticks longest = *std::ranges::max_element(block.heads) + *std::ranges::max_element(block.tails);
    if (total + static_cast<double>(longest) <= static_cast<double>(best)) continue;
    best = std::max(best, whole_ticks(between_heads_and_tails(block, work(k))));
  }
  return best;
}

Ticks whole_ticks(double bound) { return static_cast<Ticks>(std::ceil(bound * (1 - 1e-11))); }

}  // namespace phaze::schedule
