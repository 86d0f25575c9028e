#include "phaze/schedule/moment.h"

#include <algorithm>

namespace phaze::schedule {
namespace {

constexpr std::size_t kMostFillings = 64;

}  // namespace

bool MomentFiller::can_fill(const Moment& moment) {
  if (fillings_.empty()) fillings_.emplace_back();
  Filling& nothing = fillings_.front();
  nothing.until = moment.running.front().finish;
  nothing.free.assign(block_->resources, kCapacityUnits);
  nothing.fixed.assign(moment.left.begin(), moment.left.end());
  nothing.rates.assign(worths_->size(), 0);
  for (const Running& runs : moment.running) {
    for (std::size_t k = 0; k < block_->resources; ++k) nothing.free[k] -= block_->demand(runs.mode)[k];
    for (std::size_t v = 0; v < worths_->size(); ++v) {
      const double rate = (*worths_)[v].rates[runs.mode];
      nothing.rates[v] += rate;
      nothing.fixed[v] += rate * static_cast<double>(runs.finish);
    }
  }
  tried_ = 0;
  return can_fill(moment, 0, 0);
}

// From what is at `depth` of fillings_, with free operators from `first` on.
bool MomentFiller::can_fill(const Moment& moment, std::size_t depth, std::size_t first) {
  if (++tried_ > kMostFillings || is_good_enough(fillings_[depth], moment.limit)) return true;
  if (fillings_.size() == depth + 1) fillings_.emplace_back();
  for (std::size_t i = first; i < moment.free.size(); ++i) {
    const std::size_t op = moment.free[i].op;
    for (std::size_t m = block_->mode_offsets[op]; m < block_->mode_offsets[op + 1]; ++m)
      if (add(moment, moment.free[i], m, fillings_[depth], fillings_[depth + 1]) && can_fill(moment, depth + 1, i + 1))
        return true;
  }
  return false;
}

bool MomentFiller::is_good_enough(const Filling& filling, double limit) const {
  const auto until = static_cast<double>(filling.until);
  for (std::size_t v = 0; v < worths_->size(); ++v)
    if ((until + filling.fixed[v] - filling.rates[v] * until) * (1 - 1e-12) >= limit) return false;
  return true;
}

// False if the mode does not fit or makes the schedule too long.
bool MomentFiller::add(const Moment& moment, const Moment::Free& free, std::size_t mode, const Filling& filling,
                       Filling& with) const {
  const Ticks finish = moment.time + block_->modes[mode].duration;
  if (block_->modes[mode].exclusive || static_cast<double>(finish + block_->tails[free.op]) >= moment.limit)
    return false;
  with.free = filling.free;
  for (std::size_t k = 0; k < block_->resources; ++k) {
    with.free[k] -= block_->demand(mode)[k];
    if (with.free[k] < 0) return false;
  }
  with.until = std::min(filling.until, finish);
  with.fixed = filling.fixed;
  with.rates = filling.rates;
  for (std::size_t v = 0; v < worths_->size(); ++v) {
    const SearchWorth& worth = (*worths_)[v];
    with.fixed[v] += worth.rates[mode] * static_cast<double>(finish) -
                     (free.barred ? worth.shareable[free.op] : worth.least[free.op]);
    with.rates[v] += worth.rates[mode];
  }
  return true;
}

}  // namespace phaze::schedule
