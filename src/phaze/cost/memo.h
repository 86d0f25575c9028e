// A bounded table of answers, shared between threads.
//
// The table is a fixed number of slots in shards with a lock each; a new answer replaces an old one where they collide,
// so memory is bounded whatever is asked.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "phaze/base/digest.h"
#include "phaze/cost/estimate.h"

namespace phaze::cost {

class Memo {
 public:
  // About 64 bytes per entry, of which memory holds the pages that were written to.
  explicit Memo(std::size_t entries = std::size_t{1} << 20);

  std::optional<Estimate> find(const Digest& key) const;
  void store(const Digest& key, const Estimate& estimate);

  struct Statistics {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
  };
  Statistics statistics() const;

 private:
  struct Slot {
    Digest key;
    Estimate estimate;
    bool used = false;
  };
  struct Free {
    void operator()(Slot* slots) const;
  };
  struct Shard {
    mutable std::mutex mutex;
    std::unique_ptr<Slot[], Free> slots;
    mutable Statistics statistics;
  };
  static constexpr std::size_t kShards = 64;

  Shard& shard(const Digest& key) const { return (*shards_)[key.high % kShards]; }

  std::size_t slots_each_;
  std::unique_ptr<std::array<Shard, kShards>> shards_;
};

}  // namespace phaze::cost
