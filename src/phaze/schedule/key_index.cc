#include "phaze/schedule/key_index.h"

#include <algorithm>

namespace phaze::schedule {
namespace {

// Numbers by which keys are put side by side, the coarsest division first, and the sizes of the parts that the next one
// orders within.
struct Division {
  std::size_t number;
  std::size_t part;
};
constexpr std::array kDivisions = {Division{Key::kPacked, 1024}, Division{Key::kTime, 128},
                                   Division{Key::kAwaited, 16}};

void order(std::span<Key> keys, std::span<const Division> divisions) {
  if (divisions.empty() || keys.size() < 2) return;
  const Division division = divisions.front();
  if (divisions.size() > 1 && keys.size() <= division.part) return order(keys, divisions.subspan(1));
  std::ranges::stable_sort(keys, {}, [&](const Key& key) { return key.numbers[division.number]; });
  for (std::size_t from = 0; from < keys.size(); from += division.part)
    order(keys.subspan(from, std::min(division.part, keys.size() - from)), divisions.subspan(1));
}

}  // namespace

void KeyIndex::build(std::span<Key> keys) {
  order(keys, kDivisions);
  const std::size_t leaves = (keys.size() + kLanes - 1) / kLanes;
  Lanes none;
  for (std::size_t k = 0; k < Key::kSize; ++k)
    for (std::size_t lane = 0; lane < kLanes; ++lane) none.set(k, lane, std::numeric_limits<float>::infinity());
  leaves_.assign(leaves, none);
  groups_.assign((leaves + kLanes - 1) / kLanes, none);
  states_.resize(leaves * kLanes);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::size_t leaf = i / kLanes;
    states_[i] = keys[i].state;
    for (std::size_t k = 0; k < Key::kSize; ++k) {
      const float number = keys[i].numbers[k];
      leaves_[leaf].set(k, i % kLanes, number);
      Lanes& group = groups_[leaf / kLanes];
      group.set(k, leaf % kLanes, std::min(number, group.get(k, leaf % kLanes)));
    }
  }
}

}  // namespace phaze::schedule
