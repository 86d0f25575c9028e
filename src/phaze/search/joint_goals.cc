#include "phaze/search/joint_goals.h"

#include <algorithm>

#include "phaze/placement/stage_costs.h"

namespace phaze::search {
namespace {

using placement::kNever;

// A gap is wide if it is at least this part of the widest.
constexpr double kWide = 0.125;
// Halvings of the way to a goal: far more than it takes for a goal to matter.
constexpr int kHalvings = 40;

// Of the way to a goal that was not reached, what is worth another attempt.
constexpr double kLess = 0.5;

double gap(const Standing& standing) { return 1 - standing.least / standing.most; }

std::vector<double> part_of_the_way(std::span<const Standing> standings, const std::vector<double>& reaches,
                                    double part) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < standings.size(); ++i)
    seconds.push_back(standings[i].least + part * (reaches[i] - standings[i].least));
  return seconds;
}

}  // namespace

double reach(const Standing& standing, std::uint32_t effort, bool alone) {
  if (standing.proven || effort < standing.effort) return standing.least;
  if (effort > standing.effort || standing.failed == kNever) return standing.most;
  if (!alone) return standing.least;
  return std::clamp(standing.least + kLess * (standing.failed - standing.least), standing.least, standing.most);
}

std::optional<std::vector<double>> joint_goals(const Score& score, std::span<const Standing> standings, double cost,
                                               double least_useful, std::uint32_t effort) {
  std::vector<double> plans, all;
  double widest = 0;
  for (const Standing& standing : standings) {
    plans.push_back(standing.most);
    all.push_back(reach(standing, effort, standings.size() == 1));
    widest = std::max(widest, all.back() > standing.least ? gap(standing) : 0);
  }
  if (score.of(plans, cost) >= least_useful) {
    std::vector<double> best;
    bool something_to_ask = false;
    for (std::size_t i = 0; i < standings.size(); ++i) {
      if (!standings[i].proven && all[i] < standings[i].most) return std::nullopt;
      best.push_back(standings[i].proven ? standings[i].least : kNever);
      something_to_ask = something_to_ask || !standings[i].proven;
    }
    if (!something_to_ask) return std::nullopt;
    return best;
  }
  const auto suffices = [&](const std::vector<double>& seconds) { return score.of(seconds, cost) < least_useful; };
  std::vector<double> reaches = all;
  for (std::size_t i = 0; i < standings.size(); ++i)
    if (gap(standings[i]) < kWide * widest) reaches[i] = standings[i].least;
  if (!suffices(reaches)) reaches = all;
  if (!suffices(reaches)) return std::nullopt;
  double low = 0, high = 1;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (suffices(part_of_the_way(standings, reaches, middle)) ? high : low) = middle;
  }
  return high == 1 ? reaches : part_of_the_way(standings, reaches, high);
}

}  // namespace phaze::search
