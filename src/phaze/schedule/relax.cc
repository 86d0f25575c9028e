#include "phaze/schedule/relax.h"

#include <algorithm>

namespace phaze::schedule {
namespace {

// No slower, and demands no more of anything but `resource`.
bool as_good(const Block& block, std::size_t resource, std::size_t a, std::size_t b) {
  if (block.modes[a].duration > block.modes[b].duration) return false;
  for (std::size_t k = 0; k < block.resources; ++k)
    if (k != resource && block.demand(a)[k] > block.demand(b)[k]) return false;
  return true;
}

// Whether a mode is of no use without `resource`: another is as good, and better or the first of equals.
bool is_spare(const Block& block, std::size_t resource, std::size_t op, std::size_t mode) {
  for (std::size_t other = block.mode_offsets[op]; other < block.mode_offsets[op + 1]; ++other)
    if (other != mode && as_good(block, resource, other, mode) &&
        (other < mode || !as_good(block, resource, mode, other)))
      return true;
  return false;
}

}  // namespace

std::optional<std::size_t> least_in_demand(const Block& block) {
  const std::vector<Ticks> work = least_work(block);
  std::optional<std::size_t> least;
  Ticks least_sum = 0;
  std::size_t demanded = 0;
  for (std::size_t k = 0; k < block.resources; ++k) {
    Ticks sum = 0;
    for (std::size_t i = 0; i < block.size; ++i) sum += work[i * block.resources + k];
    if (sum == 0) continue;
    ++demanded;
    if (least && sum >= least_sum) continue;
    least_sum = sum;
    least = k;
  }
  if (demanded < 2) return std::nullopt;
  for (std::size_t m = 0; m < block.modes.size(); ++m) {
    bool other = false;
    for (std::size_t k = 0; k < block.resources; ++k) other = other || (k != *least && block.demand(m)[k] > 0);
    if (!other) return std::nullopt;
  }
  return least;
}

void leave_out(const Block& block, std::size_t resource, Relaxed& relaxed) {
  Block& without = relaxed.block;
  without.clear();
  without.size = block.size;
  without.resources = block.resources - 1;
  without.words = block.words;
  without.original = block.original;
  without.before = block.before;
  without.after = block.after;
  relaxed.modes.clear();
  for (std::size_t i = 0; i < block.size; ++i) {
    for (std::uint32_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      if (is_spare(block, resource, i, m)) continue;
      without.modes.push_back(block.modes[m]);
      without.modes.back().original = m;
      for (std::size_t k = 0; k < block.resources; ++k)
        if (k != resource) without.demands.push_back(block.demand(m)[k]);
    }
    without.mode_offsets.push_back(static_cast<std::uint32_t>(without.modes.size()));
  }
  without.derive();
  for (BlockMode& mode : without.modes) {
    relaxed.modes.push_back(mode.original);
    mode.original = block.modes[mode.original].original;
  }
}

bool keeps_within(const Block& block, std::size_t resource, const BlockSchedule& schedule) {
  // What is held rises at starts only.
  for (const BlockPlacement& at : schedule.ops) {
    Units held = 0;
    for (const BlockPlacement& other : schedule.ops)
      if (other.start <= at.start && at.start < other.start + block.modes[other.mode].duration)
        held += block.demand(other.mode)[resource];
    if (held > kCapacityUnits) return false;
  }
  return true;
}

Digest digest(const Block& block) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(block.size));
  digest.add(static_cast<std::uint64_t>(block.resources));
  for (const std::uint64_t word : block.before) digest.add(word);
  for (std::size_t i = 0; i < block.size; ++i)
    digest.add(static_cast<std::uint64_t>(block.mode_offsets[i + 1] - block.mode_offsets[i]));
  for (const BlockMode& mode : block.modes) digest.add(mode.duration);
  for (const Units units : block.demands) digest.add(units);
  return digest;
}

}  // namespace phaze::schedule
