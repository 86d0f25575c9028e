#include "phaze/search/refutation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using placement::kNever;
// Goals are set in such parts of the way.
constexpr int kShares = 256;
// A gap is wide if it is at least this part of the widest, each beside the time of its pass.
constexpr double kWide = 0.125;
// A bound that reaches its goal may be lower than that by rounding.
constexpr double kRoundedUp = 1 + 2e-8;
// A guess at the share is lowered by this much: a point just below what suffices tells the rest.
constexpr int kShy = 2;
// And no more is to be gained once one that does not suffice is this near.
constexpr int kNear = 2 * kShy;

// Of a layer: forward, backward, and what each of three policies runs again.
constexpr std::size_t kPasses = 5;

template <class Table, class Visit>
void for_each_pass(Table& table, const Visit& visit) {
  for (auto& kind : table.kinds) {
    visit(kind.forward);
    visit(kind.backward);
    for (auto& again : kind.recompute) visit(again);
  }
}

std::vector<double> seconds_of(const placement::LayerTable& table) {
  std::vector<double> seconds;
  seconds.reserve(table.kinds.size() * kPasses);
  for_each_pass(table, [&](const placement::PassTime& pass) { seconds.push_back(pass.seconds); });
  return seconds;
}

}  // namespace

Refutation::Refutation(layer_times::LayerPricer::Tables known, double least, double most, double enough, Place place)
    : known_(std::move(known)), least_(least), most_(most), enough_(enough), place_(std::move(place)) {}

void Refutation::ask_those_with_wide_gaps() {
  const std::vector<double> bounds = seconds_of(known_.lower_bounds), times = seconds_of(known_.times);
  const auto gap = [&](std::size_t i) { return times[i] > 0 ? 1 - bounds[i] / times[i] : 0; };
  double widest = 0;
  for (std::size_t i = 0; i < times.size(); ++i) widest = std::max(widest, gap(i));
  for (std::size_t i = 0; i < times.size(); ++i) asked_[i] = gap(i) >= kWide * widest;
}

void Refutation::ask_all() {
  for (std::size_t i = 0; i < asked_.size(); ++i) asked_[i] = !given_up_[i];
}

placement::LayerTable Refutation::part_of_the_way(int share) const {
  const double part = static_cast<double>(share) / kShares;
  const std::vector<double> times = seconds_of(known_.times);
  placement::LayerTable table = known_.lower_bounds;
  std::size_t i = 0;
  for_each_pass(table, [&](placement::PassTime& pass) {
    if (asked_[i]) pass.seconds += part * (times[i] - pass.seconds);
    ++i;
  });
  return table;
}

// The least that suffices, or little more. Seconds of a plan nearly lie on a line, so that two points of it tell where
// that is; before there are two, a guess does.
std::optional<int> Refutation::least_share() const {
  int low = 0, high = kShares, points = 0;
  double at_low = least_, slope = (most_ - least_) / kShares;
  while (high - low > 1) {
    int next = (low + high) / 2;
    if (slope > 0) {
      next = low + static_cast<int>(std::ceil(std::min((enough_ - at_low) / slope, 1.0 * kShares)));
      if (points > 1 && next >= high) break;
      if (points == 0) next -= kShy;
    }
    next = std::clamp(next, low + 1, high - 1);
    const double seconds = place_(part_of_the_way(next));
    if (seconds == kNever) {
      high = next;
      if (points > 1 || (points == 1 && high - low <= kNear)) break;
      slope *= 2;
      continue;
    }
    slope = points > 0 ? (seconds - at_low) / (next - low) : (most_ - seconds) / (kShares - next);
    ++points;
    at_low = seconds;
    low = next;
  }
  if (high == kShares && place_(part_of_the_way(high)) != kNever) return std::nullopt;
  return high;
}

std::optional<placement::LayerTable> Refutation::goals() {
  const bool first = asked_.empty();
  if (first) {
    asked_.resize(known_.times.kinds.size() * kPasses);
    given_up_.resize(asked_.size());
    ask_those_with_wide_gaps();
  } else {
    ask_all();
  }
  std::optional<int> share = least_share();
  if (!share && first) {
    ask_all();
    share = least_share();
  }
  if (!share) return std::nullopt;
  placement::LayerTable goals = part_of_the_way(*share);
  sufficient_ = seconds_of(goals);
  const std::vector<double> bounds = seconds_of(known_.lower_bounds);
  std::size_t i = 0;
  for_each_pass(goals, [&](placement::PassTime& pass) {
    if (pass.seconds > bounds[i++]) pass.seconds *= kRoundedUp;
  });
  return goals;
}

void Refutation::learn(layer_times::LayerPricer::Tables found) {
  known_ = std::move(found);
  const std::vector<double> bounds = seconds_of(known_.lower_bounds);
  bool suffices = true;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const bool reached = bounds[i] >= sufficient_[i];
    suffices = suffices && reached;
    given_up_[i] = given_up_[i] || !reached;
  }
  if (suffices)
    least_ = kNever;
  else
    least_ = std::max(least_, place_(known_.lower_bounds));
}

}  // namespace phaze::search
