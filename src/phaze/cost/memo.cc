#include "phaze/cost/memo.h"

#include <algorithm>
#include <bit>

namespace phaze::cost {

void Digest::add(double value) { add(std::bit_cast<std::uint64_t>(value)); }

Memo::Memo(std::size_t entries) : shards_(std::make_unique<std::array<Shard, kShards>>()) {
  const std::size_t each = std::max<std::size_t>(1, entries / kShards);
  for (Shard& shard : *shards_) shard.slots.resize(each);
}

std::optional<Estimate> Memo::find(const Digest& key) const {
  const Shard& home = shard(key);
  const std::scoped_lock lock(home.mutex);
  const Slot& slot = home.slots[key.low % home.slots.size()];
  if (slot.used && slot.key == key) {
    ++home.statistics.hits;
    return slot.estimate;
  }
  ++home.statistics.misses;
  return std::nullopt;
}

void Memo::store(const Digest& key, const Estimate& estimate) {
  Shard& home = shard(key);
  const std::scoped_lock lock(home.mutex);
  home.slots[key.low % home.slots.size()] = {key, estimate, true};
}

Memo::Statistics Memo::statistics() const {
  Statistics sum;
  for (const Shard& shard : *shards_) {
    const std::scoped_lock lock(shard.mutex);
    sum.hits += shard.statistics.hits;
    sum.misses += shard.statistics.misses;
  }
  return sum;
}

}  // namespace phaze::cost
