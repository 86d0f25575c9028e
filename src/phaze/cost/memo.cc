#include "phaze/cost/memo.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <type_traits>

namespace phaze::cost {

void Memo::Free::operator()(Slot* slots) const { std::free(slots); }

// A search may ask millions of questions or a dozen. The operating system hands out zeroed pages when they are first
// written to, and zero bytes are an unused slot: a small search neither waits for a large table nor holds it.
Memo::Memo(std::size_t entries)
    : slots_each_(std::max<std::size_t>(1, entries / kShards)),
      shards_(std::make_unique<std::array<Shard, kShards>>()) {
  static_assert(std::is_trivially_copyable_v<Slot> && std::is_trivially_destructible_v<Slot>);
  for (Shard& shard : *shards_) {
    shard.slots.reset(static_cast<Slot*>(std::calloc(slots_each_, sizeof(Slot))));
    if (shard.slots == nullptr) throw std::bad_alloc();
  }
}

std::optional<Estimate> Memo::find(const Digest& key) const {
  const Shard& home = shard(key);
  const std::scoped_lock lock(home.mutex);
  const Slot& slot = home.slots[key.low % slots_each_];
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
  home.slots[key.low % slots_each_] = {key, estimate, true};
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
