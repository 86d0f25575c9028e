#include "phaze/schedule/milp.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "phaze/schedule/solve.h"
#include "phaze/schedule/testing/random_instance.h"

namespace phaze::schedule {
namespace {

volatile std::sig_atomic_t interrupts_seen = 0;
extern "C" void count_interrupt(int) { interrupts_seen = interrupts_seen + 1; }

// The engine has a handler of its own for part of the time that it runs.
TEST(Milp, an_interrupt_at_any_moment_ends_the_engine) {
  const Instance instance = testing::random_branches(testing::Model::kMoldable, 40, 4, 1);
  const auto before = std::signal(SIGINT, count_interrupt);
  for (const int milliseconds : {1, 20, 40, 160}) {
    interrupts_seen = 0;
    std::thread person([milliseconds, solver = pthread_self()] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      pthread_kill(solver, SIGINT);
    });
    // The limit ends a run that has lost the signal.
    Stop stop({.seconds = 3, .requested = [] { return interrupts_seen > 0; }});
    (void)solve(instance, {.engine = Engine::kIlp}, stop);
    person.join();
    EXPECT_EQ(interrupts_seen, 1) << milliseconds << " ms";
  }
  EXPECT_EQ(std::signal(SIGINT, before), count_interrupt);
}

}  // namespace
}  // namespace phaze::schedule
