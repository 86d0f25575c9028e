// A 128-bit digest of everything an answer depends on, as a key for a memo. Not cryptographic: two questions meet by
// accident with a probability of about n²/2^129, below 1e-24 for ten million of them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "phaze/base/hash.h"

namespace phaze {

struct Digest {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const Digest&) const = default;

  void add(std::uint64_t word) {
    low = mix(low ^ word);
    high = mix(high + word * 0xff51afd7ed558ccdULL);
  }
  void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }

  // For unordered containers.
  struct Hash {
    std::size_t operator()(const Digest& digest) const { return static_cast<std::size_t>(digest.low); }
  };
};

}  // namespace phaze
