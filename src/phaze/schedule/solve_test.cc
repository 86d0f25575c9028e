// What every engine must do, judged by oracles: brute force on small instances, the engines on each other on larger
// ones.
#include "phaze/schedule/solve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "phaze/base/amount.h"
#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

using testing::Model;

constexpr std::array kModels = {Model::kPhaze, Model::kMoldable, Model::kAnything};

constexpr std::uint64_t kThinning = kThinTests ? 31 : 1;

Solution exact(const Instance& instance) {
  Stop stop;
  return solve(instance, {}, stop);
}

Instance one_core() {
  Instance instance;
  instance.resources = {{"tc", 1}};
  return instance;
}

void expect_best(Solver& solver, const Instance& instance) {
  Stop stop;
  const Solution& solution = solver.solve(instance, stop);
  const double optimum = testing::least_makespan(instance);
  ASSERT_EQ(solution.proof, Proof::kOptimal);
  ASSERT_NEAR(solution.schedule.makespan, optimum, 1e-9 * optimum);
  ASSERT_TRUE(evaluate(instance, solution.schedule).valid());
}

TEST(Exact, agrees_with_brute_force_on_ten_thousand_instances_of_up_to_seven_operators) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 10'000; seed += kThinning) {
    const Model model = kModels[seed % 3];
    // Seven operators of four modes each take brute force long, so there are fewer of those.
    const std::size_t most = model == Model::kMoldable && seed % 5 != 0 ? 6 : 7;
    const Instance instance = testing::random_instance(model, std::min<std::size_t>(most, 1 + seed / 3 % 7), seed);
    ASSERT_NO_FATAL_FAILURE(expect_best(solver, instance)) << "seed " << seed;
  }
}

TEST(Exact, durations_at_both_ends_of_what_instances_may_have_are_scheduled) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 600; seed += kThinning) {
    Instance instance = testing::random_instance(kModels[seed % 3], 2 + seed / 3 % 5, 20'000'000 + seed);
    const std::uint64_t kind = seed / 15 % 3;
    for (std::size_t m = 0; m < instance.durations.size(); ++m)
      if (instance.durations[m] > 0)
        instance.durations[m] = kind == 0 || (kind == 1 && m % 2 == 0) ? kLeastAmount : kLargestAmount;
    ASSERT_TRUE(validate(instance)) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expect_best(solver, instance)) << "seed " << seed;
  }
}

// Layers have many operators of one shape, random instances hardly any; here two or three kinds make up the instance.
TEST(Exact, agrees_with_brute_force_where_operators_are_alike) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 2'000; seed += kThinning) {
    const Instance varied = testing::random_instance(kModels[seed % 3], 3 + seed / 3 % 4, 10'000'000 + seed);
    const std::size_t kinds = 1 + seed / 12 % 3;
    Instance instance;
    instance.resources = varied.resources;
    for (std::size_t i = 0; i < varied.size(); ++i) {
      const OpId kind(i % kinds);
      instance.add_op("op");
      for (std::size_t m = 0; m < varied.mode_count(kind); ++m)
        instance.add_mode(varied.duration(kind, m), varied.demand(kind, m));
    }
    instance.edges = varied.edges;
    ASSERT_NO_FATAL_FAILURE(expect_best(solver, instance)) << "seed " << seed;
  }
}

TEST(Exact, agrees_with_brute_force_where_chains_have_ends_that_nobody_waits_for) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 2'000; seed += kThinning)
    ASSERT_NO_FATAL_FAILURE(expect_best(solver, testing::chains_with_ends(4 + seed % 3, seed))) << "seed " << seed;
}

// What may run beside these operators leaves enough for them, in all modes or in some.
TEST(Exact, agrees_with_brute_force_where_some_operators_have_nothing_in_the_way) {
  Solver solver;
  for (std::uint64_t seed = 0; seed < 2'000; seed += kThinning)
    ASSERT_NO_FATAL_FAILURE(expect_best(solver, testing::some_with_plenty_of_cores(4 + seed % 3, seed)))
        << "seed " << seed;
}

// The ILP is given the schedule of the exact engine to beat, and none of its bounds: had the engine missed a better
// one, CBC would find it. A few instances take CBC minutes; it stops there after so many nodes, and must not have found
// a better schedule, nor a bound above the optimum. scripts/bench-schedule leaves it more time, and its own start.
TEST(Exact, agrees_with_the_ilp_on_five_hundred_instances_of_up_to_fourteen_operators) {
  constexpr double kSeconds = 0.3;
  Solver solver;
  int compared = 0, proven = 0;
  for (std::uint64_t seed = 0; seed < 500; seed += kThinning) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 2 + seed / 3 % 13, 1'000'000 + seed);
    Stop stop;
    const Solution solution = solver.solve(instance, stop);
    ASSERT_EQ(solution.proof, Proof::kOptimal) << "seed " << seed;
    const double optimum = solution.schedule.makespan;
    Stop early({.seconds = kSeconds});
    const IlpOptions alone = {.antichain_cut = false, .own_bounds = false, .known = &solution.schedule};
    const Solution ilp = solve(instance, {.engine = Engine::kIlp, .ilp = alone}, early);
    ASSERT_NEAR(ilp.schedule.makespan, optimum, 1e-6 * optimum) << "seed " << seed;
    ASSERT_LE(ilp.lower_bound, optimum * (1 + 1e-6)) << "seed " << seed;
    ASSERT_TRUE(evaluate(instance, ilp.schedule).valid()) << "seed " << seed;
    ++compared;
    if (ilp.proof == Proof::kOptimal) ++proven;
  }
  // A busy machine gives CBC less time, so this is no more than a sign that it worked at all.
  EXPECT_GE(proven, compared / 3) << "of " << compared;
  RecordProperty("proven", proven);
}

TEST(Ilp, the_antichain_cut_cuts_off_no_optimum) {
  for (std::uint64_t seed = 0; seed < 60; seed += kThinning) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 1 + seed / 3 % 5, 2'000'000 + seed);
    Stop stop;
    const Solution ilp = solve(instance, {.engine = Engine::kIlp}, stop);
    const double optimum = testing::least_makespan(instance);
    ASSERT_EQ(ilp.proof, Proof::kOptimal) << "seed " << seed;
    ASSERT_NEAR(ilp.schedule.makespan, optimum, 1e-6 * optimum) << "seed " << seed;
  }
}

// CBC would take hours for this one, and its limit is far away.
TEST(Ilp, ends_soon_after_it_is_asked_to) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point asked;
  const Instance instance = testing::random_branches(Model::kMoldable, 40, 8, 1);
  asked = Clock::now() + std::chrono::milliseconds(500);
  Stop stop({.seconds = 60, .requested = [] { return Clock::now() >= asked; }});
  const Solution solution = solve(instance, {.engine = Engine::kIlp}, stop);
  EXPECT_LT(Clock::now() - asked, std::chrono::seconds(20));
  EXPECT_EQ(stop.reason(), Stop::Reason::kRequested);
  EXPECT_EQ(solution.proof, Proof::kFeasible);
  EXPECT_TRUE(evaluate(instance, solution.schedule).valid());
  EXPECT_LE(solution.lower_bound, solution.schedule.makespan);
}

TEST(Exact, numbering_the_operators_differently_changes_nothing) {
  for (std::uint64_t seed = 0; seed < 300; seed += kThinning) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 4 + seed % 7, 3'000'000 + seed);
    const std::size_t n = instance.size();
    Instance turned;
    turned.resources = instance.resources;
    // i becomes (5i + seed) mod n, or n - 1 - i where 5 divides n.
    const auto renamed = [&](std::size_t i) { return n % 5 == 0 ? n - 1 - i : (5 * i + seed) % n; };
    std::vector<std::size_t> old(n);
    for (std::size_t i = 0; i < n; ++i) old[renamed(i)] = i;
    for (const std::size_t i : old) {
      turned.add_op(instance.name(OpId(i)));
      for (std::size_t m = 0; m < instance.mode_count(OpId(i)); ++m)
        turned.add_mode(instance.duration(OpId(i), m), instance.demand(OpId(i), m));
    }
    for (const Edge& edge : instance.edges)
      turned.add_edge(OpId(renamed(edge.from.index())), OpId(renamed(edge.to.index())));
    const double makespan = exact(instance).schedule.makespan;
    ASSERT_NEAR(exact(turned).schedule.makespan, makespan, 2e-9 * makespan) << "seed " << seed;
  }
}

TEST(Exact, more_of_a_resource_never_hurts) {
  for (std::uint64_t seed = 0; seed < 300; seed += kThinning) {
    Instance instance = testing::random_instance(kModels[seed % 3], 4 + seed % 8, 4'000'000 + seed);
    const double before = exact(instance).schedule.makespan;
    instance.resources[seed % instance.resources.size()].capacity *= 1.5;
    ASSERT_LE(exact(instance).schedule.makespan, before * (1 + 2e-9)) << "seed " << seed;
  }
}

TEST(Exact, one_more_mode_never_hurts) {
  for (std::uint64_t seed = 0; seed < 300; seed += kThinning) {
    const Instance more = testing::random_instance(Model::kMoldable, 4 + seed % 8, 5'000'000 + seed);
    Instance fewer;
    fewer.resources = more.resources;
    for (std::size_t i = 0; i < more.size(); ++i) {
      fewer.add_op("");
      fewer.add_mode(more.duration(OpId(i), 0), more.demand(OpId(i), 0));
    }
    fewer.edges = more.edges;
    ASSERT_LE(exact(more).schedule.makespan, exact(fewer).schedule.makespan * (1 + 2e-9)) << "seed " << seed;
  }
}

Instance of_some_shape(std::uint64_t seed) {
  const std::size_t size = 8 + seed % 6;
  switch (seed % 5) {
    case 0: return testing::layer_like(size, seed);
    case 1: return testing::bandwidth_bound(size, seed);
    case 2: return testing::random_instance(Model::kPhaze, size, seed);
    case 3: return testing::random_branches(Model::kMoldable, 12, 3, seed);
    default: return testing::random_branches(Model::kPhaze, 14, 4, seed);
  }
}

TEST(Exact, an_early_stop_leaves_a_valid_schedule_and_a_true_bound) {
  for (std::uint64_t seed = 0; seed < 600; seed += kThinning) {
    const Instance instance = of_some_shape(seed);
    const Solution whole = exact(instance);
    ASSERT_EQ(whole.proof, Proof::kOptimal) << "seed " << seed;
    for (const std::uint64_t work : {0U, 30U, 60U, 200U, 1000U}) {
      Stop stop({.work = work});
      const Solution cut = solve(instance, {}, stop);
      ASSERT_TRUE(evaluate(instance, cut.schedule).valid());
      ASSERT_LE(cut.lower_bound, whole.schedule.makespan * (1 + 2e-9)) << "seed " << seed << " work " << work;
      ASSERT_GE(cut.schedule.makespan, whole.schedule.makespan * (1 - 2e-9)) << "seed " << seed << " work " << work;
      ASSERT_EQ(cut.proof == Proof::kOptimal, cut.lower_bound == cut.schedule.makespan);
    }
  }
}

// Their relaxations take longer than the part of the time that these are given, and their schedules fit.
TEST(Exact, without_a_budget_there_is_a_proof_whatever_becomes_of_relaxations) {
  for (const std::uint64_t seed : {4372U, 8044U, 10924U}) {
    Stop stop;
    EXPECT_EQ(solve(testing::layer_like(13, seed), {}, stop).proof, Proof::kOptimal) << "seed " << seed;
  }
}

TEST(Exact, the_same_work_gives_the_same_schedule) {
  const Instance instance = testing::random_branches(Model::kMoldable, 60, 5, 7);
  Stop first({.work = 2000}), second({.work = 2000});
  const Solution a = solve(instance, {}, first), b = solve(instance, {}, second);
  EXPECT_EQ(a.schedule, b.schedule);
  EXPECT_EQ(a.lower_bound, b.lower_bound);
  EXPECT_EQ(a.statistics, b.statistics);
}

TEST(Exact, a_solver_remembers_nothing_of_earlier_instances) {
  Solver used;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Instance instance = testing::random_instance(kModels[seed % 3], 3 + seed % 9, 8'000'000 + seed);
    Stop stop;
    EXPECT_EQ(used.solve(instance, stop).schedule, exact(instance).schedule) << "seed " << seed;
  }
}

TEST(Exact, nothing_to_do_takes_no_time) {
  const Solution solution = exact(one_core());
  EXPECT_EQ(solution.schedule.makespan, 0);
  EXPECT_EQ(solution.proof, Proof::kOptimal);
}

TEST(Exact, one_core_makespan_is_the_sum_of_durations) {
  Instance instance = one_core();
  for (const double duration : {0.25, 0.5, 0.125, 4.0}) {
    instance.add_op("op");
    instance.add_mode(duration, std::array{1.0});
  }
  EXPECT_EQ(exact(instance).schedule.makespan, 4.875);
}

TEST(Exact, three_thirds_fit_side_by_side) {
  Instance instance = one_core();
  for (int i = 0; i < 3; ++i) {
    instance.add_op("op");
    instance.add_mode(1, std::array{1.0 / 3});
  }
  EXPECT_EQ(exact(instance).schedule.makespan, 1);
}

TEST(Exact, a_little_more_than_the_capacity_does_not_fit) {
  Instance instance = one_core();
  for (const double demand : {0.5, 0.5 + 1e-8}) {
    instance.add_op("op");
    instance.add_mode(1, std::array{demand});
  }
  EXPECT_EQ(exact(instance).schedule.makespan, 2);
}

TEST(Exact, a_view_between_two_operators_keeps_their_order_and_has_a_start) {
  Instance instance = one_core();
  instance.resources[0].capacity = 2;
  for (const double duration : {1.0, 0.0, 1.0}) {
    instance.add_op("op");
    instance.add_mode(duration, std::array{duration > 0 ? 1.0 : 2.0});
  }
  instance.add_edge(OpId(0), OpId(1));
  instance.add_edge(OpId(1), OpId(2));
  const Solution solution = exact(instance);
  EXPECT_EQ(solution.schedule.makespan, 2);
  EXPECT_EQ(solution.schedule.ops[1].start, 1);
}

// Durations of 1e-30 s beside 1 s vanish in any sum, and must not break anything.
TEST(Exact, durations_of_very_different_size_are_scheduled) {
  Instance instance = one_core();
  for (const double duration : {1e-30, 1.0, 1e-18, 0.5}) {
    instance.add_op("op");
    instance.add_mode(duration, std::array{1.0});
    instance.add_mode(duration * 2, std::array{0.5});
  }
  EXPECT_NEAR(exact(instance).schedule.makespan, 1.5, 1e-12);
}

TEST(Exact, more_operators_than_the_search_can_hold_still_get_a_valid_schedule) {
  const Instance instance = testing::random_branches(Model::kPhaze, 300, 4, 11);
  Stop stop({.work = 1000});
  const Solution solution = solve(instance, {}, stop);
  EXPECT_TRUE(evaluate(instance, solution.schedule).valid());
  EXPECT_LE(solution.lower_bound, solution.schedule.makespan);
  EXPECT_GT(solution.lower_bound, 0);
}

TEST(Ilp, a_deadline_that_has_passed_leaves_the_list_schedule) {
  const Instance instance = testing::random_branches(Model::kMoldable, 20, 4, 3);
  Stop stop({.seconds = 0.0});
  const Solution solution = solve(instance, {.engine = Engine::kIlp}, stop);
  EXPECT_TRUE(evaluate(instance, solution.schedule).valid());
  EXPECT_LE(solution.lower_bound, solution.schedule.makespan);
}

}  // namespace
}  // namespace phaze::schedule
