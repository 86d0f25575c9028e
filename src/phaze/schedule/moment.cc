#include "phaze/schedule/moment.h"

namespace phaze::schedule {

void MomentFiller::begin(const Moment& moment) {
  const std::size_t resources = demands_.resources, worths = worths_.size(), most = block_->size + 1;
  looked_at_ = 0;
  free_.resize(most * resources);
  rates_.resize(most * worths);
  bounds_.resize(most * worths);
  std::fill_n(free_.begin(), resources, kCapacityUnits);
  std::fill_n(rates_.begin(), worths, 0.0);
  fixed_.assign(moment.left.begin(), moment.left.end());
  for (const Running& runs : moment.running) {
    for (std::size_t k = 0; k < resources; ++k) free_[k] -= demand(runs.mode)[k];
    for (std::size_t v = 0; v < worths; ++v) {
      const double rate = worths_[v].rates[runs.mode];
      rates_[v] += rate;
      fixed_[v] += rate * static_cast<double>(runs.finish);
    }
  }
  const std::size_t starts = moment.starts.size();
  finishes_.resize(starts);
  earns_.resize(starts * worths);
  worth_.resize(starts * worths);
  changes_.resize(starts * worths);
  still_off_.resize((starts + 1) * worths);
  for (std::size_t place = 0; place < starts; ++place) {
    const OpStart& start = moment.starts[place];
    const Ticks finish = moment.time + block_->modes[start.mode].duration;
    finishes_[place] = static_cast<double>(finish + block_->tails[start.op]) < moment.limit ? finish : kNever;
    for (std::size_t v = 0; v < worths; ++v) {
      const SearchWorth& worth = worths_[v];
      earns_[place * worths + v] = worth.rates[start.mode];
      worth_[place * worths + v] = start.barred ? worth.shareable[start.op] : worth.least[start.op];
    }
  }
}

bool MomentFiller::may_finish_first(const Moment& moment, std::size_t place) const {
  if (finishes_[place] == kNever) return false;
  if (!moment.running.empty() && finishes_[place] >= moment.running.front().finish) return false;
  const Units* units = demand(moment.starts[place].mode);
  for (std::size_t k = 0; k < demands_.resources; ++k)
    if (units[k] > free_[k]) return false;
  return true;
}

void MomentFiller::begin_until(const Moment& moment, Ticks until, std::size_t first) {
  const std::size_t worths = worths_.size();
  until_ = until;
  length_ = static_cast<double>(until - moment.time);
  chosen_.clear();
  for (std::size_t v = 0; v < worths; ++v) bounds_[v] = static_cast<double>(until) * (1 - rates_[v]) + fixed_[v];
  members_.clear();
  // In the place of the next member.
  const auto set_changes = [&](std::size_t place) {
    const auto after = static_cast<double>(finishes_[place] - until);
    double* const changes = changes_.data() + members_.size() * worths;
    for (std::size_t v = 0; v < worths; ++v)
      changes[v] = earns_[place * worths + v] * after - worth_[place * worths + v];
  };
  if (first != kNobody) {
    set_changes(first);
    add(moment.starts[first], changes_.data());
  }
  for (std::size_t place = 0; place < moment.starts.size(); ++place) {
    const Ticks finish = finishes_[place];
    // Of several that finish first the one that stands first counts as such.
    if (finish == kNever || finish < until || (finish == until && first != kNobody && place < first)) continue;
    const OpStart& start = moment.starts[place];
    if (first != kNobody && start.op == moment.starts[first].op) continue;
    set_changes(place);
    members_.push_back({start, 0});
  }
  std::fill_n(still_off_.begin() + static_cast<std::ptrdiff_t>(members_.size() * worths), worths, 0.0);
  for (std::size_t i = members_.size(); i-- > 0;) {
    const bool last_of_op = i + 1 == members_.size() || members_[i + 1].start.op != members_[i].start.op;
    members_[i].next_op = last_of_op ? static_cast<std::uint32_t>(i + 1) : members_[i + 1].next_op;
    for (std::size_t v = 0; v < worths; ++v) {
      const double with = still_off_[members_[i].next_op * worths + v] - changes_[i * worths + v];
      still_off_[i * worths + v] = std::max(with, still_off_[(i + 1) * worths + v]);
    }
  }
}

}  // namespace phaze::schedule
