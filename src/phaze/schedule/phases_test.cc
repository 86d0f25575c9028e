#include "phaze/schedule/phases.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

#include "phaze/base/testing/thin_tests.h"
#include "phaze/schedule/decompose.h"
#include "phaze/schedule/evaluate.h"
#include "phaze/schedule/heuristics.h"
#include "phaze/schedule/testing/brute_force.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

using testing::Model;

constexpr std::uint64_t kInstances = kThinTests ? 100 : 2000;
constexpr std::size_t kMostOperators = 7;

// The sum of the bounds on its blocks, looked for below what takes each block alone, operator by operator; and the
// schedule put together from their sequences, if there is one of each.
double bound_of(const Instance& instance, std::optional<Schedule>& schedule) {
  Decomposition decomposition;
  decomposition.split(instance);
  const auto blocks = decomposition.blocks();
  std::vector<BlockSchedule> sequences(blocks.size());
  Phases<1> phases;
  Stop stop;
  Ticks ticks = 0;
  bool found = true;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    BlockSchedule serial;
    ListScheduler::run_serially(blocks[b], serial);
    const Ticks bound = phases.bound(blocks[b], serial.makespan + 1, stop, sequences[b]);
    found = found && bound <= serial.makespan;
    ticks += bound;
  }
  if (found) decomposition.assemble(sequences, schedule.emplace());
  return decomposition.seconds_alone() + static_cast<double>(ticks) * decomposition.seconds_per_tick();
}

TEST(Phases, bound_every_schedule_whatever_there_is_of_resources) {
  for (const Model model : {Model::kPhaze, Model::kMoldable, Model::kAnything})
    for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
      const Instance instance = testing::random_instance(model, 2 + seed % (kMostOperators - 2), seed);
      std::optional<Schedule> schedule;
      const double bound = bound_of(instance, schedule);
      EXPECT_LE(bound, testing::least_makespan(instance) * (1 + 1e-9)) << "seed " << seed;
    }
}

TEST(Phases, are_the_best_schedule_where_resources_suffice) {
  std::size_t with_both = 0;
  for (std::uint64_t seed = 0; seed < kInstances; ++seed) {
    const Instance instance = testing::with_plenty_of_cores(kMostOperators, seed);
    ASSERT_TRUE(validate(instance));
    std::optional<Schedule> schedule;
    const double bound = bound_of(instance, schedule);
    ASSERT_TRUE(schedule) << "seed " << seed;
    EXPECT_NEAR(bound, testing::least_makespan(instance), 1e-9 * bound) << "seed " << seed;
    EXPECT_TRUE(evaluate(instance, *schedule).valid()) << "seed " << seed;
    EXPECT_NEAR(schedule->makespan, bound, 1e-9 * bound) << "seed " << seed;
    bool shared = false, exclusive = false;
    for (const Placement& placement : schedule->ops) (placement.mode == 0 ? shared : exclusive) = true;
    with_both += shared && exclusive ? 1 : 0;
  }
  EXPECT_GT(with_both, kInstances / 4) << "few of the best schedules mix modes: the instances are too easy";
}

TEST(Phases, reach_a_limit_exactly_where_no_sequence_is_shorter) {
  for (std::uint64_t seed = 0; seed < kInstances / 4; ++seed) {
    const Instance instance = testing::with_plenty_of_cores(kMostOperators, seed);
    Decomposition decomposition;
    decomposition.split(instance);
    for (const Block& block : decomposition.blocks()) {
      Phases<1> phases;
      Phases<4> wide;
      Stop stop;
      BlockSchedule sequence;
      const Ticks least = phases.bound(block, std::numeric_limits<Ticks>::max(), stop, sequence);
      EXPECT_EQ(sequence.makespan, least);
      for (const Ticks limit : {least - least / 7, least, least + 1, least + least / 7})
        EXPECT_EQ(phases.bound(block, limit, stop, sequence), std::min(limit, least)) << "seed " << seed;
      EXPECT_EQ(wide.bound(block, least + 1, stop, sequence), least) << "seed " << seed;
      Stop at_once({.work = 1});
      EXPECT_EQ(phases.bound(block, least + 1, at_once, sequence), 0) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace phaze::schedule
