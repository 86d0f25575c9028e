// Keys of states, and an index that finds those which are nowhere larger than a given one.
//
// Of the thousands of states with the same operators placed, few can dominate a given one, and a few numbers per state
// tell most pairs apart. The index puts keys that are alike side by side, sixteen at a time, so that one instruction
// compares several, and keeps the least numbers of every sixteen, which are keys again and indexed in the same way: one
// comparison then passes over 256 states.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace phaze::schedule {

// Vectors of four as both compilers know them, which every machine we build for has instructions for.
using Floats [[gnu::vector_size(4 * sizeof(float))]] = float;
using Flags [[gnu::vector_size(4 * sizeof(std::int32_t))]] = std::int32_t;

struct Key {
  // Resources whose use is part of a key, and falling shares of the first, the scarcest: it is what tells most pairs
  // apart.
  static constexpr std::size_t kResources = 2;
  static constexpr std::array kLevels = {0.95, 0.85, 0.75, 0.65, 0.5, 0.35, 0.2, 0.1};
  static constexpr std::size_t kSize = 3 + kResources + kLevels.size();

  // The time; the last finish; the last finish that something unplaced waits for; of every keyed resource the moment at
  // which it would be free, packed densely; and the moments from which no more than each of the levels is held of the
  // first. Rounded, which keeps their order.
  std::array<float, kSize> numbers{};
  std::uint32_t state = 0;

  static constexpr std::size_t kTime = 0, kAwaited = 2, kPacked = 3;
  float packed() const { return numbers[kPacked]; }

  // Without branches in between: nearly every pair differs in something, and there is no telling in what.
  bool nowhere_larger(const Key& other) const {
    Flags larger{};
    for (std::size_t from = 0; from < kSize; from += 4) larger |= four(from) > other.four(from);
    std::array<std::uint64_t, 2> halves;
    std::memcpy(halves.data(), &larger, sizeof larger);
    return (halves[0] | halves[1]) == 0;
  }

 private:
  // The last four overlap with those before.
  Floats four(std::size_t from) const {
    Floats some;
    std::memcpy(&some, numbers.data() + std::min(from, kSize - 4), sizeof some);
    return some;
  }
};

class KeyIndex {
 public:
  // Puts keys that are alike side by side.
  void build(std::span<Key> keys);

  // The key at this place of those given to build() is not found any more.
  void remove(std::size_t place) {
    leaves_[place / kLanes].set(0, place % kLanes, std::numeric_limits<float>::infinity());
  }

  // Whether visit(state) is true for a state whose key is nowhere larger; visits no more of them then.
  template <typename Visit>
  bool any_nowhere_larger(const Key& key, Visit&& visit) const {
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (std::uint32_t groups = nowhere_larger(groups_[g], key); groups != 0; groups &= groups - 1) {
        const std::size_t leaf = g * kLanes + static_cast<std::size_t>(std::countr_zero(groups));
        for (std::uint32_t keys = nowhere_larger(leaves_[leaf], key); keys != 0; keys &= keys - 1)
          if (visit(states_[leaf * kLanes + static_cast<std::size_t>(std::countr_zero(keys))])) return true;
      }
    return false;
  }

 private:
  static constexpr std::size_t kQuads = 4;
  static constexpr std::size_t kLanes = 4 * kQuads;
  struct Lanes {
    std::array<std::array<Floats, kQuads>, Key::kSize> numbers;
    void set(std::size_t number, std::size_t lane, float value) { numbers[number][lane / 4][lane % 4] = value; }
    float get(std::size_t number, std::size_t lane) const { return numbers[number][lane / 4][lane % 4]; }
  };

  // A bit for each of the lanes.
  static std::uint32_t nowhere_larger(const Lanes& lanes, const Key& key) {
    std::array<Flags, kQuads> larger{};
    for (std::size_t k = 0; k < Key::kSize; ++k)
      for (std::size_t q = 0; q < kQuads; ++q) larger[q] |= lanes.numbers[k][q] > key.numbers[k];
    Flags bits{};
    for (std::size_t q = 0; q < kQuads; ++q) bits |= ~larger[q] & (Flags{1, 2, 4, 8} << static_cast<int>(4 * q));
    return static_cast<std::uint32_t>(bits[0] | bits[1] | bits[2] | bits[3]);
  }

  std::vector<Lanes> leaves_, groups_;
  std::vector<std::uint32_t> states_;
};

}  // namespace phaze::schedule
