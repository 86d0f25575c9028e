#include "phaze/schedule/block.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace phaze::schedule {
namespace {

template <typename Visit>
void for_each_bit(std::span<const std::uint64_t> row, Visit&& visit) {
  for (std::size_t w = 0; w < row.size(); ++w)
    for (std::uint64_t rest = row[w]; rest != 0; rest &= rest - 1)
      visit(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
}

// True when mode `a` of one operator and mode `b` of another exceed a capacity together.
bool collide(const Block& block, std::size_t a, std::size_t b) {
  for (std::size_t k = 0; k < block.resources; ++k)
    if (block.demand(a)[k] + block.demand(b)[k] > kCapacityUnits) return true;
  return false;
}

bool demands_everything(const Block& block, std::size_t mode) {
  for (std::size_t k = 0; k < block.resources; ++k)
    if (block.demand(mode)[k] < kCapacityUnits) return false;
  return block.resources > 0;
}

bool tolerates_nothing(const Block& block, std::size_t op, std::size_t mode) {
  for (std::size_t other = 0; other < block.size; ++other) {
    if (other == op || block.comparable(op, other)) continue;
    for (std::size_t m = block.mode_offsets[other]; m < block.mode_offsets[other + 1]; ++m)
      if (!collide(block, mode, m)) return false;
  }
  return true;
}

// Where a mode tolerates nothing beside it, a faster mode of the same operator fits as well and is better. So a mode is
// worth keeping as an exclusive one only if it is the fastest.
void drop_slow_exclusive_modes(Block& block) {
  std::size_t kept = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::size_t end = block.mode_offsets[i + 1];
    for (std::size_t m = begin; m < end; ++m) {
      if (m > begin && block.modes[m].exclusive) continue;
      block.modes[kept] = block.modes[m];
      std::copy_n(block.demands.begin() + static_cast<std::ptrdiff_t>(m * block.resources), block.resources,
                  block.demands.begin() + static_cast<std::ptrdiff_t>(kept * block.resources));
      ++kept;
    }
    begin = end;
    block.mode_offsets[i + 1] = static_cast<std::uint32_t>(kept);
  }
  block.modes.resize(kept);
  block.demands.resize(kept * block.resources);
}

}  // namespace

void Block::clear() {
  size = 0;
  original.clear();
  mode_offsets.assign(1, 0);
  modes.clear();
  demands.clear();
  before.clear();
  after.clear();
}

void Block::derive() {
  fastest.resize(size);
  heads.assign(size, 0);
  tails.assign(size, 0);
  for (std::size_t i = 0; i < size; ++i) fastest[i] = modes[mode_offsets[i]].duration;
  const std::vector<Ticks> work = least_work(*this);
  std::vector<Ticks> sums(resources);
  // Operators stand in topological order.
  for (std::size_t i = 0; i < size; ++i) {
    std::ranges::fill(sums, 0);
    for_each_bit(before_row(i), [&](std::size_t j) {
      heads[i] = std::max(heads[i], heads[j] + fastest[j]);
      for (std::size_t k = 0; k < resources; ++k) sums[k] += work[j * resources + k];
    });
    for (const Ticks sum : sums) heads[i] = std::max(heads[i], sum);
  }
  for (std::size_t i = size; i-- > 0;) {
    std::ranges::fill(sums, 0);
    for_each_bit(after_row(i), [&](std::size_t j) {
      tails[i] = std::max(tails[i], fastest[j] + tails[j]);
      for (std::size_t k = 0; k < resources; ++k) sums[k] += work[j * resources + k];
    });
    for (const Ticks sum : sums) tails[i] = std::max(tails[i], sum);
  }
  set_paths();
  // The common case in one look: a mode that demands all of everything, where every mode demands something.
  bool all_demand_something = true;
  for (std::size_t m = 0; m < modes.size(); ++m)
    all_demand_something =
        all_demand_something && std::any_of(demand(m), demand(m) + resources, [](Units units) { return units > 0; });
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t m = mode_offsets[i]; m < mode_offsets[i + 1]; ++m)
      modes[m].exclusive = (all_demand_something && demands_everything(*this, m)) || tolerates_nothing(*this, i, m);
  drop_slow_exclusive_modes(*this);
}

void Block::set_paths() {
  paths.assign(size, 0);
  for (std::size_t i = size; i-- > 0;)
    for_each_bit(after_row(i), [&](std::size_t j) { paths[i] = std::max(paths[i], fastest[j] + paths[j]); });
}

std::vector<Ticks> least_work(const Block& block) {
  std::vector<Ticks> work(block.size * block.resources, std::numeric_limits<Ticks>::max());
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m)
      for (std::size_t k = 0; k < block.resources; ++k) {
        const double share = static_cast<double>(block.demand(m)[k]) / static_cast<double>(kCapacityUnits);
        const double ticks = share * static_cast<double>(block.modes[m].duration) * (1 - 1e-12);
        Ticks& least = work[i * block.resources + k];
        least = std::min(least, static_cast<Ticks>(ticks));
      }
  return work;
}

bool restrict_modes(const Block& block, std::span<const std::uint8_t> keep, Block& restricted) {
  restricted.clear();
  restricted.size = block.size;
  restricted.resources = block.resources;
  restricted.words = block.words;
  restricted.original = block.original;
  restricted.before = block.before;
  restricted.after = block.after;
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::size_t first = restricted.modes.size();
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      if (keep[m] == 0) continue;
      restricted.modes.push_back(block.modes[m]);
      restricted.demands.insert(restricted.demands.end(), block.demand(m), block.demand(m) + block.resources);
    }
    if (restricted.modes.size() == first) return false;
    restricted.mode_offsets.push_back(static_cast<std::uint32_t>(restricted.modes.size()));
  }
  restricted.derive();
  return true;
}

void name_modes_of(const Block& block, const Block& restricted, BlockSchedule& schedule) {
  std::vector<std::uint32_t> names(restricted.modes.size());
  for_each_mode_in(block, restricted,
                   [&](std::size_t m, std::size_t in_block) { names[m] = static_cast<std::uint32_t>(in_block); });
  for (BlockPlacement& placement : schedule.ops) placement.mode = names[placement.mode];
}

void reverse(const Block& block, Block& reversed) {
  reversed.clear();
  reversed.size = block.size;
  reversed.resources = block.resources;
  reversed.words = block.words;
  reversed.before.assign(block.before.size(), 0);
  reversed.after.assign(block.after.size(), 0);
  const auto mirrored = [&](std::size_t op) { return block.size - 1 - op; };
  const auto mirror_row = [&](std::span<const std::uint64_t> row, std::uint64_t* to) {
    for_each_bit(row, [&](std::size_t j) { to[mirrored(j) / 64] |= std::uint64_t{1} << (mirrored(j) % 64); });
  };
  for (std::size_t i = 0; i < block.size; ++i) {
    const std::size_t source = mirrored(i);
    reversed.original.push_back(block.original[source]);
    for (std::size_t m = block.mode_offsets[source]; m < block.mode_offsets[source + 1]; ++m) {
      reversed.modes.push_back(block.modes[m]);
      reversed.demands.insert(reversed.demands.end(), block.demand(m), block.demand(m) + block.resources);
    }
    reversed.mode_offsets.push_back(static_cast<std::uint32_t>(reversed.modes.size()));
    mirror_row(block.after_row(source), reversed.before.data() + i * block.words);
    mirror_row(block.before_row(source), reversed.after.data() + i * block.words);
  }
  reversed.fastest.assign(block.fastest.rbegin(), block.fastest.rend());
  reversed.heads.assign(block.tails.rbegin(), block.tails.rend());
  reversed.tails.assign(block.heads.rbegin(), block.heads.rend());
  reversed.set_paths();
}

void mirror(const Block& block, BlockSchedule& schedule) {
  std::ranges::reverse(schedule.ops);
  for (std::size_t i = 0; i < block.size; ++i) {
    BlockPlacement& placement = schedule.ops[i];
    // Modes of one operator keep their order, but the operators before it are others.
    const std::size_t in_reversed = block.modes.size() - block.mode_offsets[i + 1];
    placement.mode = static_cast<std::uint32_t>(placement.mode - in_reversed + block.mode_offsets[i]);
    placement.start = schedule.makespan - placement.start - block.modes[placement.mode].duration;
  }
}

}  // namespace phaze::schedule
