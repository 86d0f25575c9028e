// The judge of schedules. It reads the instance as it was given and shares no code with any solver.
#pragma once

#include <string>
#include <vector>

#include "phaze/schedule/instance.h"

namespace phaze::schedule {

struct Evaluation {
  double makespan = 0;                  // seconds: the latest finish
  std::vector<std::string> violations;  // empty: the schedule is valid

  bool valid() const { return violations.empty(); }
};

// Checks that every operator has a known mode and a finite start that is not negative, finishes one duration later,
// starts no earlier than its predecessors finish, that no resource is overdrawn at any moment, and that the makespan is
// what the schedule claims.
Evaluation evaluate(const Instance& instance, const Schedule& schedule);

}  // namespace phaze::schedule
