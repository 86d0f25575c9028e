// Mixing of 64-bit words into one, for content hashes of graphs. Not cryptographic.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace phaze {

// Finaliser of splitmix64 (Steele, Lea and Flood 2014): every input bit reaches every output bit.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

constexpr std::uint64_t hash_words(std::uint64_t seed, std::initializer_list<std::uint64_t> words) {
  for (const std::uint64_t word : words) seed = mix(seed ^ mix(word));
  return seed;
}

}  // namespace phaze
