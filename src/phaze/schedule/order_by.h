// Numbers in the order of a key, those with the same key as they are.
//
// What a stable sort of 0, 1, 2, … says, which asks for memory every time: more than most of these orders take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace phaze::schedule {

// The numbers below `count`, by rising key(number).
template <typename Key>
void order_by_rising(Key&& key, std::size_t count, std::vector<std::uint32_t>& numbers) {
  numbers.resize(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  std::ranges::sort(numbers, [&](std::uint32_t a, std::uint32_t b) {
    const auto x = key(a), y = key(b);
    return x != y ? x < y : a < b;
  });
}

template <typename Key>
void order_by_falling(Key&& key, std::size_t count, std::vector<std::uint32_t>& numbers) {
  order_by_rising([&](std::uint32_t i) { return -key(i); }, count, numbers);
}

}  // namespace phaze::schedule
