#include "phaze/schedule/block_solver.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "phaze/schedule/order_by.h"

namespace phaze::schedule {
namespace {

// Below this many operators a whole search costs less than the antichain LP.
constexpr std::size_t kSmall = 5;
constexpr std::size_t kLarge = 65;
// With less of a budget than this, bounds and lists are all that is wanted.
constexpr std::uint64_t kLeastToRelax = 50;
// Where a goal is to be reached, operators that take less than this share of a schedule are left out at first if they
// are a quarter of all. With less of a budget than this it does not pay: there are two searches instead of one.
constexpr double kSmallShare = 1e-3;
constexpr std::uint64_t kLeastToCoarsen = 100'000;
// Where they alone make a difference, the rest of the search gets a part of the budget: the less there is to gain, the
// smaller.
constexpr double kLittle = 1e-4, kHardlyAnything = 1e-6;
constexpr std::uint64_t kPartForLittle = 16, kPartForHardlyAnything = 256;
// With less of a budget than this it does not pay to leave out light operators: there are several searches instead of
// one. And units for putting them back, one of so many parts of the budget at most.
constexpr std::uint64_t kLeastToLeaveOut = 100'000, kMostToPutBack = 4096, kPartToPutBack = 16;
// Changes that local search tries per operator, before the second proof and before the third.
constexpr std::uint64_t kFewTries = 300, kManyTries = 1000;

// Layers need some hundred sets, rarely a few thousand; wide blocks have no end of them, and the larger the block, the
// longer one takes and the less likely it is to end. A tenth of a second or two is the most.
std::uint64_t most_sets(const Block& block) {
  constexpr std::uint64_t kSetsTimesCube = 4'000'000'000;
  return kSetsTimesCube / (block.size * block.size * block.size);
}

bool has_choice(const Block& block, std::size_t op) { return block.mode_offsets[op] + 1 < block.mode_offsets[op + 1]; }

// Whether at most two operators share some resource, and fast modes leave room beside them.
bool goes_two_by_two(const Block& block) {
  bool leaves_room = false;
  for (std::size_t i = 0; i < block.size; ++i)
    leaves_room = leaves_room || (has_choice(block, i) && !block.modes[block.mode_offsets[i]].exclusive);
  if (block.size < kSmall || !leaves_room) return false;
  for (std::size_t k = 0; k < block.resources; ++k) {
    Units least = kCapacityUnits;
    for (std::size_t m = 0; m < block.modes.size(); ++m)
      if (block.demand(m)[k] > 0) least = std::min(least, block.demand(m)[k]);
    if (least < kCapacityUnits && least > kCapacityUnits / 3) return true;
  }
  return false;
}

bool is_worth_relaxing(const Block& block, const Stop& stop) {
  return block.size >= kSmall && stop.work_left() >= kLeastToRelax;
}

double gap(const BlockResult& result) {
  return 1 - static_cast<double>(result.lower_bound) / static_cast<double>(result.schedule.makespan);
}

void take_bound_of(const BlockResult& relaxed, const Goal& goal, BlockResult& result) {
  result.lower_bound = std::max(result.lower_bound, std::min(relaxed.lower_bound, result.schedule.makespan));
  result.optimal = closed(result, goal);
}

// For a relaxation. Where nothing is shorter, its bound is to reach the goal or the schedule at hand in spite of
// rounding (whole_ticks).
Goal shorter(const Goal& goal, const BlockResult& result) {
  const Ticks wanted = std::min(goal.ticks, result.schedule.makespan);
  return {.ticks = wanted + wanted / (Ticks{1} << 35U), .gap = goal.gap};
}

std::uint64_t half_as_much_again(std::uint64_t budget) {
  return budget < Stop::kUnlimited / 2 ? budget + budget / 2 : Stop::kUnlimited;
}

// The part of a budget that the gap left by small operators is worth.
std::uint64_t part_for(const BlockResult& result) {
  if (gap(result) > kLittle) return 1;
  return gap(result) > kHardlyAnything ? kPartForLittle : kPartForHardlyAnything;
}

// Passes that look for schedules, and those for a proof, which take all the states there are room for.
//
// A proof is tried early, with few units, and given up where these do not suffice: most blocks need no more. Then
// better schedules are looked for, and it is tried again with more: it then has fewer modes and states to look at, and
// to remember. Before the last one, light operators are left out for once. Where a goal is to be reached, or others are
// left out, schedules are not looked for as long.
//
// With few modes, a pass for the proof finds the best schedules itself, and gets all of the budget, unless the block is
// so large that there is hardly a hope for that.
constexpr std::array kPassesOfSmall = {find_first(Ends::kFront), prove_or_bound()};
constexpr std::array kPassesOfLarge = {find_first(Ends::kBoth)};
constexpr std::array kPassesOfFewModes = {prove_or_bound()};
constexpr std::array kPassesOfLargeWithFewModes = {find_first(Ends::kFront), prove_or_bound(20'000),
                                                   find(kWidestToFind / 4), prove_or_bound()};
constexpr std::array kFirstPasses = {find_first(Ends::kBoth), prove_or_bound(4000)};
constexpr std::array kSecondPasses = {prove_or_bound(20'000)};
constexpr std::array kThirdPasses = {find(kWidestToFind / 4), prove_or_bound(Stop::kUnlimited, 4)};
constexpr std::array kLastPasses = {prove_or_bound()};
constexpr std::array kSecondPassesToGoal = {find(64), prove(Stop::kUnlimited, 2)};
constexpr std::array kLastPassesToGoal = {find(kWidestToFind)};
constexpr std::array kSecondPassesWithoutLight = {find(64), prove(Stop::kUnlimited)};

}  // namespace

void BlockSolver::solve(const Block& block, const Goal& goal, Stop& stop, BlockResult& result, Statistics& statistics) {
  ++statistics.blocks;
  statistics.largest_block = std::max<std::uint64_t>(statistics.largest_block, block.size);
  solve(block, Relaxing::kFirst, goal, stop, result, statistics);
}

void BlockSolver::solve(const Block& block, Relaxing relaxing, const Goal& goal, Stop& stop, BlockResult& result,
                        Statistics& statistics) {
  result.lower_bound = bounds_.compute(block);
  lists_.run(block, goal.short_enough_for(result.lower_bound), result.schedule);
  result.optimal = closed(result, goal);
  if (result.optimal) ++statistics.closed_by_lists;
  if (!result.optimal && !goal.is_met_by(result)) search_once(block, relaxing, goal, stop, result, statistics);
  // Once no better schedule is left, bounds are those of nothing.
  if (!result.optimal) return;
  const bool none_is_shorter = goal.gap == 0 || closed(result, {});
  result.lower_bound =
      none_is_shorter ? result.schedule.makespan : std::max(result.lower_bound, whole_ticks(limit_of(result, goal)));
}

// What has been searched for before is taken from the memo, and paid for all the same: what is left of the budget for
// other blocks does not depend on who came first.
void BlockSolver::search_once(const Block& block, Relaxing relaxing, const Goal& goal, Stop& stop, BlockResult& result,
                              Statistics& statistics) {
  const auto search_now = [&] {
    const State state = settle_by_large(block, goal, stop, result, statistics);
    if (state == State::kSettled) return;
    Stop part = stop.part(one_of(stop, state == State::kNearlySettled ? part_for(result) : 1));
    if (relaxing == Relaxing::kNo || !settle_by_relaxation(block, goal, part, result, statistics))
      close_gap(block, goal, part, result, statistics);
    stop.spend(part.spent() - stop.spent());
  };
  if (memo_ == nullptr || !is_worth_relaxing(block, stop)) return search_now();
  Digest key = digest(block);
  key.add(static_cast<std::uint64_t>(relaxing));
  key.add(static_cast<std::uint64_t>(barriers_));
  key.add(static_cast<std::uint64_t>(light_));
  key.add(goal.ticks);
  key.add(std::uint64_t{goal.any_shorter_will_do});
  key.add(goal.gap);
  key.add(stop.work_left());
  BlockMemo::Question question(*memo_, key);
  if (question.answer()) {
    result = *question.answer();
    stop.spend(result.work);
    return;
  }
  const std::uint64_t before = stop.spent();
  search_now();
  result.work = stop.spent() - before;
  // A deadline or a user comes at another moment the next time.
  stop.reached();
  if (stop.reason() == Stop::Reason::kNone || stop.reason() == Stop::Reason::kWork) question.settle(result);
}

// Solves the block without its small operators, with a budget of its own. How that leaves the block: settled; nearly
// so, which means that what is left of the gap is a matter of the small ones alone; or open.
//
// A gap that the small ones leave is mostly the time of a few of them that nothing hides. So those that are not small
// beside the gap come back, and so on, as long as what is kept is soon solved.
BlockSolver::State BlockSolver::settle_by_large(const Block& block, const Goal& goal, const Stop& stop,
                                                BlockResult& result, Statistics& statistics) {
  if (goal.none() || stop.work_left() < kLeastToCoarsen) return State::kOpen;
  Ticks least = whole_ticks(kSmallShare * static_cast<double>(result.schedule.makespan));
  if (!keep_large(block, least, large_) || large_.block.size * 4 > block.size * 3) return State::kOpen;
  if (for_large_ == nullptr) for_large_ = std::make_unique<BlockSolver>(memo_, barriers_, light_);
  for (std::uint64_t part = 1;; part = part_for(result)) {
    BlockResult large;
    Stop own = stop.part(one_of(stop, part));
    for_large_->solve(large_.block, Relaxing::kFirst, shorter(goal, result), own, large, statistics);
    if (large.schedule.makespan < result.schedule.makespan)
      put_others_back(block, large_, large.schedule, lists_, result.schedule);
    take_bound_of(large, goal, result);
    if (result.optimal || goal.is_met_by(result)) return State::kSettled;
    if (gap(result) > kLittle) return State::kOpen;
    const std::size_t kept = large_.block.size;
    least = std::min(least, result.schedule.makespan - result.lower_bound) / 2;
    if (!large.optimal || !keep_large(block, least, large_) || large_.block.size == kept) return State::kNearlySettled;
  }
}

// Solves the block without its light operators, and puts them back; then with the heaviest of them again, and so on, as
// long as what is kept is soon solved. The last ones rarely make a difference.
void BlockSolver::solve_without_light(const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                                      Statistics& statistics) {
  if (light_ == Light::kStays || stop.work_left() < kLeastToLeaveOut) return;
  if (without_light_ == nullptr) without_light_ = std::make_unique<BlockSolver>(memo_, barriers_, Light::kStays);
  std::vector<std::uint32_t> light = light_operators(block, result.schedule.makespan);
  for (; !light.empty() && !stop.reached(); light.pop_back()) {
    if (!keep_all_but(block, light, large_)) continue;
    BlockResult others;
    Stop own = stop.part(one_of(stop, 2));
    without_light_->solve(large_.block, Relaxing::kNo, shorter(goal, result), own, others, statistics);
    stop.spend(own.spent() - stop.spent());
    if (others.schedule.makespan < result.schedule.makespan)
      put_light_back(block, others.schedule, goal, stop, result, statistics);
    take_bound_of(others, goal, result);
    if (result.optimal || goal.is_met_by(result) || !others.optimal) return;
  }
}

// Looks for a schedule in which the others run in the modes that they have without the light operators.
void BlockSolver::put_light_back(const Block& block, const BlockSchedule& of_others, const Goal& goal, Stop& stop,
                                 BlockResult& result, Statistics& statistics) {
  put_others_back(block, large_, of_others, lists_, result.schedule);
  if (closed(result, goal)) return;
  keep_.assign(block.modes.size(), 1);
  for (std::size_t at = 0; at < large_.ops.size(); ++at) {
    const std::size_t op = large_.ops[at];
    const std::uint32_t chosen = large_.block.modes[of_others.ops[at].mode].original;
    for (std::size_t m = block.mode_offsets[op]; m < block.mode_offsets[op + 1]; ++m)
      keep_[m] = block.modes[m].original == chosen ? 1 : 0;
  }
  restrict_modes(block, keep_, decided_);
  BlockResult found;
  Stop own = stop.part(std::min(stop.work_left() / kPartToPutBack, kMostToPutBack));
  without_light_->solve(decided_, Relaxing::kNo, {.ticks = result.schedule.makespan, .gap = goal.gap}, own, found,
                        statistics);
  stop.spend(own.spent() - stop.spent());
  if (found.schedule.makespan >= result.schedule.makespan) return;
  name_modes_of(block, decided_, found.schedule);
  result.schedule = std::move(found.schedule);
}

// Solves the block without the resource that is least in demand, with a budget of its own; where there is none, with a
// part of the time before a deadline. True if the schedule found keeps within the capacity of that resource and all was
// done for it that the block itself could be given, so that there is nothing to add, or its bound reaches the goal.
//
// With a goal, any schedule shorter than that ends it if it does not keep within the capacity: a bound that reaches the
// goal is then not to be had in this way, and how far it falls short of it is of no use.
bool BlockSolver::settle_by_relaxation(const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                                       Statistics& statistics) {
  if (!is_worth_relaxing(block, stop)) return false;
  const std::optional<std::size_t> resource = least_in_demand(block);
  if (!resource) return false;
  leave_out(block, *resource, relaxed_);
  BlockResult relaxed;
  const bool has_budget = stop.work_left() != Stop::kUnlimited;
  const auto fits_with = [&](const Goal& of_relaxed) {
    Stop own = stop.part(has_budget ? stop.work_left() : one_of(stop, 2));
    solve(relaxed_.block, Relaxing::kNo, of_relaxed, own, relaxed, statistics);
    for (BlockPlacement& placement : relaxed.schedule.ops) placement.mode = relaxed_.modes[placement.mode];
    return keeps_within(block, *resource, relaxed.schedule);
  };
  const Goal any{.ticks = goal.ticks, .any_shorter_will_do = goal.ticks < result.schedule.makespan, .gap = goal.gap};
  bool fits = fits_with(any);
  const bool ended_early = !relaxed.optimal && relaxed.schedule.makespan <= any.short_enough();
  if (ended_early && !fits) return false;
  if (ended_early) fits = fits_with({.ticks = goal.ticks, .gap = goal.gap});
  take_bound_of(relaxed, goal, result);
  if (fits && relaxed.schedule.makespan < result.schedule.makespan) result.schedule = relaxed.schedule;
  result.optimal = closed(result, goal) || (fits && relaxed.optimal);
  return (fits && (relaxed.optimal || has_budget)) || result.optimal || goal.is_met_by(result);
}

void BlockSolver::close_gap(const Block& block, const Goal& goal, Stop& stop, BlockResult& result,
                            Statistics& statistics) {
  if (block.words == 1) return close_gap(narrow_, block, goal, stop, result, statistics);
  if (block.words == 2) return close_gap(middle_, block, goal, stop, result, statistics);
  if (block.words <= 4) return close_gap(wide_, block, goal, stop, result, statistics);
  // Beyond 256 operators that hang together there is no search, only the bounds and the lists from both ends.
  reverse(block, reversed_);
  lists_.improve(block, reversed_, result.schedule);
  result.optimal = closed(result, goal);
}

template <std::size_t Words>
void BlockSolver::close_gap(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop,
                            BlockResult& result, Statistics& statistics) {
  reverse(block, reversed_);
  lists_.improve(block, reversed_, result.schedule);
  const Stop at_first = stop;
  const Ticks by_phases = bound_by_phases(engine, block, goal, stop, result, statistics);
  if (result.optimal || goal.is_met_by(result)) return;
  if (goal.ticks >= result.schedule.makespan) {
    if (barriers_ == Barriers::kFirst && goes_two_by_two(block) && !closed(result, goal))
      start_from_barriers(block, goal, at_first, result, statistics);
    return find_shorter(engine, block, by_phases, {.gap = goal.gap}, stop, result, statistics);
  }
  // As if a schedule as long as the goal were known: what is no shorter than that is passed over.
  known_ = result.schedule;
  result.schedule.makespan = goal.ticks;
  find_shorter(engine, block, by_phases, goal, stop, result, statistics);
  if (result.schedule.makespan < goal.ticks) return;
  result.schedule = known_;
  if (result.optimal) result.lower_bound = goal.bound_if_none_is_shorter();
  result.optimal = false;
}

// Looks at schedules in which every operator runs alone, as fast as it can, or beside others in its slowest mode. There
// are far fewer of these, and with two cores they are mostly the best. The budget is one of its own, and half as much
// again as it would be for a block with no other modes: what is found there is found here, too, even if one is rounded
// otherwise than the other, and takes a little more.
void BlockSolver::start_from_barriers(const Block& block, const Goal& goal, const Stop& stop, BlockResult& result,
                                      Statistics& statistics) {
  keep_.assign(block.modes.size(), 0);
  for (std::size_t i = 0; i < block.size; ++i) keep_[block.mode_offsets[i]] = keep_[block.mode_offsets[i + 1] - 1] = 1;
  restrict_modes(block, keep_, restricted_);
  for (std::size_t i = 0; i < block.size; ++i) {
    if (!has_choice(restricted_, i)) continue;
    const std::size_t fastest = restricted_.mode_offsets[i] * block.resources;
    std::fill_n(restricted_.demands.begin() + static_cast<std::ptrdiff_t>(fastest), block.resources, kCapacityUnits);
  }
  restricted_.derive();
  if (for_barriers_ == nullptr) for_barriers_ = std::make_unique<BlockSolver>(memo_, Barriers::kNo);
  BlockResult found;
  Stop own = stop.with(half_as_much_again(stop.work_left()));
  for_barriers_->solve(restricted_, Relaxing::kFirst, {.gap = goal.gap}, own, found, statistics);
  if (found.schedule.makespan >= result.schedule.makespan) return;
  name_modes_of(block, restricted_, found.schedule);
  result.schedule = std::move(found.schedule);
}

// Solves the block as if only exclusive modes kept operators apart. That may be the answer: if the sequence found keeps
// within the capacities, as it is or moved a little, or if there is none that is short enough. Returns the bound.
template <std::size_t Words>
Ticks BlockSolver::bound_by_phases(Engine<Words>& engine, const Block& block, const Goal& goal, Stop& stop,
                                   BlockResult& result, Statistics& statistics) {
  const bool may_be_exclusive = std::ranges::any_of(block.modes, &BlockMode::exclusive);
  if (block.size < kSmall || has_many_modes(block) || !may_be_exclusive || closed(result, goal)) return 0;
  const Ticks limit = std::min(goal.ticks, static_cast<Ticks>(std::ceil(limit_of(result, goal))));
  // Half of the budget at most: where it does not suffice, a search may still find something.
  Stop part = stop.part(std::min(stop.work_left() / 2, most_sets(block)));
  const Ticks bound = engine.phases.bound(block, limit, part, found_);
  stop.spend(part.spent() - stop.spent());
  result.lower_bound = std::max(result.lower_bound, bound);
  if (bound > 0 && bound < limit) {
    order_by_rising([&](std::uint32_t i) { return found_.ops[i].start; }, block.size, order_);
    modes_.resize(block.size);
    for (std::size_t i = 0; i < block.size; ++i) modes_[i] = found_.ops[i].mode;
    if (lists_.serial_scheme(block, order_, modes_, result.schedule.makespan, found_)) result.schedule = found_;
  }
  result.optimal = closed(result, goal);
  if (result.optimal) ++statistics.closed_by_phases;
  return bound;
}

// Begins with the schedule at hand, or with a goal as if there were one, and ends with none that is shorter, a bound on
// how much shorter one could be, or a schedule that meets the goal.
template <std::size_t Words>
void BlockSolver::find_shorter(Engine<Words>& engine, const Block& block, Ticks by_phases, const Goal& goal, Stop& stop,
                               BlockResult& result, Statistics& statistics) {
  const bool small = block.size < kSmall;
  if (closed(result, goal)) {
    result.optimal = true;
    ++statistics.closed_by_lists;
    return;
  }
  if (small) {
    engine.search.search_plainly(block, kPassesOfSmall, goal, stop, result, statistics);
    return;
  }
  if (block.size >= kLarge) {
    // The antichain bound may take long here, and is of more use beside a good schedule.
    if (!engine.search.search_plainly(block, kPassesOfLarge, goal, stop, result, statistics)) return;
  }
  if (engine.search.settle_by_antichains(block, by_phases, goal, stop, result, statistics)) return;
  const auto still_open_after = [&](std::span<const PlannedPass> passes) {
    return engine.search.search(block, passes, goal, stop, result, statistics);
  };
  if (goal.none() && !has_many_modes(block)) {
    still_open_after(block.size < kLarge ? std::span<const PlannedPass>(kPassesOfFewModes)
                                         : kPassesOfLargeWithFewModes);
    return;
  }
  if (!still_open_after(kFirstPasses)) return;
  if (light_ == Light::kStays) {
    still_open_after(kSecondPassesWithoutLight);
    return;
  }
  if (goal.none()) {
    change_a_little(block, kFewTries, goal, stop, result);
    if (!still_open_after(kSecondPasses)) return;
    change_a_little(block, kManyTries, goal, stop, result);
    if (!still_open_after(kThirdPasses)) return;
  } else if (!still_open_after(kSecondPassesToGoal)) {
    return;
  }
  if (has_many_modes(block)) {
    const Ticks known = result.schedule.makespan;
    const Block& kept = engine.search.kept();
    solve_without_light(kept, goal, stop, result, statistics);
    if (&kept != &block && result.schedule.makespan < known) name_modes_of(block, kept, result.schedule);
    if (result.optimal || goal.is_met_by(result)) return;
  }
  still_open_after(goal.none() ? std::span<const PlannedPass>(kLastPasses) : kLastPassesToGoal);
}

void BlockSolver::change_a_little(const Block& block, std::uint64_t tries_per_operator, const Goal& goal, Stop& stop,
                                  BlockResult& result) {
  if (!has_many_modes(block)) return;
  const std::uint64_t tries = std::min<std::uint64_t>(stop.work_left(), tries_per_operator * block.size);
  local_search_.improve(block, goal.short_enough_for(result.lower_bound), tries, stop, result.schedule);
}

}  // namespace phaze::schedule
