// Sets of operators of one block, as bits. The width is a template parameter, because nearly all blocks fit one word.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "phaze/base/hash.h"

namespace phaze::schedule {

template <std::size_t Words>
struct OpSet {
  std::array<std::uint64_t, Words> words{};

  bool contains(std::size_t i) const { return ((words[i / 64] >> (i % 64)) & 1U) != 0; }
  void insert(std::size_t i) { words[i / 64] |= std::uint64_t{1} << (i % 64); }
  void erase(std::size_t i) { words[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  bool empty() const {
    for (const std::uint64_t word : words)
      if (word != 0) return false;
    return true;
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }
  // The highest member; there must be one.
  std::size_t last() const {
    std::size_t w = Words - 1;
    while (words[w] == 0) --w;
    return w * 64 + 63 - static_cast<std::size_t>(std::countl_zero(words[w]));
  }
  // The members below this one.
  OpSet below(std::size_t i) const {
    OpSet low = *this;
    for (std::size_t w = i / 64 + 1; w < Words; ++w) low.words[w] = 0;
    low.words[i / 64] &= (std::uint64_t{1} << (i % 64)) - 1;
    return low;
  }
  bool subset_of(const OpSet& other) const {
    for (std::size_t w = 0; w < Words; ++w)
      if ((words[w] & ~other.words[w]) != 0) return false;
    return true;
  }
  friend OpSet operator&(OpSet a, const OpSet& b) {
    for (std::size_t w = 0; w < Words; ++w) a.words[w] &= b.words[w];
    return a;
  }
  friend OpSet operator|(OpSet a, const OpSet& b) {
    for (std::size_t w = 0; w < Words; ++w) a.words[w] |= b.words[w];
    return a;
  }
  friend OpSet operator-(OpSet a, const OpSet& b) {
    for (std::size_t w = 0; w < Words; ++w) a.words[w] &= ~b.words[w];
    return a;
  }
  // Not the default one, which calls a function of the C library for a word or two.
  bool operator==(const OpSet& other) const {
    std::uint64_t different = 0;
    for (std::size_t w = 0; w < Words; ++w) different |= words[w] ^ other.words[w];
    return different == 0;
  }

  std::uint64_t hash() const {
    std::uint64_t value = 0;
    for (const std::uint64_t word : words) value = mix(value ^ word);
    return value;
  }

  // Whether is(i) holds for some member; asks in ascending order, and no further than it must.
  template <typename Is>
  bool any_of(Is&& is) const {
    for (std::size_t w = 0; w < Words; ++w)
      for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1)
        if (is(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)))) return true;
    return false;
  }

  // Calls visit(i) for the members in ascending order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < Words; ++w)
      for (std::uint64_t rest = words[w]; rest != 0; rest &= rest - 1)
        visit(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
  }
};

}  // namespace phaze::schedule
