#include "phaze/schedule/moment.h"

namespace phaze::schedule {
namespace {

constexpr std::uint64_t kMostLookedAt = 64;

}  // namespace

void MomentFiller::begin(const Moment& moment) {
  const std::size_t resources = block_->resources, worths = worths_->size();
  looked_at_ = 0;
  chosen_.clear();
  untils_.assign(1, moment.running.empty() ? kNever : moment.running.front().finish);
  free_.assign(resources, kCapacityUnits);
  fixed_.assign(moment.left.begin(), moment.left.end());
  rates_.assign(worths, 0);
  for (const Running& runs : moment.running) {
    for (std::size_t k = 0; k < resources; ++k) free_[k] -= block_->demand(runs.mode)[k];
    for (std::size_t v = 0; v < worths; ++v) {
      const double rate = (*worths_)[v].rates[runs.mode];
      rates_[v] += rate;
      fixed_[v] += rate * static_cast<double>(runs.finish);
    }
  }
  const std::size_t places = moment.starts.size();
  next_op_.resize(places + 1);
  shortest_.resize(places + 1);
  most_rates_.assign((places + 1) * worths, 0);
  next_op_[places] = static_cast<std::uint32_t>(places);
  shortest_[places] = kNever;
  for (std::size_t place = places; place-- > 0;) {
    const OpStart& start = moment.starts[place];
    const bool last_of_op = place + 1 == places || moment.starts[place + 1].op != start.op;
    next_op_[place] = last_of_op ? static_cast<std::uint32_t>(place + 1) : next_op_[place + 1];
    shortest_[place] = std::min(shortest_[place + 1], block_->modes[start.mode].duration);
    // Of the modes of one operator the one with the highest rate counts.
    const std::size_t behind = next_op_[place] * worths;
    for (std::size_t v = 0; v < worths; ++v) {
      const double with = most_rates_[behind + v] + (*worths_)[v].rates[start.mode];
      most_rates_[place * worths + v] = last_of_op ? with : std::max(with, most_rates_[(place + 1) * worths + v]);
    }
  }
}

bool MomentFiller::can_fill(const Moment& moment) {
  begin(moment);
  if (is_good_enough(moment.limit)) return true;
  if (!may_become_good_enough(moment, 0)) return false;
  bool found = false;
  const auto go_on = [&](const OpStart&, std::span<const OpStart>) { return !found; };
  const auto visit = [&](const Filling&) { found = true; };
  return !for_each_from(moment, 0, kMostLookedAt, go_on, visit) || found;
}

bool MomentFiller::is_good_enough(double limit) const {
  const auto end = static_cast<double>(until());
  for (std::size_t v = 0; v < worths_->size(); ++v)
    if ((end + fixed()[v] - rates()[v] * end) * (1 - 1e-12) >= limit) return false;
  return true;
}

bool MomentFiller::may_become_good_enough(const Moment& moment, std::size_t first) const {
  const auto time = static_cast<double>(moment.time);
  const auto soonest = static_cast<double>(std::min(until() - moment.time, shortest_[first]));
  for (std::size_t v = 0; v < worths_->size(); ++v) {
    const double unused = std::max(0.0, 1 - rates()[v]);
    const double lost = std::max(0.0, unused - most_rates_[first * worths_->size() + v]);
    if ((fixed()[v] + time * (1 - rates()[v]) + soonest * lost) * (1 - 1e-12) >= moment.limit) return false;
  }
  return true;
}

bool MomentFiller::add(const Moment& moment, std::size_t place) {
  const OpStart& start = moment.starts[place];
  const std::size_t resources = block_->resources, worths = worths_->size();
  const Ticks finish = moment.time + block_->modes[start.mode].duration;
  if (static_cast<double>(finish + block_->tails[start.op]) >= moment.limit) return false;
  const Units* demand = block_->demand(start.mode);
  const std::size_t free = free_.size() - resources;
  for (std::size_t k = 0; k < resources; ++k)
    if (demand[k] > free_[free + k]) return false;
  for (std::size_t k = 0; k < resources; ++k) free_.push_back(free_[free + k] - demand[k]);
  const std::size_t worth_of_all = fixed_.size() - worths;
  for (std::size_t v = 0; v < worths; ++v) {
    const SearchWorth& worth = (*worths_)[v];
    const double rate = worth.rates[start.mode];
    fixed_.push_back(fixed_[worth_of_all + v] + rate * static_cast<double>(finish) -
                     (start.barred ? worth.shareable[start.op] : worth.least[start.op]));
    rates_.push_back(rates_[worth_of_all + v] + rate);
  }
  untils_.push_back(std::min(until(), finish));
  chosen_.push_back(start);
  return true;
}

void MomentFiller::remove() {
  free_.resize(free_.size() - block_->resources);
  fixed_.resize(fixed_.size() - worths_->size());
  rates_.resize(rates_.size() - worths_->size());
  untils_.pop_back();
  chosen_.pop_back();
}

}  // namespace phaze::schedule
