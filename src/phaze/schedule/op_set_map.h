// Values by sets of operators.
//
// Searches over sets look up and add so many of them that a table without nodes, which is emptied without being given
// back, is worth its few lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phaze/schedule/op_set.h"

namespace phaze::schedule {

template <std::size_t Words, typename Value>
class OpSetMap {
 public:
  void clear() {
    entries_.clear();
    slots_.assign(kFirstSlots, 0);
  }

  // Null if the set is not there. A value stays where it is until another set is added.
  Value* find(const OpSet<Words>& set) {
    const std::uint32_t at = slots_[slot_of(set)];
    return at == 0 ? nullptr : &entries_[at - 1].value;
  }

  // The value of the set, this one if it had none.
  Value& emplace(const OpSet<Words>& set, const Value& value) {
    std::size_t slot = slot_of(set);
    if (slots_[slot] != 0) return entries_[slots_[slot] - 1].value;
    if ((entries_.size() + 1) * 2 > slots_.size()) {
      grow();
      slot = slot_of(set);
    }
    entries_.push_back({set, value});
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
    return entries_.back().value;
  }

 private:
  static constexpr std::size_t kFirstSlots = 64;
  struct Entry {
    OpSet<Words> set;
    Value value;
  };

  // Where the set is, or would be.
  std::size_t slot_of(const OpSet<Words>& set) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = set.hash() & mask;
    while (slots_[slot] != 0 && !(entries_[slots_[slot] - 1].set == set)) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    slots_.assign(slots_.size() * 2, 0);
    for (std::size_t i = 0; i < entries_.size(); ++i)
      slots_[slot_of(entries_[i].set)] = static_cast<std::uint32_t>(i + 1);
  }

  std::vector<Entry> entries_;
  std::vector<std::uint32_t> slots_ = std::vector<std::uint32_t>(kFirstSlots, 0);  // an entry, plus one; 0: none
};

}  // namespace phaze::schedule
