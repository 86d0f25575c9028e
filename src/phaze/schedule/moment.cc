#include "phaze/schedule/moment.h"

namespace phaze::schedule {

void MomentFiller::begin(const Moment& moment) {
  const std::size_t resources = block_->resources, worths = worths_->size(), most = block_->size + 1;
  looked_at_ = 0;
  free_.resize(most * resources);
  rates_.resize(most * worths);
  bounds_.resize(most * worths);
  std::fill_n(free_.begin(), resources, kCapacityUnits);
  std::fill_n(rates_.begin(), worths, 0.0);
  fixed_.assign(moment.left.begin(), moment.left.end());
  for (const Running& runs : moment.running) {
    for (std::size_t k = 0; k < resources; ++k) free_[k] -= block_->demand(runs.mode)[k];
    for (std::size_t v = 0; v < worths; ++v) {
      const double rate = (*worths_)[v].rates[runs.mode];
      rates_[v] += rate;
      fixed_[v] += rate * static_cast<double>(runs.finish);
    }
  }
}

bool MomentFiller::may_finish_first(const Moment& moment, std::size_t place) const {
  const OpStart& start = moment.starts[place];
  const Ticks finish = moment.time + block_->modes[start.mode].duration;
  if (!moment.running.empty() && finish >= moment.running.front().finish) return false;
  if (static_cast<double>(finish + block_->tails[start.op]) >= moment.limit) return false;
  for (std::size_t k = 0; k < block_->resources; ++k)
    if (block_->demand(start.mode)[k] > free_[k]) return false;
  return true;
}

void MomentFiller::begin_until(const Moment& moment, Ticks until, std::size_t first) {
  const std::size_t worths = worths_->size();
  until_ = until;
  length_ = static_cast<double>(until - moment.time);
  chosen_.clear();
  for (std::size_t v = 0; v < worths; ++v) bounds_[v] = static_cast<double>(until) * (1 - rates_[v]) + fixed_[v];
  members_.clear();
  changes_.clear();
  const auto add_changes = [&](const OpStart& start, Ticks finish) {
    for (const SearchWorth& worth : *worths_)
      changes_.push_back(worth.rates[start.mode] * static_cast<double>(finish - until) -
                         (start.barred ? worth.shareable[start.op] : worth.least[start.op]));
  };
  if (first != kNobody) {
    add_changes(moment.starts[first], until);
    add(moment.starts[first], changes_.data());
    changes_.clear();
  }
  for (std::size_t place = 0; place < moment.starts.size(); ++place) {
    const OpStart& start = moment.starts[place];
    const Ticks finish = moment.time + block_->modes[start.mode].duration;
    // Of several that finish first the one that stands first counts as such.
    if (finish < until || (finish == until && first != kNobody && place < first)) continue;
    if (first != kNobody && start.op == moment.starts[first].op) continue;
    if (static_cast<double>(finish + block_->tails[start.op]) >= moment.limit) continue;
    members_.push_back({static_cast<std::uint32_t>(place), 0});
    add_changes(start, finish);
  }
  still_off_.assign((members_.size() + 1) * worths, 0);
  for (std::size_t i = members_.size(); i-- > 0;) {
    const bool last_of_op =
        i + 1 == members_.size() || moment.starts[members_[i + 1].place].op != moment.starts[members_[i].place].op;
    members_[i].next_op = last_of_op ? static_cast<std::uint32_t>(i + 1) : members_[i + 1].next_op;
    for (std::size_t v = 0; v < worths; ++v) {
      const double with = still_off_[members_[i].next_op * worths + v] - changes_[i * worths + v];
      still_off_[i * worths + v] = std::max(with, still_off_[(i + 1) * worths + v]);
    }
  }
}

}  // namespace phaze::schedule
