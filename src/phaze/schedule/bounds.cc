#include "phaze/schedule/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {

double between_heads_and_tails(const Block& block, std::span<const double> worth) {
  // For each head, operators by falling tail: the sum grows as the tail falls.
  std::vector<std::uint32_t> by_tail;
  order_by_falling([&](std::uint32_t i) { return block.tails[i]; }, block.size, by_tail);
  std::vector<Ticks> heads = block.heads;
  std::ranges::sort(heads);
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  double best = 0;
  for (const Ticks head : heads) {
    double sum = 0;
    for (const std::uint32_t i : by_tail) {
      if (block.heads[i] < head) continue;
      sum += worth[i];
      best = std::max(best, static_cast<double>(head) + sum + static_cast<double>(block.tails[i]));
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
