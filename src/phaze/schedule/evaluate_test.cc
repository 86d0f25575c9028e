#include "phaze/schedule/evaluate.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>

namespace phaze::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// x before y; z beside them. Two cores; x and z take one, y takes both.
struct Case {
  Instance instance;
  Schedule schedule;

  Case() {
    instance.resources = {{"tc", 2}};
    for (const auto& [name, cores] : {std::pair{"x", 1.0}, {"y", 2.0}, {"z", 1.0}}) {
      instance.add_op(name);
      instance.add_mode(1, std::array{cores});
    }
    instance.add_edge(OpId(0), OpId(1));
    schedule = {.ops = {{0, 0, 1}, {0, 1, 2}, {0, 0, 1}}, .makespan = 2};
  }
  std::vector<std::string> violations() const { return evaluate(instance, schedule).violations; }
};

TEST(Evaluate, a_valid_schedule_has_no_violations) {
  const Case valid;
  EXPECT_THAT(valid.violations(), IsEmpty());
  EXPECT_EQ(evaluate(valid.instance, valid.schedule).makespan, 2);
}

TEST(Evaluate, a_start_before_a_predecessor_finishes_is_seen) {
  Case broken;
  broken.schedule = {.ops = {{0, 0.5, 1.5}, {0, 1, 2}, {0, 2, 3}}, .makespan = 3};
  EXPECT_THAT(broken.violations(), ::testing::Contains("operator 'y' starts before 'x' finishes"));
}

TEST(Evaluate, an_overdrawn_resource_is_seen) {
  Case broken;
  broken.schedule.ops[2] = {0, 1.5, 2.5};
  broken.schedule.makespan = 2.5;
  EXPECT_THAT(broken.violations(), ElementsAre("operator 'z' overdraws 'tc' when it starts"));
}

TEST(Evaluate, an_unknown_mode_is_seen) {
  Case broken;
  broken.schedule.ops[0].mode = 1;
  EXPECT_THAT(broken.violations(), ElementsAre("operator 'x' runs in a mode that it does not have"));
}

TEST(Evaluate, a_wrong_duration_is_seen) {
  Case broken;
  broken.schedule.ops[2].finish = 0.5;
  EXPECT_THAT(broken.violations(), ElementsAre("operator 'z' does not run for the duration of its mode"));
}

TEST(Evaluate, a_wrong_makespan_is_seen) {
  Case broken;
  broken.schedule.makespan = 1.5;
  EXPECT_THAT(broken.violations(), ElementsAre("the makespan is not the latest finish"));
}

TEST(Evaluate, times_that_are_no_times_are_seen) {
  Case broken;
  broken.schedule.ops[2] = {0, -1, 0};
  EXPECT_THAT(broken.violations(), ElementsAre("operator 'z' does not start at or after time zero"));
  broken.schedule.ops[2] = {0, std::nan(""), std::nan("")};
  EXPECT_FALSE(broken.violations().empty());
}

TEST(Evaluate, a_missing_operator_is_seen) {
  Case broken;
  broken.schedule.ops.pop_back();
  EXPECT_THAT(broken.violations(), ElementsAre("the schedule does not place every operator exactly once"));
}

}  // namespace
}  // namespace phaze::schedule
