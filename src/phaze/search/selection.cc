#include "phaze/search/selection.h"

#include <algorithm>

namespace phaze::search {
namespace {

bool in_front(const Ranked& a, const Ranked& b) { return a.score != b.score ? a.score > b.score : a.chip < b.chip; }

}  // namespace

Selection Selection::best(std::size_t keep) {
  Selection selection;
  selection.keep_ = std::max<std::size_t>(1, keep);
  return selection;
}

Selection Selection::front(const std::vector<Size>& sizes) {
  Selection selection;
  selection.sizes_ = &sizes;
  return selection;
}

bool Selection::dominates(const Ranked& a, const Ranked& b) const {
  const Size& one = (*sizes_)[a.chip];
  const Size& other = (*sizes_)[b.chip];
  if (a.score < b.score || one.area > other.area || one.power > other.power) return false;
  return a.score > b.score || one.area < other.area || one.power < other.power || a.chip < b.chip;
}

void Selection::insert(const Ranked& chip) {
  std::erase_if(chosen_, [&](const Ranked& other) { return other.chip == chip.chip; });
  if (excludes(chip)) return;
  if (sizes_ != nullptr) std::erase_if(chosen_, [&](const Ranked& other) { return dominates(chip, other); });
  chosen_.insert(std::ranges::lower_bound(chosen_, chip, in_front), chip);
  if (sizes_ == nullptr && chosen_.size() > keep_) chosen_.pop_back();
}

bool Selection::contains(const Ranked& chip) const {
  const auto place = std::ranges::lower_bound(chosen_, chip, in_front);
  return place != chosen_.end() && *place == chip;
}

bool Selection::excludes(const Ranked& chip) const {
  if (sizes_ == nullptr) return chosen_.size() >= keep_ && in_front(chosen_.back(), chip);
  return std::ranges::any_of(chosen_, [&](const Ranked& other) { return dominates(other, chip); });
}

double Selection::least_useful(std::size_t chip) const {
  if (sizes_ == nullptr) return chosen_.size() < keep_ ? 0 : chosen_.back().score;
  // The best score comes first.
  const Size& size = (*sizes_)[chip];
  const auto smaller = std::ranges::find_if(chosen_, [&](const Ranked& other) {
    return (*sizes_)[other.chip].area <= size.area && (*sizes_)[other.chip].power <= size.power;
  });
  return smaller == chosen_.end() ? 0 : smaller->score;
}

}  // namespace phaze::search
