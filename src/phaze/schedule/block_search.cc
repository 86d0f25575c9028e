#include "phaze/schedule/block_search.h"

#include <algorithm>
#include <numeric>

namespace phaze::schedule {
namespace {

// What counts as a part of a budget that has no limit: some tenths of a second.
constexpr std::uint64_t kPartOfUnlimited = 50'000;
// Where the bound by phases is at least this share of the other, states are dropped for it.
constexpr double kClose = 0.9;
// With few modes, resources of which there is less work than this share of what antichains are worth cut hardly a
// state, and every worth takes its time.
constexpr double kOfUse = 0.995;

// A pass for the proof that has found a schedule has seen nearly everything, and goes on to the shortest.
PassLimits limits_of(const PlannedPass& pass, bool phases, const Goal& goal, const BlockResult& result) {
  return {.width = pass.width,
          .together = pass.together,
          .enough = pass.width == kWidest ? result.lower_bound : std::max(goal.short_enough(), result.lower_bound),
          .gap = goal.gap,
          .ends_where_too_narrow = pass.whole_or_nothing,
          .by_bounds = pass.by_bounds,
          .phases = phases};
}

}  // namespace

// One of so many parts of the budget that is left. Without a budget there are none, and a deadline comes at any moment.
std::uint64_t one_of(const Stop& stop, std::uint64_t parts) {
  if (parts > 1 && stop.work_left() == Stop::kUnlimited) return kPartOfUnlimited;
  return stop.work_left() / parts;
}

// One worth from `rates` (if any) and one per resource that is of use.
template <std::size_t Words>
void BlockSearch<Words>::set_worths(const Block& block, std::span<const double> rates) {
  const std::size_t given = rates.empty() ? 0 : 1;
  worths_.resize(given + block.resources);
  if (given > 0) set_worth(block, rates, worths_.front());
  for (std::size_t k = 0; k < block.resources; ++k) set_worth(block, k, worths_[given + k]);
  if (given == 0 || has_many_modes(block)) return;
  const auto total = [](const SearchWorth& worth) { return std::reduce(worth.least.begin(), worth.least.end()); };
  const double most = total(worths_.front());
  std::erase_if(worths_, [&](const SearchWorth& worth) { return total(worth) < kOfUse * most; });
}

// Raises the bound, and sets the worths for passes to come. True if no schedule is shorter than the one at hand.
template <std::size_t Words>
bool BlockSearch<Words>::settle_by_antichains(const Block& block, Ticks by_phases, const Goal& goal, Stop& stop,
                                              BlockResult& result, Statistics& statistics) {
  antichain_bound_ = antichains_.solve(block, result.schedule, limit_of(result, goal), stop);
  statistics.pivots += antichains_.pivots();
  phases_ = static_cast<double>(by_phases) > kClose * antichain_bound_;
  phases_lead_ = static_cast<double>(by_phases) > antichain_bound_;
  if (antichain_bound_ > 0) {
    const double joined = std::max(antichain_bound_, between_heads_and_tails(block, antichains_.worth()));
    result.lower_bound = std::max(result.lower_bound, whole_ticks(joined));
    antichains_.lift();
  }
  dropped_for_ = 0;
  better_ = Direction::kForwards;
  if (closed(result, goal) || !drop_modes(block, limit_of(result, goal), result) || closed(result, goal)) {
    result.optimal = true;
    ++statistics.closed_by_antichains;
  }
  return result.optimal;
}

// Searches the block as far as its modes are kept. True if it is worth going on.
template <std::size_t Words>
bool BlockSearch<Words>::search(const Block& block, std::span<const PlannedPass> passes, const Goal& goal, Stop& stop,
                                BlockResult& result, Statistics& statistics) {
  const auto none_is_shorter = [&] {
    if (drop_modes(block, limit_of(result, goal), result)) return false;
    result.optimal = true;
    ++statistics.closed_by_antichains;
    return true;
  };
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (none_is_shorter()) return false;
    const Ticks known = result.schedule.makespan;
    const bool open = run(*kept_, passes.subspan(i, 1), goal, stop, result, statistics);
    if (kept_ != &block && result.schedule.makespan < known) name_modes_of(block, *kept_, result.schedule);
    if (!open) return false;
  }
  return !none_is_shorter();
}

// Keeps of the block what may be in a schedule shorter than the limit. With mode m, the bound is what the others are
// worth, and what m earns in its time. False if an operator is left without a mode, or what is left takes that long: no
// schedule is shorter.
template <std::size_t Words>
bool BlockSearch<Words>::drop_modes(const Block& block, double limit, BlockResult& result) {
  if (limit == dropped_for_) return true;
  dropped_for_ = limit;
  std::span<const double> rates;
  if (antichain_bound_ > 0) rates = antichains_.rates();
  keep_.assign(block.modes.size(), 1);
  bool fewer = false;
  for (std::size_t i = 0; i < block.size; ++i)
    for (std::size_t m = block.mode_offsets[i]; m < block.mode_offsets[i + 1]; ++m) {
      const Ticks duration = block.modes[m].duration;
      auto with = static_cast<double>(block.heads[i] + duration + block.tails[i]);
      if (!rates.empty())
        with = std::max(with, antichain_bound_ - antichains_.worth()[i] + rates[m] * static_cast<double>(duration));
      if (with * (1 - 1e-11) < limit) continue;
      keep_[m] = 0;
      fewer = true;
    }
  kept_ = &block;
  if (fewer) {
    const bool some_are_left = restrict_modes(block, keep_, restricted_);
    const Ticks bound = some_are_left ? bounds_.compute(restricted_) : kNever;
    if (static_cast<double>(bound) >= limit) {
      dropped_for_ = 0;
      return false;
    }
    kept_ = &restricted_;
    result.lower_bound = std::max(result.lower_bound, bound);
    if (!rates.empty()) {
      // A worth stays one when modes go.
      rates_.resize(kept_->modes.size());
      for_each_mode_in(block, *kept_, [&](std::size_t m, std::size_t in_block) { rates_[m] = rates[in_block]; });
      rates = rates_;
    }
  }
  set_worths(*kept_, rates);
  return true;
}

template <std::size_t Words>
void BlockSearch<Words>::turn(const Block& block) {
  reverse(block, reversed_);
  reversed_worths_.resize(worths_.size());
  for (std::size_t v = 0; v < worths_.size(); ++v) reverse(block, worths_[v], reversed_worths_[v]);
}

// A pass over the block, or over the reversed one.
template <std::size_t Words>
PassResult BlockSearch<Words>::run_one(const Block& block, Direction direction, const PlannedPass& planned,
                                       const Goal& goal, Stop& stop, BlockResult& result, Statistics& statistics) {
  const bool backwards = direction == Direction::kBackwards;
  const Block& directed = backwards ? reversed_ : block;
  // A pass reads no more of the schedule at hand than its makespan; its modes may even be those of another block.
  if (backwards) found_ = result.schedule;
  BlockSchedule& schedule = backwards ? found_ : result.schedule;
  const Ticks known = schedule.makespan;
  Stop part = stop.part(std::min(planned.most, one_of(stop, planned.part)));
  const PassResult pass =
      search_.pass(directed, backwards ? reversed_worths_ : worths_,
                   limits_of(planned, phases_ && !backwards && planned.width == kWidest, goal, result), schedule, part);
  stop.spend(part.spent() - stop.spent());
  if (backwards && schedule.makespan < known) {
    mirror(block, schedule);
    std::swap(result.schedule, schedule);
  }
  ++statistics.passes;
  statistics.states += pass.states;
  const double cut = pass.complete ? limit_of(result, goal) : std::min(pass.least_cut, limit_of(result, goal));
  result.lower_bound = std::max(result.lower_bound, whole_ticks(cut));
  if (cut >= limit_of(result, goal) || closed(result, goal)) {
    result.optimal = true;
    ++statistics.closed_by_search;
  }
  return pass;
}

// True if it is worth going on after the last pass: the block is still open and there is work left.
template <std::size_t Words>
bool BlockSearch<Words>::run(const Block& block, std::span<const PlannedPass> passes, const Goal& goal, Stop& stop,
                             BlockResult& result, Statistics& statistics) {
  const auto run = [&](Direction direction, const PlannedPass& planned) {
    return run_one(block, direction, planned, goal, stop, result, statistics);
  };
  const auto at_end = [&] { return result.optimal || goal.is_met_by(result) || stop.reached(); };
  if (passes.front().from != Ends::kBetter) better_ = Direction::kForwards;
  if (passes.front().from == Ends::kBoth) {
    const double forwards_cut = run(Direction::kForwards, passes.front()).least_cut;
    if (at_end()) return false;
    const Ticks forwards = result.schedule.makespan;
    turn(block);
    const double backwards_cut = run(Direction::kBackwards, passes.front()).least_cut;
    if (!phases_lead_ && result.schedule.makespan < forwards && backwards_cut > forwards_cut)
      better_ = Direction::kBackwards;
    passes = passes.subspan(1);
  } else if (better_ == Direction::kBackwards) {
    turn(block);
  }
  for (const PlannedPass& pass : passes) {
    if (at_end()) return false;
    run(better_, pass);
  }
  return !at_end();
}

template class BlockSearch<1>;
template class BlockSearch<2>;
template class BlockSearch<4>;

}  // namespace phaze::schedule
